import { mkdirSync } from 'node:fs';
import { runProgram } from '../../../src/tools/run.ts';
import { openScratchFolder } from '../../../src/tools/scratch-folder.ts';

/** A process with a scratch folder that a program writes into, and one that is somebody else's by now. It tells both, and stays. */
[process.env.TMPDIR] = process.argv.slice(2);
const used = openScratchFolder('used-');
const removed = openScratchFolder('removed-');
await removed.remove();
mkdirSync(removed.path);
const write = 'while :; do mkdir -p "$0/home"; echo more >> "$0/home/file"; sleep 0.01; done';
void runProgram('/bin/sh', { args: ['-c', write, used.path], timeoutMs: 60_000 });
process.stdout.on('error', () => process.exit(0));
process.stdout.write(`${JSON.stringify([used.path, removed.path])}\n`);
setInterval(() => process.stdout.write('\n'), 20);
