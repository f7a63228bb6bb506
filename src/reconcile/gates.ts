import {
  CONDITION,
  describeRef,
  findCondition,
  type Gate,
  type KubeObject,
  type Plugin,
  parseDuration,
  reportedOn,
  timestamp,
} from '../api/index.ts';
import { shorten } from '../api/one-line.ts';

const MESSAGE_LENGTH = 200;
const MINUTE_MS = 60_000;

/** Reasons of the condition Waiting while nothing but gates is waited for: their time runs then. */
const AT_GATES: readonly string[] = ['GateClosed', 'GateTimedOut'];

export interface ClosedGate {
  /** What is waited for, to be read after "waiting for". */
  text: string;
  /** When it should be open. */
  until?: number;
  /** Why it counts as failed. */
  overdue?: string;
}

export interface GateInput {
  gate: Gate;
  /** The object that the condition is of. */
  object: KubeObject | 'absent' | 'unknown';
  /** Since when nothing but gates is waited for; undefined while other things are, and in a preview. */
  since: number | undefined;
  now: number;
}

/** Why a gate is closed; undefined when it is open. */
export function closedGate({ gate, object, since, now }: GateInput): ClosedGate | undefined {
  const reported = typeof object === 'string' ? undefined : reportedOn(object, gate.condition);
  if (reported?.status === 'True') return undefined;
  const name = describeRef(gate);
  const isUnset = object !== 'unknown' && reported === undefined;
  const wish = gate.by !== undefined && isUnset ? `${gate.by} to set ${gate.condition} on ${name}` : undefined;
  const fact = `${name}: ${factOf(gate, object, reported)}`;
  const text = wish ?? fact;
  if (gate.timeout === undefined) return { text };
  if (since === undefined) return { text: `${text} (within ${gate.timeout})` };
  const until = since + parseDuration(gate.timeout);
  if (until > now) return { text: `${text} (until ${minute(until)})`, until };
  const missing = wish === undefined ? fact : `${gate.by} has not set ${gate.condition} on ${name}`;
  return { text, overdue: `not opened within ${gate.timeout}: ${missing}` };
}

/** Since when nothing but gates is waited for; undefined when that only begins. Another declaration has its own time. */
export function atGatesSince({ metadata, status }: Plugin): number | undefined {
  const waiting = findCondition(status?.conditions, CONDITION.Waiting);
  if (waiting === undefined || !AT_GATES.includes(waiting.reason)) return undefined;
  return waiting.observedGeneration === metadata.generation ? Date.parse(waiting.lastTransitionTime) : undefined;
}

/** Whether the time of gates begins with this reason, so that the condition's own time must too. */
export function beginsAtGates(plugin: Plugin, reason: string): boolean {
  return AT_GATES.includes(reason) && atGatesSince(plugin) === undefined;
}

function factOf({ by, condition }: Gate, object: GateInput['object'], reported: ReturnType<typeof reportedOn>): string {
  if (object === 'unknown') return 'not seen yet';
  if (object === 'absent') return 'does not exist';
  if (reported === undefined) return `condition ${condition} is not true`;
  const why = reported.message || reported.reason || '';
  const isNotReady = `${condition} is not ready`;
  const told = why === '' ? isNotReady : `${isNotReady}: ${shorten(why, MESSAGE_LENGTH)}`;
  return by === undefined ? told : `${by} says ${told}`;
}

/** Told to the minute: the time that a status was written first is known only afterwards, to the second. */
function minute(time: number): string {
  return timestamp(Math.ceil(time / MINUTE_MS) * MINUTE_MS).replace(/:00Z$/, 'Z');
}
