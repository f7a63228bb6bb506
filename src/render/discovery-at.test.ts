import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ReadPath } from './cluster-view.ts';
import { discoveryAt } from './discovery-at.ts';

const resource = (kind: string) => ({ resource: `${kind.toLowerCase()}s`, responseKind: { kind } });
const AGGREGATED = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: 'batch' },
      versions: [
        { version: 'v1', resources: [resource('Job'), resource('CronJob')] },
        { version: 'v1beta1', resources: [resource('CronJob')] },
      ],
    },
    { metadata: { name: 'old.example.com' }, versions: [{ version: 'v1', resources: [resource('Old')] }] },
  ],
};
const ANSWERS: Record<string, object> = {
  '/version': { gitVersion: 'v1.36.3', major: '1', minor: '36', platform: 'linux/amd64' },
  '/apis': AGGREGATED,
  '/apis/batch/v1': { resources: [{ kind: 'Job' }, { kind: 'CronJob' }] },
  '/apis/batch/v1beta1': { resources: [{ kind: 'CronJob' }] },
};
const server: ReadPath = async (path) =>
  path in ANSWERS ? { status: 200, body: JSON.stringify(ANSWERS[path]) } : { status: 404, body: '{}' };

const other = discoveryAt(server, {
  gitVersion: 'v1.37.0',
  serves: (apiVersion, kind) => apiVersion !== 'batch/v1beta1' && !(apiVersion === 'batch/v1' && kind === 'Job'),
  brings: [{ apiVersion: 'new.k8s.io/v1', kind: 'New' }],
});
const ask = async (path: string) => {
  const { status, body } = await other(path, 'application/json');
  return { status, body: JSON.parse(body) as Record<string, unknown> };
};

describe('discovery of another release', () => {
  test('says the version of that release, and the rest as the server says it', async () => {
    assert.deepEqual((await ask('/version')).body, {
      gitVersion: 'v1.37.0',
      major: '1',
      minor: '37',
      platform: 'linux/amd64',
    });
  });

  test('leaves out what is no longer served, and a version or group of which nothing is left', async () => {
    const { items } = (await ask('/apis')).body as typeof AGGREGATED;
    const batch = items.find(({ metadata }) => metadata.name === 'batch');
    assert.deepEqual(batch?.versions, [{ version: 'v1', resources: [resource('CronJob')] }]);
    assert.deepEqual((await ask('/apis/batch/v1')).body.resources, [{ kind: 'CronJob' }]);
    assert.equal((await ask('/apis/batch/v1beta1')).status, 404);
  });

  test('has what the release brings, in both forms', async () => {
    const { items } = (await ask('/apis')).body as typeof AGGREGATED;
    assert.equal(items.at(-1)?.versions[0]?.resources[0]?.responseKind.kind, 'New');
    const { status, body } = await ask('/apis/new.k8s.io/v1');
    assert.deepEqual([status, (body.resources as { kind: string }[])[0]?.kind], [200, 'New']);
  });
});
