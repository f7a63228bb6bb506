import { startControlPlane } from '../../src/playground/controlplane.ts';
import { startGitServer } from '../../src/playground/gitserver.ts';

/** A process that holds a control plane and a Git server below the given folder until it is killed. */
const [root = ''] = process.argv.slice(2);
const [plane, git] = await Promise.all([startControlPlane({ root }), startGitServer({ root: `${root}/git` })]);
const { url } = await git.createRepository('platform');
console.log(JSON.stringify({ dir: plane.dir, pids: plane.pids(), url }));
