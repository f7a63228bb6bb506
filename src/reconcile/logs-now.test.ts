import assert from 'node:assert/strict';
import { test } from 'node:test';
import { API_VERSION, type FailedLog, type KubeObject, type ObjectRef, type Plugin, refKey } from '../api/index.ts';
import { logsNow } from './logs-now.ts';

const REF = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'web', name: 'migrate' };
const OWNER = { apiVersion: 'batch/v1', kind: 'Job', name: 'migrate', uid: 'job-1' };
const FAILED = {
  phase: 'Failed',
  reason: 'Unhealthy',
  message: 'it failed',
  userMustAct: false,
  applied: true,
} as const;

function podOf(uid: string, env: unknown[] = []): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `of-${uid}`, namespace: 'web', ownerReferences: [{ ...OWNER, uid }] },
    spec: { containers: [{ name: 'main', env }] },
    status: { phase: 'Failed', containerStatuses: [{ name: 'main', state: { terminated: { exitCode: 1 } } }] },
  };
}

interface Case {
  uid?: string;
  logs?: FailedLog[];
  pods?: KubeObject[];
  answer?: { status: number; body: string };
  secret?: () => Promise<KubeObject | undefined>;
  outcome?: 'Failed' | 'Progressing';
  once?: { key: string; at: string };
}

async function logs({ uid = 'job-1', logs: known = [], pods = [podOf(uid)], once, ...rest }: Case) {
  const asked: string[] = [];
  const {
    answer = { status: 200, body: 'one\ntwo hunter2\n' },
    outcome = 'Failed',
    secret = async () => undefined,
  } = rest;
  const noted = <T>(what: string, given: T): T => {
    asked.push(what);
    return given;
  };
  const client = {
    list: async ({ kind }: ObjectRef) => noted(`list ${kind}`, { items: pods, resourceVersion: '1' }),
    get: async ({ kind }: ObjectRef) => await noted(`get ${kind}`, secret)(),
    raw: async ({ path }: { path: string }) => noted(path, { ...answer, headers: {} }),
  };
  const live = { ref: REF, plugin: 'sys/demo', uid, health: { state: 'failed', message: '' } };
  const parts = { client, clock: { now: () => 0 }, owned: { get: () => live } };
  const plugin = { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name: 'demo' }, status: { logs: known } };
  const found = await logsNow(parts as never, {
    key: 'sys/demo',
    plugin: plugin as unknown as Plugin,
    record: new Map([[refKey(REF), { ...REF, uid, ...(once === undefined ? {} : { once }) }]]),
    verdict: {
      outcome: outcome === 'Failed' ? FAILED : { phase: 'Progressing', message: '' },
      findings: {},
    },
    secrets: ['hunter2'],
    signal: new AbortController().signal,
  });
  return { logs: found.logs, asked };
}

const AT = '1970-01-01T00:00:00Z';
const LOG: FailedLog = {
  object: 'Job web/migrate',
  uid: 'job-1',
  pod: 'of-job-1',
  container: 'main',
  lines: ['one', 'two [redacted]'],
  at: AT,
};

test('the end of the log of a Job that failed is read once, and again only for another Job', async () => {
  const first = await logs({});
  assert.deepEqual(first.logs, [LOG]);
  assert.deepEqual(first.asked, ['list Pod', '/api/v1/namespaces/web/pods/of-job-1/log']);
  assert.deepEqual(await logs({ logs: [LOG] }), { logs: undefined, asked: [] });
  const second = await logs({ logs: [LOG], uid: 'job-2' });
  assert.deepEqual(
    second.logs?.map(({ uid }) => uid),
    ['job-2'],
  );
});

test('nothing is asked while nothing failed, nor for what has run', async () => {
  assert.deepEqual(await logs({ outcome: 'Progressing' }), { logs: undefined, asked: [] });
  assert.deepEqual(await logs({ once: { key: 'v1', at: AT } }), { logs: undefined, asked: [] });
});

test('what stands in the way is told in place of the lines: the API server, no pods, nothing written', async () => {
  const message = 'pods "of-job-1" is forbidden: may not read hunter2';
  const body = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 });
  const forbidden = (await logs({ answer: { status: 403, body } })).logs?.[0];
  assert.deepEqual(forbidden?.lines, []);
  assert.match(forbidden?.why ?? '', /^get log of Pod web\/of-job-1: .*forbidden: may not read \[redacted\]/);
  assert.equal((await logs({ pods: [] })).logs?.[0]?.why, 'its pods are gone, and what they wrote with them');
  assert.equal((await logs({ answer: { status: 200, body: '' } })).logs?.[0]?.why, 'it wrote nothing');
  // Somebody gave a pod of their own the Job's label.
  assert.equal((await logs({ pods: [podOf('job-2')] })).asked.length, 1);
});

test('no line is shown where a Secret that the pod was given can not be read', async () => {
  const env = [{ name: 'A', valueFrom: { secretKeyRef: { name: 'db', key: 'a' } } }];
  const pods = [podOf('job-1', env)];
  const data = { a: Buffer.from('two\n').toString('base64'), b: Buffer.from('one two\n').toString('base64') };
  const secret = async () => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, data });
  const answer = { status: 200, body: 'one two\ntwo is too short to be told from any other text\n' };
  assert.deepEqual((await logs({ pods, secret, answer })).logs?.[0]?.lines, [
    '[redacted]',
    'two is too short to be told from any other text',
  ]);
  const many = Array.from({ length: 31 }, (_, at) => ({ valueFrom: { secretKeyRef: { name: `db-${at}`, key: 'a' } } }));
  const bounded = await logs({ pods: [podOf('job-1', many)], secret });
  assert.match(bounded.logs?.[0]?.why ?? '', /31 Secrets/);
  assert.deepEqual(bounded.asked, ['list Pod']);
  const refused = await logs({ pods, secret: () => Promise.reject(new Error('get Secret web/db: forbidden')) });
  assert.deepEqual(
    refused.logs?.map(({ lines, why }) => [lines, why]),
    [[[], 'get Secret web/db: forbidden']],
  );
});
