import { parseAllDocuments } from 'yaml';
import { GROUP } from '../../../src/api/index.ts';
import { ANY } from './difference.ts';
import type { PlainHelm } from './helm.ts';
import { neutral, type Place } from './live-state.ts';

interface Listed {
  name: string;
  revision: string;
  updated: string;
}

interface Facts {
  deployedAt: string;
  labels?: Record<string, string>;
}

interface Revision {
  revision: number;
  updated: string;
}

/** What Helm itself tells of a release: times left out, manifests read, our own labels taken away. */
export async function helmState(helm: PlainHelm, name: string, place: Place): Promise<Record<string, unknown>> {
  const listed = await helm.json<Listed[]>('list');
  const list = listed.map(({ updated: _, ...rest }) => rest);
  if (!listed.some((one) => one.name === name)) return { list };
  const revisions = await helm.json<Revision[]>('history', name);
  const [values, all, notes, manifest, hooks, metadata] = await Promise.all([
    helm.json('get', 'values', name),
    helm.json('get', 'values', name, '--all'),
    helm('get', 'notes', name),
    helm('get', 'manifest', name),
    helm('get', 'hooks', name),
    helm.json<Facts>('get', 'metadata', name),
  ]);
  const { deployedAt: _, labels, ...others } = metadata;
  const facts = { ...others, labels: { ...labels, ...(labels?.modifiedAt === undefined ? {} : { modifiedAt: ANY }) } };
  const state = {
    list,
    history: revisions.map(({ updated, ...rest }) => rest),
    values,
    'all values': all,
    notes,
    manifest: documentsOf(manifest),
    hooks: documentsOf(hooks),
    metadata: facts,
  };
  return JSON.parse(neutral(JSON.stringify(state), place)) as Record<string, unknown>;
}

/** The objects of a manifest by kind and name; several of one name are told apart by a number. */
function documentsOf(text: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const document of parseAllDocuments(text, { version: '1.1', merge: true, logLevel: 'error' })) {
    const object = document.toJS() as KubeLike | null;
    if (object === null) continue;
    const base = `${object.kind} ${object.metadata?.name ?? ''}`;
    let key = base;
    for (let number = 2; key in found; number++) key = `${base} ${number}`;
    found[key] = withoutOurs(object);
  }
  return found;
}

interface KubeLike {
  kind?: string;
  metadata?: { name?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

function withoutOurs(object: KubeLike): unknown {
  const { labels, annotations, ...metadata } = object.metadata ?? {};
  const [ownLabels, ownAnnotations] = [filtered(labels), filtered(annotations)];
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(ownLabels === undefined ? {} : { labels: ownLabels }),
      ...(ownAnnotations === undefined ? {} : { annotations: ownAnnotations }),
    },
  };
}

/** Whether a chart wrote an empty map or none is no difference. */
function filtered(map: Record<string, string> | null | undefined): Record<string, string> | undefined {
  const left = Object.entries(map ?? {}).filter(([key]) => !key.startsWith(`${GROUP}/`));
  return left.length === 0 ? undefined : Object.fromEntries(left);
}
