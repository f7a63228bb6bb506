import { AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { after, suite } from 'node:test';
import { pathToFileURL } from 'node:url';
// Here, not by the first file that needs it: what it does at the end belongs to the process, not to that file.
import '../support/cluster.ts';
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
const runNext = AsyncResource.bind(() => {
  const file = queue.take();
  if (file === undefined) return;
  suite(file, () => {
    try {
      // Not `import`: what a file does after an `await` is not known to be of its suite.
      load(`./${file}`);
    } finally {
      after(() => {
        restoreEnvironment();
        queue.end(file);
        runNext();
      });
    }
  });
});

function restoreEnvironment(): void {
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(environment, name)) delete process.env[name];
  Object.assign(process.env, environment);
}

runNext();
