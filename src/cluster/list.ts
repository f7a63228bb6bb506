import { EspalierError, type KubeObject, type ObjectMeta } from '../api/index.ts';
import { badAnswer, type Subject } from './failure.ts';
import { isRecord } from './json.ts';
import type { ListTarget, PageHandler } from './kubeclient.ts';

const PAGE_SIZE = 500;
/** After this many expired continuations the list is asked for in one piece, which can't expire. */
const MOST_RESTARTS = 2;

export const METADATA_LIST_ACCEPT = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

export interface Page {
  items: KubeObject[];
  resourceVersion: string;
  next: string | undefined;
}

/** Gets the page that `next` leads to. */
export type FetchPage = (query: { limit?: string; continue?: string }) => Promise<Page>;

/** Walks all pages. The answer is complete or an error: a list that breaks off is never taken for a short one. */
export async function walkPages(
  fetchPage: FetchPage,
  onPage: PageHandler,
  pageSize = PAGE_SIZE,
): Promise<{ resourceVersion: string }> {
  for (let restarts = 0; ; restarts++) {
    const limit = restarts > MOST_RESTARTS ? {} : { limit: String(pageSize) };
    let restarted = restarts > 0;
    let next: string | undefined;
    try {
      do {
        const page = await fetchPage({ ...limit, ...(next === undefined ? {} : { continue: next }) });
        onPage(page.items, { restarted });
        restarted = false;
        next = page.next;
        if (next === undefined) return { resourceVersion: page.resourceVersion };
      } while (next !== undefined);
    } catch (error) {
      const expired = error instanceof EspalierError && error.code === 'KubeGone' && next !== undefined;
      if (!expired || restarts > MOST_RESTARTS) throw error;
    }
  }
}

/** Checks that the answer is a whole list of this kind, and gives each item the apiVersion and kind that lists leave out. */
export function readPage(body: string, target: ListTarget, subject: Subject): Page {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch {
    throw badAnswer('list', subject, 'the answer is not JSON, or broke off');
  }
  if (!isRecord(document) || typeof document.kind !== 'string' || !document.kind.endsWith('List')) {
    throw badAnswer('list', subject, 'the answer is not a list');
  }
  const metadata = isRecord(document.metadata) ? document.metadata : {};
  const { resourceVersion } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw badAnswer('list', subject, 'the list has no resourceVersion');
  }
  // Servers written in Go send an empty list as null.
  const items = document.items ?? [];
  if (!Array.isArray(items)) throw badAnswer('list', subject, 'the list has no items');
  return {
    items: items.map((item) => readItem(item, target, subject)),
    resourceVersion,
    next: typeof metadata.continue === 'string' && metadata.continue !== '' ? metadata.continue : undefined,
  };
}

function readItem(item: unknown, target: ListTarget, subject: Subject): KubeObject {
  if (!isObjectBody(item)) throw badAnswer('list', subject, 'an item of the list has no name');
  const { apiVersion, kind } = target;
  return { ...item, apiVersion, kind };
}

/** Whether it has the metadata that every object has. */
export function isObjectBody(value: unknown): value is { metadata: ObjectMeta } & Record<string, unknown> {
  return isRecord(value) && isRecord(value.metadata) && typeof value.metadata.name === 'string';
}
