import { parse, parseAllDocuments } from 'yaml';
import { GROUP } from '../../../src/api/index.ts';
import { ANY } from './difference.ts';
import type { PlainHelm } from './helm.ts';
import { neutral, type Place } from './live-state.ts';

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
  const found = await helm.ending('history', name, '-o', 'json');
  // What `helm list` tells of a release is told by the other commands as well; that there is none, by it alone.
  if (found.code !== 0) return { list: await helm.json('list') };
  const revisions: Revision[] = JSON.parse(found.stdout);
  const [all, metadata] = await Promise.all([helm('get', 'all', name), helm.json<Facts>('get', 'metadata', name)]);
  const told = sectionsOf(all);
  const { deployedAt: _, labels, ...others } = metadata;
  const facts = {
    ...others,
    labels: { ...filtered(labels), ...(labels?.modifiedAt === undefined ? {} : { modifiedAt: ANY }) },
  };
  const state = {
    history: revisions.map(({ updated, ...rest }) => rest),
    values: parse(told['USER-SUPPLIED VALUES'] ?? ''),
    'all values': parse(told['COMPUTED VALUES'] ?? ''),
    notes: told.NOTES,
    manifest: documentsOf(told.MANIFEST ?? '', place.namespace),
    hooks: documentsOf(told.HOOKS ?? '', place.namespace),
    metadata: facts,
  };
  return JSON.parse(neutral(JSON.stringify(state), place)) as Record<string, unknown>;
}

/** What `helm get all` prints: the answers of five other commands, each under its title, in one process. */
function sectionsOf(all: string): Record<string, string> {
  const [, ...parts] = all.split(/^(USER-SUPPLIED VALUES|COMPUTED VALUES|HOOKS|MANIFEST|NOTES):\n/m);
  return Object.fromEntries(parts.flatMap((title, at) => (at % 2 === 0 ? [[title, parts[at + 1] ?? '']] : [])));
}

/** The objects of a manifest by kind and name, those of lists too; several of one name are told apart by a number. */
function documentsOf(text: string, namespace: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const document of parseAllDocuments(text, { version: '1.1', merge: true, logLevel: 'error' })) {
    for (const object of membersOf(document.toJS() as KubeLike | null)) {
      const base = `${object.kind} ${object.metadata?.name ?? ''}`;
      let key = base;
      for (let number = 2; key in found; number++) key = `${base} ${number}`;
      found[key] = readAlike(withoutOurs(object, namespace));
    }
  }
  return found;
}

function membersOf(object: (KubeLike & { items?: KubeLike[] }) | null): KubeLike[] {
  if (object === null) return [];
  return object.kind === 'List' ? (object.items ?? []).flatMap(membersOf) : [object];
}

/** Helm reads the octal numbers of both versions of YAML; text of a Secret is kept as data. */
function readAlike(object: unknown): unknown {
  const read = JSON.parse(JSON.stringify(object), (_, value) =>
    typeof value === 'string' && /^0o[0-7]+$/.test(value) ? Number(value) : value,
  );
  if (read.kind !== 'Secret' || read.stringData === undefined) return read;
  const { stringData, data, ...others } = read;
  const texts = Object.entries(stringData as Record<string, string>);
  const encoded = texts.map(([key, text]) => [key, Buffer.from(String(text)).toString('base64')]);
  return { ...others, data: { ...data, ...Object.fromEntries(encoded) } };
}

interface KubeLike {
  kind?: string;
  metadata?: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
}

/** Whether the release's own namespace is said or left out is no difference. */
function withoutOurs(object: KubeLike, own: string): unknown {
  const { labels, annotations, namespace, ...metadata } = object.metadata ?? {};
  const [ownLabels, ownAnnotations] = [filtered(labels), filtered(annotations)];
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(namespace === undefined || namespace === own ? {} : { namespace }),
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
