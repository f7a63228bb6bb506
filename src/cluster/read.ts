import { EspalierError, type KubeObject, type ObjectRef } from '../api/index.ts';
import { isAbsence, readObject } from './answers.ts';
import type { Discovery } from './discovery.ts';
import { answerFailure } from './failure.ts';
import type {
  CallOptions,
  ListOptions,
  ListTarget,
  ObjectList,
  PageHandler,
  WatchStreamOptions,
} from './kubeclient.ts';
import { METADATA_LIST_ACCEPT, readPage, walkPages } from './list.ts';
import { collectionPath, objectPath } from './paths.ts';
import type { KindSubject, Perform } from './perform.ts';
import type { Acting, Requester } from './requester.ts';
import { openWatchStream, streamSeconds } from './watchstream.ts';

const METADATA_WATCH_ACCEPT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

export async function get(perform: Perform, ref: ObjectRef, options?: CallOptions): Promise<KubeObject | undefined> {
  const { answer, resource } = await perform('get', ref, options, (found) => ({
    method: 'GET',
    path: objectPath(found, ref.namespace, ref.name),
    repeat: 'repeatable',
  }));
  if (answer.status !== 404) return readObject('get', ref, answer);
  if (isAbsence(answer, resource, ref)) return undefined;
  throw answerFailure('get', ref, answer);
}

export function pages(
  perform: Perform,
  target: ListTarget,
  onPage: PageHandler,
  options: ListOptions = {},
): Promise<{ resourceVersion: string }> {
  const subject = subjectOf(target);
  return walkPages(
    async (position) => {
      const { answer } = await perform('list', subject, options, (resource) => ({
        method: 'GET',
        path: collectionPath(resource, target.namespace),
        query: { ...selectors(target), ...position },
        ...(target.metadataOnly === true ? { headers: { accept: METADATA_LIST_ACCEPT } } : {}),
        repeat: 'repeatable',
      }));
      if (answer.status === 404) throw answerFailure('list', subject, answer);
      return readPage(answer.body, target, subject);
    },
    onPage,
    options.pageSize,
  );
}

export async function list(perform: Perform, target: ListTarget, options?: ListOptions): Promise<ObjectList> {
  const items: KubeObject[] = [];
  const { resourceVersion } = await pages(
    perform,
    target,
    (page, { restarted }) => {
      if (restarted) items.length = 0;
      for (const item of page) items.push(item);
    },
    options,
  );
  return { items, resourceVersion };
}

export interface WatchParts {
  requester: Requester;
  discovery: Discovery;
  random: () => number;
  acting: Acting;
}

export async function watchOnce(parts: WatchParts, target: ListTarget, options: WatchStreamOptions): Promise<void> {
  const { requester, discovery, acting } = parts;
  const subject = subjectOf(target);
  const resource = await discovery.resource(target.apiVersion, target.kind, options.signal);
  const timeoutSeconds = options.timeoutSeconds ?? streamSeconds(requester.sharesWatches(acting), parts.random);
  const stream = openWatchStream(target, subject, { ...options, timeoutSeconds });
  try {
    await requester.stream(
      {
        verb: 'watch',
        subject,
        method: 'GET',
        path: collectionPath(resource, target.namespace),
        query: {
          ...selectors(target),
          watch: '1',
          allowWatchBookmarks: 'true',
          resourceVersion: options.resourceVersion,
          timeoutSeconds: String(timeoutSeconds),
        },
        ...(target.metadataOnly === true ? { headers: { accept: METADATA_WATCH_ACCEPT } } : {}),
        repeat: 'once',
        options: { signal: stream.signal },
      },
      acting,
      stream.sink,
    );
  } catch (error) {
    // Whether the kind is gone or only its path: discovery looks anew before the next try.
    if (error instanceof EspalierError && error.code === 'KubeNotFound') discovery.distrust(target.apiVersion);
    throw stream.failure() ?? error;
  } finally {
    stream.end();
  }
}

function selectors(target: ListTarget): Record<string, string | undefined> {
  return { labelSelector: target.labelSelector, fieldSelector: target.fieldSelector };
}

function subjectOf({ apiVersion, kind, namespace }: ListTarget): KindSubject {
  return namespace === undefined ? { apiVersion, kind } : { apiVersion, kind, namespace };
}
