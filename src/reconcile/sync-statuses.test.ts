import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, type KubeObject, readAs, type Sync } from '../api/index.ts';
import { SyncStatuses } from './sync-statuses.ts';

const KEY = 'ns/platform';

function syncWith(status: object): Sync {
  const spec = { repository: { url: 'https://git.example.com/a.git' } };
  const metadata = { name: 'platform', namespace: 'ns', uid: 'u1' };
  return readAs({ apiVersion: 'espalier.dev/v1alpha1', kind: 'Sync', metadata, spec, status }, 'Sync');
}

interface Sent {
  body: object;
  answer: PromiseWithResolvers<void>;
}

/** An API server that answers when it is told to. */
function world() {
  let live: Sync | undefined = syncWith({ message: 'old' });
  const sent: Sent[] = [];
  const statuses = new SyncStatuses(
    {
      update: () => assert.fail('a Sync is written as a patch'),
      async patch(_ref, body) {
        const { status } = body as { status: object };
        const answer = Promise.withResolvers<void>();
        sent.push({ body: status, answer });
        await answer.promise;
        return syncWith({ ...live?.status, ...status }) as KubeObject;
      },
    },
    {
      get: () => live,
      put: (object) => {
        live = readAs(object, 'Sync');
      },
    },
  );
  return {
    statuses,
    sent,
    live: () => live?.status,
    remove: () => {
      live = undefined;
    },
  };
}

test('what is wanted during a write goes together into the next, each upon what is there by then', async () => {
  const { statuses, sent, live } = world();
  const first = statuses.change(KEY, ({ status }) => ({ ...status, message: 'first' }));
  const second = statuses.change(KEY, ({ status }) => ({ ...status, commit: `after ${status?.message}` }));
  const third = statuses.change(KEY, ({ status }) => ({ ...status, message: `${status?.commit}, third` }));
  assert.deepEqual(
    sent.map(({ body }) => body),
    [{ message: 'first' }],
  );
  sent[0]?.answer.resolve();
  await first;
  assert.deepEqual(sent[1]?.body, { commit: 'after first', message: 'after first, third' });
  sent[1]?.answer.resolve();
  await Promise.all([second, third]);
  assert.deepEqual(live(), { commit: 'after first', message: 'after first, third' });
  assert.equal(sent.length, 2);
});

test('a write that fails is told to those whose changes were in it, and to nobody else', async () => {
  const { statuses, sent } = world();
  const first = statuses.change(KEY, ({ status }) => ({ ...status, message: 'first' }));
  const second = statuses.change(KEY, ({ status }) => ({ ...status, message: 'second' }));
  sent[0]?.answer.reject(new EspalierError('KubeUnreachable', 'gone'));
  await assert.rejects(first, { code: 'KubeUnreachable' });
  sent[1]?.answer.resolve();
  await second;
});

test('a change that changes nothing is not written, and one of a Sync that is gone is no error', async () => {
  const { statuses, sent, remove } = world();
  await statuses.change(KEY, ({ status }) => ({ ...status }));
  assert.equal(sent.length, 0);
  const late = statuses.change(KEY, ({ status }) => ({ ...status, message: 'late' }));
  sent[0]?.answer.reject(new EspalierError('KubeNotFound', 'gone'));
  await late;
  remove();
  await statuses.change(KEY, ({ status }) => ({ ...status, message: 'later' }));
  assert.equal(sent.length, 1);
});

test('what the API server does not take from one is written for the others all the same', async () => {
  const { statuses, sent } = world();
  const first = statuses.change(KEY, ({ status }) => ({ ...status, message: 'first' }));
  const bad = statuses.change(KEY, ({ status }) => ({ ...status, commit: 'no commit' }));
  const good = statuses.change(KEY, ({ status }) => ({ ...status, message: 'good' }));
  sent[0]?.answer.resolve();
  await first;
  sent[1]?.answer.reject(new EspalierError('KubeInvalid', 'no commit', { retry: false }));
  while (sent.length < 3) await null;
  sent[2]?.answer.reject(new EspalierError('KubeInvalid', 'no commit', { retry: false }));
  await assert.rejects(bad, { code: 'KubeInvalid' });
  assert.deepEqual(sent[3]?.body, { message: 'good' });
  sent[3]?.answer.resolve();
  await good;
});
