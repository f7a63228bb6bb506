import { describeRef, EspalierError, type KubeObject, refOf } from '../api/index.ts';
import { translateKubegems } from '../compat/kubegems.ts';
import { isKubegems } from '../compat/kubegems-kind.ts';

/**
 * Rendered objects with every Plugin of KubeGems as the Plugin of ours that it stands for, so that an all-in-one chart
 * needs neither KubeGems nor its definition. One for each that was given, in the same order.
 */
export function withOurPlugins(
  objects: readonly KubeObject[],
  fileOf: (object: KubeObject) => string | undefined = () => undefined,
): KubeObject[] {
  return objects.map((object) => (isKubegems(object) ? translated(object, fileOf(object)) : object));
}

function translated(object: KubeObject, file: string | undefined): KubeObject {
  const answer = translateKubegems(object, { inRepository: false });
  if ('plugin' in answer) return answer.plugin;
  const where = file === undefined ? '' : ` in ${file}`;
  const faults = answer.faults.map(({ message }) => message).join('; ');
  const message = `the KubeGems ${describeRef(refOf(object))}${where} can't be used: ${faults}`;
  throw new EspalierError('RenderFailed', message, { data: { object: describeRef(refOf(object)) }, retry: false });
}
