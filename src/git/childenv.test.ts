import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { childEnvironment, sshCommand } from './childenv.ts';

const BASE = { policy: {}, home: '/private', url: 'https://git.example.com/a.git' };

function configOf(env: Record<string, string>): Map<string, string> {
  return new Map(
    Array.from({ length: Number(env.GIT_CONFIG_COUNT) }, (_, i) => [
      env[`GIT_CONFIG_KEY_${i}`] ?? '',
      env[`GIT_CONFIG_VALUE_${i}`] ?? '',
    ]),
  );
}

test('lets git speak https and ssh only, ask nobody and run nothing', () => {
  const env = childEnvironment(BASE);
  const config = configOf(env);
  assert.equal(env.GIT_TERMINAL_PROMPT, '0');
  assert.equal(env.GIT_CONFIG_NOSYSTEM, '1');
  assert.equal(env.GIT_CONFIG_GLOBAL, '/dev/null');
  assert.equal(env.GIT_ALLOW_PROTOCOL, 'https:ssh');
  assert.equal(config.get('protocol.allow'), 'never');
  assert.equal(config.get('protocol.http.allow'), 'never');
  assert.equal(config.get('core.hooksPath'), '/dev/null');
  assert.equal(config.get('credential.helper'), '');
  assert.equal(config.get('http.followRedirects'), 'false');
  assert.equal(configOf(childEnvironment({ ...BASE, policy: { http: true } })).get('protocol.http.allow'), 'always');
});

test('gives credentials to one URL only', () => {
  const config = configOf(childEnvironment({ ...BASE, authorization: 'Basic abc' }));
  assert.equal(config.get('http.https://git.example.com/a.git.extraHeader'), 'Authorization: Basic abc');
  assert.ok(![...config.keys()].includes('http.extraHeader'));
});

test('quotes every word of the ssh command for the shell', () => {
  const command = sshCommand({
    host: 'git.example.com',
    port: 2222,
    address: '192.0.2.1',
    knownHostsFile: "/tmp/it's $(touch /tmp/x)/known",
    identityFile: '/tmp/a b/identity',
    withPassphrase: false,
    connectSeconds: 5,
  });
  const words = execFileSync('/bin/sh', ['-c', `printf '%s\\n' ${command}`])
    .toString()
    .split('\n');
  assert.ok(words.includes('HostName=192.0.2.1'));
  assert.ok(words.includes('HostKeyAlias=[git.example.com]:2222'));
  assert.ok(words.includes('StrictHostKeyChecking=yes'));
  assert.ok(words.includes(`UserKnownHostsFile="/tmp/it's $(touch /tmp/x)/known"`));
  assert.ok(words.includes('IdentityFile="/tmp/a b/identity"'));
});
