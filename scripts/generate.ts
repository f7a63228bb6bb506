import { fileURLToPath } from 'node:url';
import { generateFiles, OWNED_FOLDERS } from './generate/files.ts';
import { findStale, refresh } from './generate/stale.ts';

/**
 * Writes everything that is made from the schemas in src/api: CustomResourceDefinitions, reference pages, editor schemas.
 * With --check it writes nothing, names what is stale, and exits 1 when anything is.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = generateFiles();
const stale = await findStale(root, wanted, OWNED_FOLDERS);
if (!process.argv.includes('--check')) {
  await refresh(root, wanted, stale);
  for (const path of stale) console.log(`${wanted.has(path) ? 'wrote' : 'removed'} ${path}`);
} else if (stale.length > 0) {
  console.error(`stale, run \`npm run generate\`:\n${stale.map((path) => `  ${path}`).join('\n')}`);
  process.exitCode = 1;
}
