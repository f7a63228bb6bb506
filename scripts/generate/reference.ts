import { API_VERSION, GROUP, type KindDefinition, type Rule, type Schema, textRule } from '../../src/api/index.ts';

/** A page for people: one table of what they write, one of what they read back, and how `kubectl get` shows it. */
export function referencePage(definition: KindDefinition): string {
  const { kind, plural, shortNames, scope, description, columns } = definition;
  return `# ${kind}

${description}

| | |
|---|---|
| API version | \`${API_VERSION}\` |
| Scope | ${scope === 'Cluster' ? 'the whole cluster' : 'a namespace'} |
| With kubectl | \`kubectl get ${plural}\`, short \`${shortNames.join('`, `')}\`; all kinds: \`kubectl get espalier\` |
| For editors | [\`docs/schemas/${kind.toLowerCase()}.json\`](../schemas/${kind.toLowerCase()}.json) |

The name has at most 63 characters, because it becomes the value of a label.

## spec

${definition.spec.description}

${fieldTable(definition.spec)}
${ruleList(definition.spec)}
## status

${definition.status.description}

${fieldTable(definition.status)}
## Columns

| column | shows | |
|---|---|---|
${columns.map((column) => `| ${column.name.toUpperCase()} | ${column.description} | ${column.priority === 1 ? 'with `-o wide`' : ''} |`).join('\n')}
`;
}

export function indexPage(kinds: readonly KindDefinition[]): string {
  const rows = kinds.map(({ kind, description }) => `| [${kind}](${kind.toLowerCase()}.md) | ${description} |`);
  return `# Reference

The kinds of the API group \`${GROUP}\`. The same texts are in the cluster: \`kubectl explain plugin.spec\`.

| kind | what it is |
|---|---|
${rows.join('\n')}

Editors that use the yaml-language-server complete and check declarations with
[\`docs/schemas/espalier.json\`](../schemas/espalier.json), which fits every kind: put
\`# yaml-language-server: $schema=<path or URL of espalier.json>\` at the top of a file, or map a folder to it in the
editor's settings.
`;
}

interface Field {
  path: string;
  schema: Schema;
  required: boolean;
}

function fieldTable(schema: Schema): string {
  const rows = fieldsOf(schema, '').map(
    (field) => `| \`${field.path}\` | ${typeOf(field.schema)} | ${defaultOf(field)} | ${textOf(field.schema)} |`,
  );
  return `| field | type | default | |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function fieldsOf(schema: Schema, prefix: string): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const below = field.items === undefined ? fieldsOf(field, `${path}.`) : fieldsOf(field.items, `${path}[].`);
    return [{ path, schema: field, required: schema.required?.includes(name) ?? false }, ...below];
  });
}

function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(' ');
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'any mapping';
  switch (schema.type) {
    case 'array':
      return schema.items?.type === 'string' ? 'list of text' : 'list';
    case 'object':
      return schema.additionalProperties === undefined ? '' : 'mapping of text';
    case 'integer':
      return 'number';
    case 'boolean':
      return 'true or false';
    case 'string':
      return schema.format === 'date-time' ? 'time' : 'text';
  }
}

function defaultOf({ schema, required }: Field): string {
  if (required) return '**needed**';
  if (schema.default === undefined || schema.type === 'object') return '';
  return schema.default === '' ? '`""`' : `\`${String(schema.default)}\``;
}

/** The description, then what the rules demand, then limits that people may run into. */
function textOf(schema: Schema): string {
  const rules = (schema['x-kubernetes-validations'] ?? []).filter(isNews);
  const sentences = [schema.description ?? '', ...rules.map((rule) => sentence(rule.message)), limits(schema)];
  return sentences
    .filter((text) => text !== '')
    .join(' ')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;');
}

/** Not what everybody knows about names and kinds in Kubernetes. */
function isNews(rule: Rule): boolean {
  return textRule(rule)?.negated !== true && !/^must be (a name|a kind|an API version) /.test(rule.message);
}

function limits({ minimum, maximum }: Schema): string {
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}.`;
  return '';
}

function ruleList(schema: Schema): string {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return rules.length === 0 ? '' : `Rules:\n\n${rules.map((rule) => `- ${sentence(rule.message)}`).join('\n')}\n`;
}

function sentence(message: string): string {
  return `${message.replace(/^must /, 'Must ')}.`;
}
