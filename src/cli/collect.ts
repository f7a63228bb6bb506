import { EspalierError } from '../api/errors.ts';

/** For an option that may be given more than once: a list in one go would swallow the argument that follows it. */
export function addName(name: string, names: readonly string[] = []): string[] {
  return [...names, name];
}

/** The same for `key=value`. */
export function addLabel(text: string, labels: Record<string, string>): Record<string, string> {
  const [, key, value] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new EspalierError('InvalidConfiguration', `--label ${text}: write it as key=value`, { retry: false });
  }
  return { ...labels, [key]: value };
}
