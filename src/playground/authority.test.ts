import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { createAuthority, openAuthority } from './authority.ts';

test('a server certificate is signed by its authority and names its hosts', () => {
  const authority = createAuthority('test');
  const issuer = new X509Certificate(authority.certificate);
  const server = new X509Certificate(
    authority.issue({ commonName: 'git', hosts: ['127.0.0.1', 'localhost'] }).certificate,
  );

  assert.ok(issuer.ca);
  assert.ok(issuer.verify(issuer.publicKey));
  assert.ok(server.verify(issuer.publicKey));
  assert.ok(server.checkIssued(issuer));
  assert.equal(server.checkIP('127.0.0.1'), '127.0.0.1');
  assert.equal(server.checkHost('localhost'), 'localhost');
  assert.equal(server.checkHost('elsewhere'), undefined);
});

test('a client certificate names user and groups, and fits its key', () => {
  const { certificate, key } = createAuthority('test').issue({ commonName: 'ada', organizations: ['a', 'b'] });
  const client = new X509Certificate(certificate);
  assert.equal(client.subject, 'O=a\nO=b\nCN=ada');
  assert.match(key, /BEGIN PRIVATE KEY/);
});

test('an authority opened from its kept key issues for the same clients', () => {
  const authority = createAuthority('test');
  const again = openAuthority({ certificate: authority.certificate, key: authority.key }, 'test');
  const issued = new X509Certificate(again.issue({ commonName: 'ada' }).certificate);
  assert.ok(issued.checkIssued(new X509Certificate(authority.certificate)));
});

test('serial numbers differ, as clients that cache by them expect', () => {
  const authority = createAuthority('test');
  const [one, other] = ['a', 'a'].map((commonName) => new X509Certificate(authority.issue({ commonName }).certificate));
  assert.notEqual(one?.serialNumber, other?.serialNumber);
});
