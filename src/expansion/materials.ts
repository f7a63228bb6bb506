import type { Expansion } from './format.ts';
import { fullImage } from './names.ts';

/** What became of one part of a package. `noted`: a cluster alone has no use for it, and why. */
export type Outcome = 'ok' | 'failed' | 'noted';

export interface Material {
  kind: 'hook' | 'operator' | 'chart' | 'condition' | 'image' | 'file' | 'provider';
  name: string;
  outcome: Outcome;
  says: string;
}

/** How a part of it stands in the cluster. */
export interface Standing {
  ready: boolean;
  says: string;
}

/** What an installation of the package was seen to be. */
export interface Installed {
  /** Hooks and the operator, by the name of their step. */
  steps: ReadonlyMap<string, Standing>;
  /** By the name of the archive. */
  charts: ReadonlyMap<string, Standing>;
  /** Delegated conditions. */
  conditions: ReadonlyMap<string, Standing>;
  /** Images that what was installed asks for. */
  images: ReadonlySet<string>;
}

const NOT_THERE: Standing = { ready: false, says: 'nothing was installed for it' };

/** Every material of the package and what became of it, in the order in which an installation goes. Nothing is left out. */
export function materialsOf(expansion: Expansion, installed: Installed): Material[] {
  const { steps, charts, conditions } = installed;
  const hook = (name: string) => expansion.hooks.filter((file) => file.replace(/\.tmpl$/, '') === name);
  const hooks = (name: string) => hook(name).map((file) => standing('hook', file, steps.get(name)));
  return [
    ...hooks('pre-install'),
    ...(expansion.operator === undefined ? [] : [standing('operator', expansion.operator, steps.get('operator'))]),
    ...expansion.create_cluster_delegate_conditions.map((name) => standing('condition', name, conditions.get(name))),
    ...expansion.charts.map((file) => standing('chart', file, charts.get(file))),
    ...hooks('post-install'),
    ...hooks('post-cluster-ready'),
    ...imagesOf(expansion, installed.images),
    ...expansion.files.map((path) =>
      noted('file', path, `for the nodes, as /${path.replace(/\.tmpl$/, '')}: see espalier expansion merge`),
    ),
    ...expansion.provider.map((path) => noted('provider', path, 'for the installer: see espalier expansion merge')),
  ];
}

/** Those that it brings, and those that it asks for and does not bring. */
function imagesOf(expansion: Expansion, used: ReadonlySet<string>): Material[] {
  const brought = new Set(expansion.images.map(fullImage));
  const asked = new Set([...used].map(fullImage));
  const missing = [...used].filter((image) => !brought.has(fullImage(image))).sort();
  return [
    ...expansion.images.map((image): Material => {
      if (asked.has(fullImage(image)))
        return { kind: 'image', name: image, outcome: 'ok', says: 'what was installed uses it' };
      return noted('image', image, 'nothing that was installed asks for it');
    }),
    ...missing.map((image) =>
      noted('image', image, 'what was installed asks for it, and the package does not bring it'),
    ),
  ];
}

function standing(kind: Material['kind'], name: string, { ready, says }: Standing = NOT_THERE): Material {
  return { kind, name, outcome: ready ? 'ok' : 'failed', says };
}

function noted(kind: Material['kind'], name: string, says: string): Material {
  return { kind, name, outcome: 'noted', says };
}
