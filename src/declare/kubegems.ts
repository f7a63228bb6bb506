import type { JsonObject, KubeObject } from '../api/index.ts';
import { type Translation, translateKubegems } from '../compat/kubegems.ts';
import { isKubegems } from '../compat/kubegems-kind.ts';
import { isMap, valueAt } from './merge.ts';

/** Parsed content is kept from read to read, and so is what it means. */
const translated = new WeakMap<JsonObject, Translation>();

/** What a declaration of KubeGems means as one of ours; undefined for what is ours already. */
export function asOurs(value: JsonObject): Translation | undefined {
  if (!isKubegems(value) || !isMap(value.metadata)) return undefined;
  const known = translated.get(value);
  if (known !== undefined) return known;
  const made = translateKubegems(value as unknown as KubeObject, { inRepository: true });
  translated.set(value, made);
  return made;
}

/** The form that people wrote it in, for messages. */
export function formOf(value: JsonObject): string {
  return `${valueAt(value, 'apiVersion')} ${valueAt(value, 'kind')}`;
}
