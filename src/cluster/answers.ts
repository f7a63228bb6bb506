import type { KubeObject, ObjectRef } from '../api/index.ts';
import type { Answer } from './exchange.ts';
import { badAnswer, type Subject } from './failure.ts';
import { isRecord } from './json.ts';
import type { ApiResource, Verb } from './kubeclient.ts';
import { isObjectBody } from './list.ts';
import { readStatus } from './status.ts';

/** A 404 that speaks of some object, and not of a path that is not served. */
export function namesAnObject(answer: Answer): boolean {
  const status = readStatus(answer.body);
  return status?.reason === 'NotFound' && status.details.name !== undefined && status.details.kind !== undefined;
}

/** The API server says that this very object is missing, and not its namespace, its kind or a whole API. */
export function isAbsence(answer: Answer, resource: ApiResource, ref: ObjectRef): boolean {
  const status = readStatus(answer.body);
  if (status?.reason !== 'NotFound' || status.details.name !== ref.name) return false;
  const kind = status.details.kind?.toLowerCase() ?? '';
  return kind === resource.plural || kind === resource.kind.toLowerCase() || kind.startsWith(`${resource.plural}.`);
}

export function readObject(verb: Verb, subject: Subject, answer: Answer): KubeObject {
  const parsed = parseJson(verb, subject, answer);
  if (!isObjectBody(parsed) || typeof parsed.apiVersion !== 'string' || typeof parsed.kind !== 'string') {
    throw badAnswer(verb, subject, 'the answer is not an object');
  }
  return { ...parsed, apiVersion: parsed.apiVersion, kind: parsed.kind };
}

/** The API server answers a delete with a success, or with the object when something still holds it. */
export function readDeletion(subject: Subject, answer: Answer): 'deleted' {
  const parsed = parseJson('delete', subject, answer);
  const accepted = isRecord(parsed) && parsed.kind === 'Status' ? parsed.status === 'Success' : isObjectBody(parsed);
  if (!accepted) throw badAnswer('delete', subject, 'the answer does not say that it is deleted');
  return 'deleted';
}

export function parseJson(verb: Verb, subject: Subject, answer: Answer): unknown {
  try {
    return JSON.parse(answer.body);
  } catch {
    throw badAnswer(verb, subject, 'the answer is not JSON, or broke off');
  }
}
