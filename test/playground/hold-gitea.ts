import { startGitea } from '../../src/playground/forge/gitea.ts';

/** A process that holds a Gitea in the given folder until it is killed. */
const [root = ''] = process.argv.slice(2);
const { pid } = await startGitea({ root });
console.log(JSON.stringify({ pid }));
