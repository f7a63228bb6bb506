import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { isProven } from './proof.ts';

const BODY = Buffer.from('{"ref":"refs/heads/main","é":1}');
const SECRET = 'the-secret';
const hex = createHmac('sha256', SECRET).update(BODY).digest('hex');
const sha1 = createHmac('sha1', SECRET).update(BODY).digest('hex');

test('S23: believes each forge by its own proof', () => {
  for (const [kind, headers] of [
    ['github', { 'x-hub-signature-256': `sha256=${hex}` }],
    ['bitbucket', { 'x-hub-signature': `sha256=${hex}` }],
    ['gitea', { 'x-gitea-signature': hex, 'x-hub-signature-256': `sha256=${hex}`, 'x-hub-signature': `sha1=${sha1}` }],
    ['forgejo', { 'x-forgejo-signature': hex, 'x-gitea-signature': hex }],
    ['gitlab', { 'x-gitlab-token': SECRET }],
  ] as const) {
    assert.ok(isProven(new Headers(headers), BODY, SECRET, kind), kind);
    assert.ok(isProven(new Headers(headers), BODY, SECRET), `${kind}, not told`);
    assert.ok(!isProven(new Headers(headers), BODY, 'another', kind), kind);
    assert.ok(!isProven(new Headers(headers), Buffer.from('{}'), SECRET, kind) || kind === 'gitlab', kind);
  }
});

test('S23: refuses a proof that is missing, short, doubled or of another algorithm, and a Sync without a secret', () => {
  const refused: Record<string, string>[] = [
    {},
    { 'x-hub-signature-256': '' },
    { 'x-hub-signature-256': 'sha256=' },
    { 'x-hub-signature-256': `sha256=${hex.slice(0, 63)}` },
    { 'x-hub-signature-256': `sha256=${hex}, sha256=${hex}` },
    { 'x-hub-signature-256': hex },
    { 'x-hub-signature': `sha1=${sha1}` },
    { 'x-gitea-signature': `${hex}00` },
    { 'x-gitlab-token': '' },
    { 'x-gitlab-token': `${SECRET} `.repeat(2) },
  ];
  for (const headers of refused) assert.ok(!isProven(new Headers(headers), BODY, SECRET), JSON.stringify(headers));
  for (const secret of [undefined, '']) {
    assert.ok(!isProven(new Headers({ 'x-gitlab-token': '' }), BODY, secret));
    assert.ok(!isProven(new Headers({ 'x-hub-signature-256': `sha256=${hex}` }), BODY, secret));
  }
});

test('a weaker proof beside a wrong stronger one saves nothing', () => {
  const wrong = `sha256=${'0'.repeat(64)}`;
  assert.ok(!isProven(new Headers({ 'x-hub-signature-256': wrong, 'x-gitlab-token': SECRET }), BODY, SECRET));
  assert.ok(
    !isProven(
      new Headers({ 'x-gitea-signature': '0'.repeat(64), 'x-hub-signature-256': `sha256=${hex}` }),
      BODY,
      SECRET,
      'gitea',
    ),
  );
  assert.ok(!isProven(new Headers({ 'webhook-signature': 'v1,x', 'x-gitlab-token': SECRET }), BODY, SECRET, 'gitlab'));
});

test("where the forge is known, another forge's proof is none", () => {
  assert.ok(!isProven(new Headers({ 'x-gitlab-token': SECRET }), BODY, SECRET, 'github'));
  assert.ok(!isProven(new Headers({ 'x-gitlab-token': SECRET }), BODY, SECRET, 'gitea'));
  assert.ok(!isProven(new Headers({ 'x-hub-signature-256': `sha256=${hex}` }), BODY, SECRET, 'gitlab'));
  assert.ok(
    isProven(
      new Headers({ 'x-hub-signature-256': `sha256=${'0'.repeat(64)}`, 'x-gitlab-token': SECRET }),
      BODY,
      SECRET,
      'gitlab',
    ),
  );
});

test('believes what GitLab signs by Standard Webhooks, over id, time and body', () => {
  const key = Buffer.alloc(32, 7);
  const secret = `whsec_${key.toString('base64')}`;
  const sign = (id: string): string =>
    `v1,${createHmac('sha256', key).update(`${id}.1795003200.`).update(BODY).digest('base64')}`;
  const headers = (signature: string): Headers =>
    new Headers({ 'webhook-id': 'a', 'webhook-timestamp': '1795003200', 'webhook-signature': signature });
  assert.ok(isProven(headers(sign('a')), BODY, secret, 'gitlab'));
  assert.ok(isProven(headers(`v1,AAAA ${sign('old')} ${sign('a')}`), BODY, secret, 'gitlab'));
  assert.ok(!isProven(headers(sign('b')), BODY, secret, 'gitlab'));
  assert.ok(!isProven(headers(sign('a').replace('v1', 'v2')), BODY, secret, 'gitlab'));
  assert.ok(!isProven(headers(sign('a')), BODY, key.toString('base64'), 'gitlab'));
  assert.ok(!isProven(new Headers({ 'webhook-signature': sign('a') }), BODY, secret, 'gitlab'));
});
