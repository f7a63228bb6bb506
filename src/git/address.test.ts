import assert from 'node:assert/strict';
import { test } from 'node:test';
import { embeddedIpv4, isRange, isWithin, kindOfAddress } from './address.ts';

test('tells every kind of address that is not public', () => {
  const kinds = {
    loopback: [
      '127.0.0.1',
      '127.255.0.9',
      '0.0.0.0',
      '::1',
      '::',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '::127.0.0.1',
    ],
    'link-local': ['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', '64:ff9b::169.254.169.254'],
    private: [
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      'fc00::1',
      'fdff::1',
      '::ffff:a00:1',
      '64:ff9b:1::a00:1',
    ],
    reserved: [
      '224.0.0.1',
      '255.255.255.255',
      '240.0.0.1',
      '198.18.0.1',
      '192.0.2.1',
      'ff02::1',
      '2001:db8::1',
      '2001::1',
    ],
  };
  for (const [kind, addresses] of Object.entries(kinds)) {
    for (const address of addresses) assert.equal(kindOfAddress(address), kind, address);
  }
});

test('takes public addresses for what they are', () => {
  for (const address of [
    '8.8.8.8',
    '172.32.0.1',
    '11.0.0.1',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::',
  ]) {
    assert.equal(kindOfAddress(address), undefined, address);
  }
});

test('finds the IPv4 address inside an IPv6 one, and none where there is none', () => {
  assert.equal(embeddedIpv4('::ffff:1.2.3.4'), '1.2.3.4');
  assert.equal(embeddedIpv4('0:0:0:0:0:ffff:102:304'), '1.2.3.4');
  assert.equal(embeddedIpv4('::ffff:0:102:304'), '1.2.3.4');
  assert.equal(embeddedIpv4('2606:4700::1111'), undefined);
  assert.equal(embeddedIpv4('1.2.3.4'), undefined);
});

test('knows ranges of both families, and what is no range', () => {
  assert.ok(isWithin('10.20.3.4', ['192.168.0.0/16', '10.20.0.0/16']));
  assert.ok(isWithin('::ffff:10.20.3.4', ['10.20.0.0/16']));
  assert.ok(isWithin('fd00::5', ['fd00::/8']));
  assert.ok(isWithin('127.0.0.1', ['127.0.0.1']));
  assert.ok(!isWithin('10.21.3.4', ['10.20.0.0/16']));
  for (const range of ['10.0.0.0/8', '::1', 'fd00::/8', '1.2.3.4/32']) assert.ok(isRange(range), range);
  for (const range of ['10/8', '10.0.0.0/33', 'fd00::/129', 'example.com', '', '10.0.0.0/'])
    assert.ok(!isRange(range), range);
});
