import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApiLife, ApiLives } from '../../src/resolve/api-lives.ts';

/** Go modules that hold Kubernetes' own kinds, and the folder of their groups. */
const MODULES = { api: '.', 'apiextensions-apiserver': 'pkg/apis', 'kube-aggregator': 'pkg/apis' } as const;
const LIFE_FILE = 'zz_generated.prerelease-lifecycle.go';
/** A version that is neither deprecated nor this new is served by every cluster there is: nothing to know about it. */
const OLDEST_INTRODUCED = 20;
/** What reviews are sent as: no object has these kinds. */
const NO_OBJECTS = new Set(['admission.k8s.io', 'apidiscovery.k8s.io', 'imagepolicy.k8s.io']);

interface Found extends ApiLife {
  group: string;
  version: string;
  kind: string;
}

/** The lives of API versions, as the sources of the Kubernetes in `tools/kubernetes/go.mod` state them. */
export async function livesIn(goModules: string, root: string): Promise<ApiLives> {
  const goMod = await goModOf(root);
  const found: Found[] = [];
  for (const [name, groups] of Object.entries(MODULES)) {
    const folder = join(goModules, 'k8s.io', `${name}@${versionOf(goMod, name)}`, groups);
    for (const path of await readdir(folder, { recursive: true })) {
      if (path.endsWith(LIFE_FILE)) found.push(...(await readLives(join(folder, path))));
    }
  }
  const lives: Record<string, Record<string, ApiLife>> = {};
  for (const one of found.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))) {
    const { group, version, kind, ...life } = one;
    const isTold = life.deprecated !== undefined || (isStable(version) && life.introduced >= OLDEST_INTRODUCED);
    if (!isTold || NO_OBJECTS.has(group)) continue;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    lives[apiVersion] ??= {};
    lives[apiVersion][kind] = withReplacement(one, life, found);
  }
  return lives;
}

/** `1.36`: the release whose sources were read. */
export async function knownUntil(root: string): Promise<string> {
  return versionOf(await goModOf(root), 'api').replace(/^v0\.(\d+)\..*$/, '1.$1');
}

export function livesText(lives: ApiLives, until: string): string {
  const versions = Object.entries(lives).map(([apiVersion, kinds]) => {
    const lines = Object.entries(kinds).map(([kind, life]) => `    ${kind}: { ${factsText(life)} },`);
    return [`  '${apiVersion}': {`, ...lines, '  },'];
  });
  return [
    '// Made by `node scripts/api-lives.ts` from k8s.io/api, apiextensions-apiserver and kube-aggregator.',
    "import type { ApiLives } from './api-lives.ts';",
    '',
    '/** The minor version of Kubernetes 1 whose sources were read. */',
    `export const LIVES_KNOWN_UNTIL = ${Number(until.split('.')[1])};`,
    '',
    'export const GENERATED_LIVES: ApiLives = {',
    ...versions.flat(),
    '};',
    '',
  ].join('\n');
}

function factsText({ introduced, deprecated, removed, replacement }: ApiLife): string {
  const facts = Object.entries({ introduced, deprecated, removed, replacement: replacement && `'${replacement}'` });
  return facts.flatMap(([fact, value]) => (value === undefined ? [] : [`${fact}: ${value}`])).join(', ');
}

async function goModOf(root: string): Promise<string> {
  return await readFile(join(root, 'tools/kubernetes/go.mod'), 'utf8');
}

function versionOf(goMod: string, name: string): string {
  const version = new RegExp(`k8s\\.io/${name} => k8s\\.io/${name} (v0\\.\\d+\\.\\d+)`).exec(goMod)?.[1];
  if (version === undefined) throw new Error(`tools/kubernetes/go.mod does not say which k8s.io/${name} is used`);
  return version;
}

async function readLives(path: string): Promise<Found[]> {
  const folder = join(path, '..');
  const group = /GroupName\s*=\s*"([^"]*)"/.exec(await readFile(join(folder, 'register.go'), 'utf8'))?.[1];
  if (group === undefined) throw new Error(`${folder}/register.go names no group`);
  const version = /([^/]+)\/[^/]+$/.exec(path)?.[1] ?? '';
  const kinds = new Map<string, Partial<ApiLife>>();
  const text = await readFile(path, 'utf8');
  for (const [, kind = '', fact, answer = ''] of text.matchAll(
    /func \(in \*(\w+)\) APILifecycle(\w+)\(\)[^{]*\{\n\treturn ([^\n]*)/g,
  )) {
    if (kind.endsWith('List')) continue;
    const life = kinds.get(kind) ?? {};
    kinds.set(kind, life);
    if (fact === 'Introduced') life.introduced = minorIn(answer);
    else if (fact === 'Deprecated') life.deprecated = minorIn(answer);
    else if (fact === 'Removed') life.removed = minorIn(answer);
    else if (fact === 'Replacement') life.replacement = replacementIn(answer, kind);
  }
  return [...kinds].map(([kind, life]) => ({ group, version, kind, ...life, introduced: life.introduced ?? 0 }));
}

function minorIn(answer: string): number {
  const minor = /^1, (\d+)$/.exec(answer)?.[1];
  if (minor === undefined) throw new Error(`"${answer}" is no version of Kubernetes 1`);
  return Number(minor);
}

function replacementIn(answer: string, kind: string): string {
  const [, group = '', version = '', other = ''] = /Group: "(.*)", Version: "(.*)", Kind: "(.*)"/.exec(answer) ?? [];
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return other === kind ? apiVersion : `${apiVersion} ${other}`;
}

/** Where the sources name no other version, the stable one of the same kind is it. */
function withReplacement({ group, kind }: Found, life: ApiLife, found: readonly Found[]): ApiLife {
  if (life.deprecated === undefined || life.replacement !== undefined) return life;
  const stable = found.find((one) => one.group === group && one.kind === kind && isStable(one.version));
  return stable === undefined ? life : { ...life, replacement: `${group}/${stable.version}` };
}

function isStable(version: string): boolean {
  return /^v\d+$/.test(version);
}

function keyOf({ group, version, kind }: Found): string {
  return `${group}/${version}/${kind}`;
}
