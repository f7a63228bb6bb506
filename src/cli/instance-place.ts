import { isWithin, OVERLAYS_FOLDER } from '../declare/layout.ts';
import { joinPath } from '../git/tree.ts';

const FOLDER = 'extensions';

/**
 * Where a new instance is written: beside the ones of its namespace, else beside others, else in `extensions/<namespace>/`.
 * `taken` are the files that are there already.
 */
export function placeFor(
  instance: { namespace: string; name: string },
  root: string,
  others: readonly { namespace: string; file: string }[],
  taken: (path: string) => boolean,
): string {
  const overlays = joinPath(root, OVERLAYS_FOLDER);
  const usual = others.filter(({ file }) => !isWithin(file, overlays));
  const same = usual.find(({ namespace }) => namespace === instance.namespace);
  // A folder that is named for another namespace is not for this one.
  const beside = same ?? usual.find(({ file, namespace }) => !folderOf(file).split('/').includes(namespace));
  const file = `${instance.name}.yaml`;
  const own = joinPath(joinPath(joinPath(root, FOLDER), instance.namespace), file);
  const near = beside === undefined ? own : joinPath(folderOf(beside.file), file);
  return taken(near) ? own : near;
}

function folderOf(file: string): string {
  const end = file.lastIndexOf('/');
  return end < 0 ? '' : file.slice(0, end);
}
