import { globSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** The tests of pure code share one process: most would take longer to start than to run. */
const root = join(import.meta.dirname, '..');
const load = createRequire(import.meta.url);
for (const file of globSync('src/**/*.test.ts', { cwd: root })) load(join(root, file));
