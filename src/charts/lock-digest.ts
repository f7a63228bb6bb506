import { createHash } from 'node:crypto';
import type { ChartDependency } from './chart-yaml.ts';
import { listIn } from './text-yaml.ts';

/** The digest that Helm writes into Chart.lock: of the dependencies as they are asked for and as they were found. */
export function lockDigest(asked: readonly ChartDependency[], locked: readonly ChartDependency[]): string {
  const json = JSON.stringify([asked.map(asGo), locked.map(asGo)]);
  // Go's encoder keeps JSON safe within HTML.
  const safe = json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `sha256:${createHash('sha256').update(safe).digest('hex')}`;
}

/** The fields in Helm's order, the empty ones left out as there. */
function asGo({ name, version, repository, written }: ChartDependency): Record<string, unknown> {
  const text = (key: string): Record<string, string> =>
    typeof written[key] === 'string' && written[key] !== '' ? { [key]: written[key] } : {};
  const list = (key: string): Record<string, unknown> =>
    listIn(written[key]).length > 0 ? { [key]: listIn(written[key]).map(sorted) } : {};
  return {
    name,
    ...(version === '' ? {} : { version }),
    repository,
    ...text('condition'),
    ...list('tags'),
    ...(written.enabled === 'true' ? { enabled: true } : {}),
    ...list('import-values'),
    ...text('alias'),
  };
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
