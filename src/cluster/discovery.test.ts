import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../test/support/clock.ts';
import { EspalierError, isError } from '../api/index.ts';
import { createDiscovery } from './discovery.ts';

type Reply = { status?: number; headers?: Record<string, string>; body?: unknown };

/** A server whose answers are looked up by path. */
function serve(replies: Record<string, Reply | ((headers: Record<string, string>) => Reply)>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const discovery = createDiscovery(async (path, headers) => {
    asked.push(path);
    const found = replies[path] ?? { status: 404, body: {} };
    const { status = 200, headers: answered = {}, body = {} } = typeof found === 'function' ? found(headers) : found;
    if (status >= 400 && status !== 404) throw new EspalierError('KubeServerError', `HTTP ${status}`);
    return { status, headers: answered, body: typeof body === 'string' ? body : JSON.stringify(body) };
  }, clock);
  return { discovery, asked, clock, replies };
}

function aggregated(group: string, version: string, kinds: string[], freshness = 'Current') {
  const resources = kinds.map((kind) => ({
    resource: `${kind.toLowerCase()}s`,
    responseKind: { group: '', version: '', kind },
    scope: 'Namespaced',
    verbs: ['get'],
    subresources: [{ subresource: 'status' }],
  }));
  return { metadata: { name: group }, versions: [{ version, freshness, resources }] };
}

function groups(...items: unknown[]) {
  return { body: { kind: 'APIGroupDiscoveryList', items } };
}

const core = groups(aggregated('', 'v1', ['Pod']));

test('kinds are read from the aggregated documents, once', async () => {
  const { discovery, asked } = serve({ '/api': core, '/apis': groups(aggregated('apps', 'v1', ['Deployment'])) });
  const resource = await discovery.resource('apps/v1', 'Deployment');
  assert.deepEqual(resource, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    plural: 'deployments',
    namespaced: true,
    verbs: ['get'],
    subresources: ['status'],
    shortNames: [],
  });
  await discovery.resource('v1', 'Pod');
  assert.deepEqual(asked, ['/api', '/apis']);
});

test('a kind is unknown only when its group version says so itself', async () => {
  const { discovery, asked } = serve({ '/api': core, '/apis': groups() });
  await assert.rejects(discovery.resource('x.dev/v1', 'Thing'), (error) => isError(error, 'KubeKindUnknown'));
  assert.deepEqual(asked, ['/api', '/apis', '/apis/x.dev/v1']);
});

test('a gap in the document while the server starts is an error, not an unknown kind', async () => {
  const { discovery } = serve({ '/api': core, '/apis': groups(), '/apis/x.dev/v1': { status: 503 } });
  await assert.rejects(discovery.resource('x.dev/v1', 'Thing'), (error) => isError(error, 'KubeServerError'));
});

test('a kind that the document lacks but its group version lists is found', async () => {
  const { discovery } = serve({
    '/api': core,
    '/apis': groups(),
    '/apis/x.dev/v1': {
      body: { kind: 'APIResourceList', resources: [{ name: 'things', kind: 'Thing', namespaced: false, verbs: [] }] },
    },
  });
  assert.equal((await discovery.resource('x.dev/v1', 'Thing')).plural, 'things');
});

test('a broken aggregated API is an error for its kinds, and for nothing else', async () => {
  const { discovery } = serve({ '/api': core, '/apis': groups(aggregated('metrics.k8s.io', 'v1', [], 'Stale')) });
  await assert.rejects(discovery.resource('metrics.k8s.io/v1', 'PodMetrics'), (error) =>
    isError(error, 'KubeServerError'),
  );
  assert.equal((await discovery.resource('v1', 'Pod')).plural, 'pods');
  await assert.rejects(discovery.all(false), (error) => isError(error, 'KubeServerError'));
  assert.equal((await discovery.all(true)).length, 1);
});

test('a login page instead of discovery is an error', async () => {
  const { discovery } = serve({ '/api': { body: '<html>' }, '/apis': { body: '<html>' } });
  await assert.rejects(discovery.resource('v1', 'Pod'), (error) => isError(error, 'KubeBadAnswer'));
});

test('many who ask for unknown kinds at once cause one look', async () => {
  const { discovery, asked } = serve({ '/api': core, '/apis': groups() });
  await Promise.allSettled(Array.from({ length: 20 }, (_, i) => discovery.resource('x.dev/v1', `Kind${i}`)));
  assert.equal(asked.filter((path) => path === '/apis').length, 1);
});

test('after a burst, looks come once a second', async () => {
  const { discovery, asked, clock } = serve({ '/api': core, '/apis': groups() });
  const looks = () => asked.filter((path) => path === '/apis').length;
  let answered = 0;
  const asking = (async () => {
    for (let i = 0; i < 8; i++) {
      clock.jump(1); // a question later than the last look
      await discovery.resource('x.dev/v1', 'Thing').catch(() => {});
      answered++;
    }
  })();
  await clock.advance(0);
  for (let i = 0; i < 50 && answered < 5; i++) await clock.advance(0);
  assert.equal(looks(), 5);
  await clock.advance(3_100);
  await asking;
  assert.equal(looks(), 8);
});

test('a document that has not changed is not sent again', async () => {
  const { discovery, clock } = serve({
    '/api': core,
    '/apis': (headers) =>
      headers['if-none-match'] === '"1"'
        ? { status: 304, body: '' }
        : { ...groups(aggregated('apps', 'v1', ['Deployment'])), headers: { etag: '"1"' } },
  });
  await discovery.resource('apps/v1', 'Deployment');
  clock.jump(1_000);
  await discovery.resource('apps/v1', 'Nothing').catch(() => {});
  assert.equal((await discovery.resource('apps/v1', 'Deployment')).plural, 'deployments');
});

test('an older server is asked one group version at a time, and one that fails spoils only its own kinds', async () => {
  const { discovery } = serve({
    '/api': { body: { kind: 'APIVersions', versions: ['v1'] } },
    '/apis': {
      body: {
        kind: 'APIGroupList',
        groups: [{ versions: [{ groupVersion: 'apps/v1' }, { groupVersion: 'down.dev/v1' }] }],
      },
    },
    '/api/v1': {
      body: {
        kind: 'APIResourceList',
        resources: [
          { name: 'pods', kind: 'Pod', namespaced: true, verbs: ['get'] },
          { name: 'pods/log', kind: 'Pod' },
        ],
      },
    },
    '/apis/apps/v1': {
      body: {
        kind: 'APIResourceList',
        resources: [{ name: 'deployments', kind: 'Deployment', namespaced: true, verbs: [] }],
      },
    },
    '/apis/down.dev/v1': { status: 503 },
  });
  assert.deepEqual((await discovery.resource('v1', 'Pod')).subresources, ['log']);
  assert.equal((await discovery.resource('apps/v1', 'Deployment')).plural, 'deployments');
  await assert.rejects(discovery.resource('down.dev/v1', 'X'), (error) => isError(error, 'KubeServerError'));
});

test('what proved wrong is looked up anew', async () => {
  const { discovery, replies } = serve({ '/api': core, '/apis': groups(aggregated('x.dev', 'v1', ['Thing'])) });
  await discovery.resource('x.dev/v1', 'Thing');
  replies['/apis'] = groups();
  discovery.distrust('x.dev/v1');
  await assert.rejects(discovery.resource('x.dev/v1', 'Thing'), (error) => isError(error, 'KubeKindUnknown'));
});
