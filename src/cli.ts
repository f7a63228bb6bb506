import { enableCompileCache } from 'node:module';

enableCompileCache();
// `espalier … | head` ends when head has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 2));

const { runCli } = await import('./cli/run.ts');
process.exitCode = await runCli(process.argv.slice(2));
