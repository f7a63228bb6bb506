import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject, ManagedFieldsEntry } from '../api/index.ts';
import { hashFields } from './fields.ts';
import { type TakeBackInput, wereOurs } from './take-back.ts';

const CONTAINER = 'k:{"name":"app"}';
const APPLIED: JsonObject = {
  'f:spec': {
    'f:replicas': {},
    'f:template': { 'f:spec': { 'f:containers': { [CONTAINER]: { '.': {}, 'f:name': {}, 'f:image': {} } } } },
  },
};
/** What is left to us when somebody took the image. */
const LEFT: JsonObject = {
  'f:spec': {
    'f:replicas': {},
    'f:template': { 'f:spec': { 'f:containers': { [CONTAINER]: { '.': {}, 'f:name': {} } } } },
  },
};
const IMAGE = { field: '.spec.template.spec.containers[name="app"].image', manager: 'kubectl-set' };
const PAUSED = { field: '.spec.paused', manager: 'rival' };

function entry(manager: string, time: string, fieldsV1: JsonObject = {}): ManagedFieldsEntry {
  return { manager, operation: manager === 'espalier' ? 'Apply' : 'Update', apiVersion: 'apps/v1', time, fieldsV1 };
}

function asked(over: Partial<TakeBackInput>): boolean {
  return wereOurs({
    conflicts: [IMAGE],
    sameDeclaration: false,
    recordedHash: hashFields(APPLIED),
    recorded: APPLIED,
    managedFields: [entry('espalier', '2026-11-18T09:00:00Z', LEFT), entry('kubectl-set', '2026-11-18T10:00:00Z')],
    manager: 'espalier',
    ...over,
  });
}

describe('fields that the API server refuses us', () => {
  it('were ours when our last apply left them in our name', () => assert.ok(asked({})));
  it('were not ours when we never had them, whoever took others', () => assert.ok(!asked({ conflicts: [PAUSED] })));
  it('were not ours when one of them was not', () => assert.ok(!asked({ conflicts: [IMAGE, PAUSED] })));
  it('were not ours when nothing was taken from us', () =>
    assert.ok(!asked({ managedFields: [entry('espalier', '2026-11-18T09:00:00Z', APPLIED)] })));
  it('were ours when the declaration has not changed since', () =>
    assert.ok(asked({ sameDeclaration: true, recorded: undefined })));
  it('are nobody of ours where we never wrote the object', () =>
    assert.ok(!asked({ sameDeclaration: true, recordedHash: undefined })));
  it('are none when the server names none', () => assert.ok(!asked({ conflicts: [], sameDeclaration: true })));

  it('count as ours after a restart when who holds them wrote after us', () =>
    assert.ok(asked({ recorded: undefined })));
  it('count as theirs after a restart when who holds them wrote before us', () => {
    const managedFields = [
      entry('espalier', '2026-11-18T09:00:00Z', LEFT),
      entry('kubectl-set', '2026-11-18T08:00:00Z'),
    ];
    assert.ok(!asked({ recorded: undefined, managedFields }));
  });
});
