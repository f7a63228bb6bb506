import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toolPath } from '../../src/tools/tool.ts';
import type { Moment } from '../cases/support/moments.ts';
import { type Body, startMortal } from '../cases/support/mortal.ts';
import { declareTestSync, getPlugin, startTestAgent, syncReaches } from '../support/agent.ts';
import { testClient, testNamespace } from '../support/cluster.ts';
import { commitFiles, testGitServer } from '../support/gitserver.ts';
import { uniqueName } from '../support/names.ts';
import { tempDir } from '../support/tempdir.ts';
import { packageAt } from './support/cluster-package.ts';
import { watchJobs } from './support/in-cluster.ts';

/** Where the agents die, one after the other: while parts are written, around each hook, in the middle of a release. */
const DEATHS: readonly { body: Body; moment: Moment }[] = [
  { body: 'abandoned', moment: { of: 'PATCH plugins', at: 3, when: 'after' } },
  { body: 'process', moment: { of: 'PATCH jobs', at: 1, when: 'after' } },
  { body: 'process', moment: { of: 'POST secrets', at: 1, when: 'after' } },
  { body: 'abandoned', moment: { of: 'PATCH jobs', at: 1, when: 'before' } },
];

test('an agent that is killed again and again while it installs an expansion gets there, with each hook run once', async (t) => {
  const client = testClient();
  const namespace = await testNamespace(t, { prefix: 'expansion' });
  const repository = await (await testGitServer(t)).createRepository('platform');
  const name = uniqueName('demo');
  const hooks = ['pre-install', 'post-install'] as const;
  const fields = { operator: 'demo/operator:v1' };
  await commitFiles(repository, packageAt('packages/demo', { name, charts: ['web'], hooks, fields }));
  await declareTestSync(client, { namespace, url: repository.url });
  const jobs = watchJobs(t, { client, namespace });
  await jobs.synced;
  const cacheDir = await tempDir(t);
  // Their cache is empty.
  process.env.ESPALIER_TOOL_HELM ??= await toolPath('helm');
  for (const { body, moment } of DEATHS) {
    const agent = await startMortal(t, { namespace, body, cacheDir, moment });
    await agent.dead;
  }
  await startTestAgent(t, { namespace, cacheDir });
  await syncReaches(client, namespace, 'Ready');
  assert.equal((await getPlugin(client, namespace, `${name}-web`))?.status?.release?.revision, 1);
  assert.deepEqual(jobs.begun(), [`${name}-pre-install-v1-0`, `${name}-post-install-v1-0`]);
});
