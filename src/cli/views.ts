import { OVERLAYS_FOLDER, overlayNames } from '../declare/layout.ts';
import type { FileTree } from '../git/tree.ts';
import type { View } from './validate-tree.ts';

export interface ViewOptions {
  cluster?: string;
  label: Readonly<Record<string, string>>;
  allClusters?: boolean;
}

export interface Views {
  views: View[];
  /** Overlays that were asked for and are not there. */
  unknown: string[];
}

/**
 * The views of a repository that were asked for. With all overlays: the base, then each with the labels given, for what
 * labels a cluster has is not in the repository.
 */
export async function findViews(tree: FileTree, path: string, options: ViewOptions): Promise<Views> {
  const { cluster, label } = options;
  const folder = [path, OVERLAYS_FOLDER].filter((part) => part !== '.' && part !== '').join('/');
  const entries = await tree.list(folder);
  const overlays = entries.filter(({ type }) => type === 'folder').map(({ name }) => name);
  const asked = overlayNames({ name: cluster, labels: label });
  const unknown = asked.filter((name) => !overlays.includes(name)).map((name) => `${folder}/${name}`);
  const own: View = { name: cluster, labels: label };
  if (options.allClusters !== true) return { views: [own], unknown };
  const given = asked.length === 0 ? [] : [{ ...own, overlay: asked.join(' and ') }];
  return { views: [{ labels: {} }, ...given, ...overlays.map((name) => viewOf(name, label))], unknown };
}

function viewOf(overlay: string, labels: Readonly<Record<string, string>>): View {
  const [, key, value] = /^_([^=]+)=(.*)$/.exec(overlay) ?? [];
  if (key === undefined || value === undefined) return { overlay, name: overlay, labels };
  return { overlay, labels: { ...labels, [key]: value } };
}
