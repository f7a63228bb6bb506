import assert from 'node:assert/strict';
import { test } from 'node:test';
import { integer, octetString, oid, utcTime } from './der.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

test('lengths below 128 take one byte, longer ones say how many follow', () => {
  assert.equal(hex(octetString(Buffer.alloc(3))), '0403000000');
  assert.equal(hex(octetString(Buffer.alloc(128)).subarray(0, 3)), '048180');
  assert.equal(hex(octetString(Buffer.alloc(300)).subarray(0, 4)), '0482012c');
});

test('an integer with a high first bit stays positive', () => {
  assert.equal(hex(integer(Buffer.from([0x7f]))), '02017f');
  assert.equal(hex(integer(Buffer.from([0x80]))), '02020080');
});

test('object identifiers are written in base 128', () => {
  assert.equal(hex(oid('2.5.4.3')), '0603550403');
  assert.equal(hex(oid('1.2.840.10045.4.3.2')), '06082a8648ce3d040302');
});

test('a time is written in UTC to the second', () => {
  assert.equal(utcTime(new Date('2026-11-18T08:37:47.999Z')).subarray(2).toString(), '261118083747Z');
});
