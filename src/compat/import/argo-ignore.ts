import type { JsonObject } from '../../api/index.ts';
import type { Leave } from './imported.ts';
import { listAt, present, textAt, textsAt } from './read.ts';

/** `spec.ignoreDifferences` as `drift.ignore`. Of jq only plain paths have a JSON pointer. */
export function ignoredBy(spec: unknown, leave: Leave): JsonObject[] {
  return listAt(spec, 'ignoreDifferences').flatMap((rule, index): JsonObject[] => {
    const where = `spec.ignoreDifferences[${index}]`;
    const paths = [...textsAt(rule, 'jsonPointers')];
    for (const expression of textsAt(rule, 'jqPathExpressions')) {
      const pointer = pointerOf(expression);
      if (pointer === undefined)
        leave(`${where}.jqPathExpressions`, `"${expression}" is no plain path: write it as JSON pointers`);
      else paths.push(pointer);
    }
    const managers = textsAt(rule, 'managedFieldsManagers');
    if (managers.length > 0)
      leave(`${where}.managedFieldsManagers`, `name the fields that ${managers.join(', ')} may change in drift.ignore`);
    if (paths.length === 0) return [];
    const name = textAt(rule, 'name');
    const target = present({
      group: textAt(rule, 'group') === '*' ? undefined : (textAt(rule, 'group') ?? undefined),
      kind: textAt(rule, 'kind') === '*' ? undefined : textAt(rule, 'kind'),
      name: name === '*' ? undefined : name,
      namespace: textAt(rule, 'namespace') === '*' ? undefined : textAt(rule, 'namespace'),
    });
    return [{ target, paths }];
  });
}

/** `.spec.template.metadata.annotations."example.com/a"` as `/spec/template/metadata/annotations/example.com~1a` */
export function pointerOf(expression: string): string | undefined {
  const step = /\.([A-Za-z_]\w*)|\.?\["((?:[^"\\])*)"\]|\."((?:[^"\\])*)"|\[(\d+)\]/y;
  let pointer = '';
  const text = expression.trim();
  while (step.lastIndex < text.length) {
    const found = step.exec(text);
    if (found === null) return undefined;
    const name = found.slice(1).find((one) => one !== undefined) ?? '';
    pointer += `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return pointer === '' ? undefined : pointer;
}
