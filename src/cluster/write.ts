import { EspalierError, type Json, type KubeObject, type ObjectRef, refOf } from '../api/index.ts';
import { isAbsence, readDeletion, readObject } from './answers.ts';
import { answerFailure } from './failure.ts';
import type { DeleteOptions, PatchOptions, Verb, WriteOptions } from './kubeclient.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { Perform } from './perform.ts';

const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

interface Write {
  method: 'POST' | 'PUT' | 'PATCH';
  contentType: string;
  body: string;
  repeatable?: boolean;
  force?: boolean | undefined;
}

export function create(perform: Perform, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
  return write(perform, 'create', refOf(object), options, {
    method: 'POST',
    contentType: 'application/json',
    body: JSON.stringify(object),
  });
}

export async function update(perform: Perform, object: KubeObject, options: WriteOptions = {}): Promise<KubeObject> {
  const ref = refOf(object);
  if (object.metadata.resourceVersion === undefined) {
    throw new EspalierError(
      'KubeInvalid',
      `update ${ref.kind} ${ref.name}: without metadata.resourceVersion it would overwrite what others wrote`,
      { retry: false },
    );
  }
  return write(perform, 'update', ref, options, {
    method: 'PUT',
    contentType: 'application/json',
    body: JSON.stringify(object),
  });
}

export function patch(
  perform: Perform,
  ref: ObjectRef,
  body: Json | KubeObject,
  options: PatchOptions,
): Promise<KubeObject> {
  const applies = options.type === 'apply';
  return write(perform, applies ? 'apply' : 'patch', ref, options, {
    method: 'PATCH',
    contentType: PATCH_TYPES[options.type],
    body: JSON.stringify(body),
    repeatable: applies,
    force: options.force,
  });
}

async function write(
  perform: Perform,
  verb: Verb,
  ref: ObjectRef,
  options: WriteOptions,
  { method, contentType, body, repeatable, force }: Write,
): Promise<KubeObject> {
  const dryRun = options.dryRun === true;
  const { answer } = await perform(verb, ref, options, (resource) => ({
    method,
    path:
      method === 'POST'
        ? collectionPath(resource, ref.namespace)
        : objectPath(resource, ref.namespace, ref.name, options.subresource),
    query: {
      dryRun: dryRun ? 'All' : undefined,
      fieldManager: options.fieldManager,
      fieldValidation: options.fieldValidation,
      force: force === undefined ? undefined : String(force),
    },
    headers: { 'content-type': contentType },
    body,
    repeat: repeatable === true || dryRun ? 'repeatable' : 'once',
    mutating: !dryRun,
  }));
  if (answer.status === 404) throw answerFailure(verb, ref, answer);
  return readObject(verb, ref, answer);
}

export async function remove(
  perform: Perform,
  ref: ObjectRef,
  options: DeleteOptions = {},
): Promise<'deleted' | 'absent'> {
  const dryRun = options.dryRun === true;
  const { answer, resource } = await perform('delete', ref, options, (found) => ({
    method: 'DELETE',
    path: objectPath(found, ref.namespace, ref.name),
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(deleteBody(options)),
    // Without a precondition a second try might meet a new object of the same name.
    repeat: options.uid === undefined && !dryRun ? 'once' : 'repeatable',
    mutating: !dryRun,
  }));
  if (answer.status !== 404) return readDeletion(ref, answer);
  if (isAbsence(answer, resource, ref)) return 'absent';
  throw answerFailure('delete', ref, answer);
}

function deleteBody(options: DeleteOptions): Record<string, unknown> {
  const preconditions = {
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.resourceVersion === undefined ? {} : { resourceVersion: options.resourceVersion }),
  };
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: options.propagation ?? 'Background',
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
    ...(options.dryRun === true ? { dryRun: ['All'] } : {}),
  };
}
