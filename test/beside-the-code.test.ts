import { glob } from 'node:fs/promises';
import { join } from 'node:path';

/** The tests of pure code share one process: most would take longer to start than to run. */
const root = join(import.meta.dirname, '..');
for await (const file of glob('src/**/*.test.ts', { cwd: root })) await import(join(root, file));
