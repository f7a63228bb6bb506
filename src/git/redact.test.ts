import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactor, redactUrl, redactUrls } from './redact.ts';

test('S19: hides a password in every encoding that it may come back in', () => {
  const password = 'tok@/ü+%x';
  const hide = redactor([password, `u:${password}`]);
  const json = JSON.stringify(JSON.stringify({ password }));
  const percent = encodeURIComponent(password);
  for (const form of [
    password,
    percent,
    percent.toLowerCase(),
    encodeURIComponent(percent),
    Buffer.from(password).toString('base64'),
    Buffer.from(password).toString('base64url'),
    Buffer.from(`u:${password}`).toString('base64'),
    Buffer.from(`some:${password}:more`).toString('base64'),
    json,
  ]) {
    const hidden = hide(`fatal: before ${form} after`);
    assert.doesNotMatch(hidden, /tok|dG9r|Rva0|b2tA/i, form);
    assert.match(hidden, /^fatal: before .* after$/);
  }
});

test('hides credentials in URLs that nobody told it of', () => {
  const hide = redactor([]);
  assert.equal(
    hide("fatal: unable to access 'https://u:tok%40@git.example.com/a.git/'"),
    "fatal: unable to access 'https://***@git.example.com/a.git/'",
  );
  assert.equal(
    hide('see https%3A//x and https://a:b@c/d and HTTPS://t@e/f'),
    'see https%3A//x and https://***@c/d and HTTPS://***@e/f',
  );
  assert.equal(hide('{"url":"https:\\/\\/u:p@h\\/a"}'), '{"url":"https:\\/\\/***@h\\/a"}');
});

test('leaves what is no secret: the user of an ssh address, an @ in a path', () => {
  assert.equal(redactUrls('ssh://git@git.example.com/a.git'), 'ssh://git@git.example.com/a.git');
  assert.equal(redactUrls('https://example.com/a@b'), 'https://example.com/a@b');
  assert.equal(redactUrl('git@example.com:a.git'), 'git@example.com:a.git');
  assert.equal(redactUrl('ssh://git:pw@example.com/a'), 'ssh://***@example.com/a');
});

test('hides a password that nobody escaped, up to the last @', () => {
  assert.equal(redactUrl('https://u:p/w@example.com/a.git'), 'https://***@example.com/a.git');
  assert.equal(redactUrl('https://u:p@ss@example.com/a.git'), 'https://***@example.com/a.git');
});
