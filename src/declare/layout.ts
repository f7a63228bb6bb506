/** Where things are in a repository, by name alone. docs/repository.md tells it to users; keep both in step. */

export interface ClusterIdentity {
  name?: string | undefined;
  labels: Readonly<Record<string, string>>;
}

export const OVERLAYS_FOLDER = 'clusters';
export const ADDONS_FOLDER = 'manifests';
/** What makes a folder an expansion package. */
export const PACKAGE_FILE = 'expansion.yaml';
export const ADDON_FILES: readonly string[] = ['addon.yaml', 'addon.yml'];

const KUSTOMIZATIONS: readonly string[] = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** The folders under `clusters/` that are for this cluster, weakest first: labels in name order, then its own. */
export function overlayNames({ name, labels }: ClusterIdentity): string[] {
  const byLabel = Object.entries(labels).map(([label, value]) => `_${label}=${value}`);
  return [...byLabel.sort(), ...(name === undefined ? [] : [name])];
}

/** Dot files and folders (.github, .sops.yaml) are tools' business. */
export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

export function isYaml(name: string): boolean {
  return /\.ya?ml$/.test(name);
}

export function isDeclarationFile(name: string): boolean {
  return isYaml(name) || name.endsWith('.json');
}

/** Charts and kustomizations are what Plugins point at; what looks like a declaration inside is theirs. */
export function isRendered(names: readonly string[]): boolean {
  return names.includes('Chart.yaml') || KUSTOMIZATIONS.some((name) => names.includes(name));
}

export function isWithin(path: string, folder: string): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`);
}
