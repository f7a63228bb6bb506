import { EspalierError, type JsonObject } from '../api/index.ts';
import { isMap } from './merge.ts';
import { parseYaml } from './yaml-text.ts';

/**
 * Reads a document of values, such as a key `values.yaml` of a Secret; nothing in it is no values. Throws for what is
 * no map; the error says where and never what, because the text may be secret.
 */
export function parseValues(text: string): JsonObject {
  const { documents, broken } = parseYaml(text);
  const [document, second] = documents;
  const fault = broken ?? document?.faults[0];
  if (fault !== undefined) throw notValues(`is not usable at line ${fault.line}, column ${fault.column}`);
  if (second !== undefined) throw notValues('holds more than one document');
  if (document === undefined) return {};
  if (!isMap(document.value)) throw notValues('is no map of names to values');
  return document.value;
}

function notValues(what: string): EspalierError {
  return new EspalierError(
    'InvalidConfiguration',
    `The values document ${what}. Write YAML or JSON such as "replicas: 2".`,
    { retry: false },
  );
}
