import { enableCompileCache } from 'node:module';

/** The entry of the container: the agent, with the flags of `espalier agent`. */
enableCompileCache();

const { runCli } = await import('./cli/run.ts');
process.exitCode = await runCli(['agent', ...process.argv.slice(2)]);
