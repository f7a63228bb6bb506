import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { EspalierError, type KubeObject, messageOf, readAs, type Sync, validateObject } from '../api/index.ts';

/** The one Sync that a file holds, with its faults named: for where no cluster is to be asked. */
export async function readSettings(file: string): Promise<Sync> {
  const wrong = (why: string) =>
    new EspalierError('InvalidConfiguration', `--settings ${file}: ${why}`, { retry: false });
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw wrong(messageOf(error));
  });
  const documents = parseAllDocuments(text);
  const broken = documents.flatMap(({ errors }) => errors)[0];
  if (broken !== undefined) throw wrong(messageOf(broken).split('\n')[0] ?? 'is no YAML');
  const objects = documents.map((document): unknown => document.toJS());
  const syncs = objects.filter((object) => (object as Partial<KubeObject> | null)?.kind === 'Sync');
  const [sync, ...others] = syncs;
  if (sync === undefined || others.length > 0)
    throw wrong(`it holds ${syncs.length === 0 ? 'no Sync' : `${syncs.length} Syncs, and one is wanted`}`);
  const [violation] = validateObject(sync);
  if (violation !== undefined) throw wrong(`${violation.path} ${violation.message}`);
  return readAs(sync as KubeObject, 'Sync');
}
