import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EspalierError, type KubeObject } from '../api/index.ts';
import type { KubeClient, WatchStreamOptions } from '../cluster/client.ts';
import { Selections } from './selections.ts';

const NODES = { apiVersion: 'v1', kind: 'Node' };

function node(name: string, ready: boolean, resourceVersion: string): KubeObject {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
  return { ...NODES, metadata: { name, uid: name, resourceVersion }, status: { conditions } };
}

/** Serves one list of Nodes, and as many watches as are asked for, until each is aborted. */
function serve(nodes: KubeObject[], refused?: EspalierError) {
  const open = new Set<WatchStreamOptions>();
  const client = {
    async pages(_target: unknown, onPage: (items: KubeObject[], page: { restarted: boolean }) => void) {
      if (refused !== undefined) throw refused;
      onPage(nodes, { restarted: false });
      return { resourceVersion: '1' };
    },
    watchOnce(_target: unknown, options: WatchStreamOptions): Promise<void> {
      open.add(options);
      return new Promise((resolve) => {
        options.signal.addEventListener('abort', () => {
          open.delete(options);
          resolve();
        });
      });
    },
  } as unknown as KubeClient;
  const tell = (object: KubeObject): void => open.forEach(({ onLine }) => void onLine({ type: 'MODIFIED', object }));
  return { client, open, tell };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function follow(t: { after(fn: () => void): void }, client: KubeClient) {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const woken: [string, number][] = [];
  const wake = (user: string, { after = 0 }: { after?: number }): void => void woken.push([user, after]);
  return { selections: new Selections(client, ended.signal, wake), woken };
}

describe('selections', () => {
  test('are watched once for all who ask, and no longer than somebody asks in every look', async (t) => {
    const { client, open } = serve([node('a', false, '1')]);
    const { selections } = follow(t, client);
    for (const user of ['n/p', 'n/q']) {
      assert.equal(selections.whyNot(user, NODES), 'not seen yet');
      selections.looked(user);
    }
    await turns();
    assert.equal(open.size, 1);
    assert.equal(selections.whyNot('n/p', NODES), 'a: not ready');
    selections.looked('n/p');
    selections.looked('n/q');
    await turns();
    assert.equal(open.size, 1);
    selections.looked('n/p');
    await turns();
    assert.equal(open.size, 0);
    selections.whyNot('n/p', NODES);
    selections.looked('n/p');
    await turns();
    assert.equal(open.size, 1);
    selections.whyNot('n/p', { ...NODES, labels: { pool: 'x' } });
    await turns();
    assert.equal(open.size, 2);
    selections.looked('n/p');
    await turns();
    assert.equal(open.size, 1);
  });

  test('wake at once when all are ready, a little later on the way there, and not for what changes nothing', async (t) => {
    const { client, tell } = serve([node('a', false, '1'), node('b', false, '1')]);
    const { selections, woken } = follow(t, client);
    selections.whyNot('n/p', NODES);
    selections.looked('n/p');
    await turns();
    woken.length = 0;
    tell(node('a', false, '2'));
    assert.deepEqual(woken, []);
    tell(node('a', true, '3'));
    tell(node('b', true, '4'));
    assert.deepEqual(woken, [
      ['n/p', 1_000],
      ['n/p', 0],
    ]);
  });

  test('say why they are not seen', async (t) => {
    const { client } = serve([], new EspalierError('KubeForbidden', 'nodes is forbidden'));
    const { selections } = follow(t, client);
    selections.whyNot('n/p', NODES);
    await turns();
    assert.equal(selections.whyNot('n/p', NODES), 'not seen yet: nodes is forbidden');
  });
});
