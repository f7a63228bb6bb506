import { EspalierError } from '../api/index.ts';
import { namesAnObject } from './answers.ts';
import type { Discovery } from './discovery.ts';
import type { Answer } from './exchange.ts';
import { answerFailure, type Subject } from './failure.ts';
import type { ApiResource, CallOptions, Verb } from './kubeclient.ts';
import type { Acting, KubeRequest, Requester } from './requester.ts';

export type KindSubject = Subject & { apiVersion: string; kind: string };

/** A request whose path depends on how the kind is served. */
export type RequestFor = (resource: ApiResource) => Omit<KubeRequest, 'verb' | 'subject' | 'accept' | 'options'>;

/** Runs a request about a kind. A 404 that speaks of an object is given back: what it means is up to the caller. */
export type Perform = (
  verb: Verb,
  subject: KindSubject,
  options: CallOptions | undefined,
  build: RequestFor,
) => Promise<{ answer: Answer; resource: ApiResource }>;

/**
 * A 404 for the path itself means that what we knew of the kind is outdated: then once more with fresh discovery, which
 * fails by itself when the kind is gone.
 */
export function createPerform(requester: Requester, discovery: Discovery, acting: Acting): Perform {
  return async (verb, subject, options, build) => {
    for (let again = false; ; again = true) {
      const resource = await discovery.resource(subject.apiVersion, subject.kind, options?.signal);
      const request = { ...build(resource), verb, subject, options, accept: (status: number) => status === 404 };
      const answer = await requester.send(request, acting);
      if (answer.status !== 404 || namesAnObject(answer)) return { answer, resource };
      if (again) throw listedButNotServed(verb, subject, answer);
      discovery.distrust(subject.apiVersion);
    }
  };
}

function listedButNotServed(verb: Verb, subject: KindSubject, answer: Answer): EspalierError {
  const { message } = answerFailure(verb, subject, answer);
  return new EspalierError('KubeServerError', `${message}: the API server lists the kind but does not serve it`, {
    data: { status: 404, apiVersion: subject.apiVersion, kind: subject.kind },
  });
}
