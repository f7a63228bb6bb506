import { EspalierError, type JsonObject, type KubeObject } from '../api/index.ts';
import type { Checked } from './check.ts';
import type { Declared, Origin } from './declarations.ts';
import type { Draft, Part } from './drafts.ts';
import type { Fault } from './fault.ts';
import { inputsOf } from './inputs.ts';
import type { Pinned } from './sources.ts';

export type Check = (draft: Draft, value: JsonObject) => Checked;
export type Pin = (draft: Draft, checked: Extract<Checked, { object: KubeObject }>) => Promise<Pinned>;

/** A draft as a declared object, or what is wrong with it; undefined when an overlay took it out. */
export async function finishDraft(
  draft: Draft,
  check: Check,
  pin: Pin,
): Promise<Declared | { faults: Fault[] } | undefined> {
  if (draft.value === undefined && draft.faults.length === 0) return undefined;
  const checked = check(draft, draft.value ?? {});
  if ('faults' in checked) return checked;
  const pinned = await pin(draft, checked);
  if ('faults' in pinned) return pinned;
  const parts = draft.parts.map(placeOf);
  const [origin] = parts;
  if (origin === undefined) throw new EspalierError('Internal', `${draft.key} has no origin.`);
  const { paths } = pinned;
  const object = { ...pinned.object, metadata: { ...pinned.object.metadata } };
  return { key: draft.key, object, origin, parts, inputs: inputsOf(object), paths };
}

function placeOf({ file, line, column }: Part): Origin {
  return { file, line, column };
}
