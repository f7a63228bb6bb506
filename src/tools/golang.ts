import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isExecutable, onPath } from './executable.ts';
import type { Surroundings } from './surroundings.ts';
import type { Recipe } from './table.ts';
import { versionOf } from './version.ts';

export type Go =
  /** `toolchain` is `local`, or the version that this Go has to fetch through the module proxy. */
  { ok: true; path: string; toolchain: string } | { ok: false; why: string };

/** From here on Go fetches a newer toolchain by itself when told to. */
const FETCHES_TOOLCHAINS = '1.21.0';
const ASK = { args: ['version'], answer: /^go version go(\d+\.\d+(?:\.\d+)?)/ };

/** Finds a Go that can build a recipe: new enough, or able to fetch what is. */
export async function findGo(recipe: Recipe, surroundings: Surroundings, signal?: AbortSignal): Promise<Go> {
  const { env, modules, goFolders } = surroundings;
  const required = await requiredGo(join(modules, recipe.module, 'go.mod'));
  if (required === undefined) return { ok: false, why: `there is no Go module in ${join(modules, recipe.module)}` };
  const found: { path: string; version: string }[] = [];
  for (const path of await onPath('go', [env.PATH, ...goFolders].join(':'))) {
    const version = await versionOf(path, ASK, signal);
    if (version === undefined) continue;
    if (isAtLeast(version, required)) return withCompiler({ ok: true, path, toolchain: 'local' }, recipe, env.PATH);
    found.push({ path, version });
  }
  const able = found.find(({ version }) => isAtLeast(version, FETCHES_TOOLCHAINS));
  if (able !== undefined)
    return withCompiler({ ok: true, path: able.path, toolchain: `go${required}` }, recipe, env.PATH);
  const old = found.map(({ path, version }) => `${path} is ${version}`).join(', ');
  return { ok: false, why: `Go ${required} or newer is needed, and ${old === '' ? 'none is installed' : old}` };
}

/** The environment of a Go command: the user's proxies and credentials, our caches, nothing else that decides. */
export function goEnvironment(
  go: { toolchain: string },
  recipe: Recipe,
  surroundings: Surroundings,
  temporary: string,
) {
  const { env, cache } = surroundings;
  const kept = Object.entries(env).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined && KEPT.test(entry[0]) && !['GOOS', 'GOARCH', 'GOBIN'].includes(entry[0]);
  });
  return {
    ...Object.fromEntries(kept),
    GOFLAGS: '-modcacherw',
    GO111MODULE: 'on',
    GOWORK: 'off',
    GOTOOLCHAIN: go.toolchain,
    GOMODCACHE: cache.goModules,
    GOCACHE: cache.goBuild,
    GOTMPDIR: temporary,
    CGO_ENABLED: recipe.cgo === true ? '1' : '0',
  };
}

const KEPT =
  /^(GO[A-Z0-9]*|CGO_[A-Z]+|CC|CXX|PATH|HOME|XDG_CONFIG_HOME|TMPDIR|NETRC|SSL_CERT_\w+|GIT_(SSH|CONFIG|ASKPASS|TERMINAL)\w*|SSH_AUTH_SOCK|(https?|all|no)_proxy)$/i;

/** The version in a go.mod's `go` line; undefined when there is no such file. */
export async function requiredGo(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^go (\d+\.\d+(?:\.\d+)?)$/m.exec(text)?.[1];
}

export function isAtLeast(version: string, required: string): boolean {
  const [a, b] = [version, required].map((text) => text.split('.').map(Number));
  for (const place of [0, 1, 2]) {
    const difference = (a?.[place] ?? 0) - (b?.[place] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

async function withCompiler(go: Go, recipe: Recipe, path: string | undefined): Promise<Go> {
  if (recipe.cgo !== true) return go;
  for (const name of ['gcc', 'cc', 'clang']) if ((await onPath(name, path)).length > 0) return go;
  const usual = await isExecutable('/usr/bin/cc');
  return usual ? go : { ok: false, why: 'a C compiler is needed (gcc or clang), and none is on the PATH' };
}
