import { EspalierError, type Json, type JsonObject } from '../../api/index.ts';
import { DEPENDENCY_FILES } from '../../release/made-of.ts';
import type { Release } from '../../release/record.ts';
import { at, isMap, listAt, mapAt, textAt } from './read.ts';

/** A chart as a record holds it: its own files, and of the charts in it only what Chart.yaml and Chart.lock say. */
export interface RecordedChart {
  name: string;
  version: string;
  files: Map<string, string | Uint8Array>;
  /** Charts that it is made of. Helm does not write them into a record. */
  dependencies: JsonObject[];
  /** `dependencies` of its Chart.lock. */
  locked: JsonObject[];
}

/** Takes the chart out of a record, as the folder that it was packed from. */
export function chartOf(release: Release, printYaml: (value: Json) => string): RecordedChart {
  const { chart } = release;
  const metadata = mapAt(chart, 'metadata');
  const [name, version] = [textAt(metadata, 'name'), textAt(metadata, 'version')];
  if (metadata === undefined || name === undefined || version === undefined)
    throw unreadable(release, 'it names no chart');
  const files = new Map<string, string | Uint8Array>();
  const dependencies = listAt(metadata, 'dependencies').filter(isMap);
  // With its dependencies in Chart.yaml it is of the newer API version.
  const apiVersion = dependencies.length > 0 ? { apiVersion: 'v2' } : {};
  files.set('Chart.yaml', printYaml({ ...metadata, ...apiVersion }));
  files.set('values.yaml', printYaml(mapAt(chart, 'values') ?? {}));
  const schema = textAt(chart, 'schema');
  if (schema !== undefined) files.set('values.schema.json', Buffer.from(schema, 'base64'));
  for (const file of [...listAt(chart, 'templates'), ...listAt(chart, 'files')]) {
    const path = textAt(file, 'name') ?? '';
    if (DEPENDENCY_FILES.includes(path)) continue;
    if (!isInside(path)) throw unreadable(release, `its chart has a file called ${JSON.stringify(path.slice(0, 80))}`);
    const data = at(file, 'data');
    files.set(path, Buffer.from(typeof data === 'string' ? data : '', 'base64'));
  }
  return { name, version, files, dependencies, locked: listAt(chart, 'lock', 'dependencies').filter(isMap) };
}

/** A record is what somebody wrote into a Secret: its paths are not to be believed. */
function isInside(path: string): boolean {
  const names = path.split('/');
  return (
    path.length < 1024 &&
    !path.includes('\\') &&
    names.every((name) => name !== '' && name !== '.' && name !== '..' && !name.includes('\0'))
  );
}

function unreadable({ name, version }: Release, why: string): EspalierError {
  return new EspalierError('ReleaseUnreadable', `revision ${version} of release ${name}: ${why}`, { retry: false });
}
