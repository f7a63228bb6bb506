import { ANNOTATION, EspalierError, isError, type Plugin } from '../api/index.ts';
import { locateValue, type SourceFile } from '../declare/locate-value.ts';
import { originFiles } from '../declare/origin.ts';
import type { SchemaFault } from '../render/schema-faults.ts';

/** Values that a chart's schema refuses, with the file and line that say them. Any other error is passed on. */
export async function withPlaces(
  error: unknown,
  plugin: Plugin,
  read: ((file: string) => Promise<Uint8Array | undefined>) | undefined,
): Promise<unknown> {
  const faults = isError(error, 'ValuesRefused') ? (error.data.faults as SchemaFault[]) : [];
  const names = originFiles(plugin.metadata.annotations?.[ANNOTATION.origin]);
  if (faults.length === 0 || read === undefined || names.length === 0) return error;
  const files: SourceFile[] = [];
  for (const file of names) {
    const bytes = await read(file).catch(() => undefined);
    if (bytes !== undefined) files.push({ file, bytes });
  }
  const told = faults.map(({ chart, pointer, message }) => {
    const place = locateValue(files, 'Plugin', plugin.metadata.name, `/spec/values${pointer}`);
    const what = `values${pointer.replaceAll('/', '.')}: ${message} (values.schema.json of chart ${chart})`;
    return place === undefined ? what : `${place}: ${what}`;
  });
  return new EspalierError('ValuesRefused', told.join('; '), { cause: error, data: { faults }, retry: false });
}
