import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { cacheFor } from '../src/tools/cache.ts';
import { knownUntil, livesIn, livesText } from './api-lives/read.ts';

/**
 * Writes src/resolve/api-lives.generated.ts from the Kubernetes sources that the playground is built of, which are in the
 * cache once `espalier tools install kube-apiserver` has built it. Run it after a new version in tools/kubernetes/go.mod.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const sources = process.argv[2] ?? `${cacheFor(process.env).root}/go/mod`;
const file = `${root}src/resolve/api-lives.generated.ts`;
await writeFile(file, livesText(await livesIn(sources, root), await knownUntil(root)));
execFileSync(`${root}node_modules/.bin/biome`, ['format', '--write', file], { stdio: 'inherit' });
