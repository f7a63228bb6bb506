import { AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { after, suite } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openQueue } from './queue.ts';

/**
 * A process that runs one test file after the other until none is left, each as a suite of its own. Were each file a
 * process, loading and warming up the same code 150 times would cost as much as what the files do.
 */
const [folder = ''] = process.argv.slice(2);
const queue = openQueue(folder);
const load = createRequire(pathToFileURL(`${process.cwd()}/`));
const environment = { ...process.env };

/** Which suite a test belongs to is told by where it is made from. The next file belongs to none. */
const run = AsyncResource.bind((file: string | undefined) => {
  if (file === undefined) return;
  suite(file, () => {
    try {
      // Not `import`: what a file does after an `await` is not known to be of its suite.
      load(`./${file}`);
    } finally {
      after(() => {
        restoreEnvironment();
        queue.end(file);
        run(queue.take());
      });
    }
  });
});

function restoreEnvironment(): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
}

const first = queue.take();
// Where others were faster there is nothing left: a hook at the end of no test at all keeps Node busy for ever.
if (first !== undefined) {
  // Here, not by the first file that needs it: what it does at the end belongs to the process, not to that file.
  await import('../support/cluster.ts');
  run(first);
}
