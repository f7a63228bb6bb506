import { startProgram } from '../../../src/tools/start.ts';

/** A process that starts a long-lived program with a child of its own, tells both pids, and stays. */
const [logFile = ''] = process.argv.slice(2);
const program = await startProgram('/bin/sh', {
  args: ['-c', 'trap "" TERM; sleep 300 & echo $!; while :; do wait; sleep 1; done'],
  logFile,
});
process.stdout.write(`${program.pid}\n`);
setInterval(() => {}, 60_000);
