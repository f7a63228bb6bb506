import { createContext, Script } from 'node:vm';
import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { KubeObject } from '../api/index.ts';
import type { Health } from './health-facts.ts';
import { isRecord } from './json.ts';

/** By the clock on the wall: a busy machine may hold up an honest expression for a while. Then it is tried again. */
const TIMEOUT_MS = 250;
const MOST_TRIES = 3;
const TIMED_OUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT';
/** An expression that ran out of time this often in a row rests before it is tried again. */
const STRIKES = 3;
const REST_MS = 10 * 60_000;
const MOST_CACHED = 1_000;

const environment = new Environment({
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1_000, maxDepth: 50, maxListElements: 200, maxMapEntries: 200, maxCallArguments: 16 },
});
for (const name of ['self', 'apiVersion', 'kind', 'metadata', 'spec', 'status', 'data']) {
  environment.registerVariable(name, 'dyn');
}

interface Compiled {
  run: ParseResult | undefined;
  fault: string;
  strikes: number;
  restsUntil: number;
}

const cache = new Map<string, Compiled>();

/**
 * Health by a CEL expression over `self` and its top-level fields (`status.phase == 'Running'`). True is healthy, false or
 * a field that is not there yet is progressing, and anything else that goes wrong is unknown, with the reason.
 */
export function celHealth(object: KubeObject, expression: string): Health {
  const compiled = compile(expression);
  if (compiled.run === undefined)
    return { state: 'unknown', message: `the health expression is wrong: ${compiled.fault}` };
  if (compiled.restsUntil > Date.now()) return { state: 'unknown', message: 'the health expression takes too long' };
  try {
    const result = bounded(compiled.run, variables(object));
    compiled.strikes = 0;
    if (typeof result === 'boolean') {
      return result
        ? { state: 'healthy', message: 'its health expression holds' }
        : { state: 'progressing', message: `its health expression does not hold yet: ${expression}` };
    }
    return { state: 'unknown', message: `the health expression gives ${typeof result} and not true or false` };
  } catch (error) {
    const code = codeOf(error);
    if (code === TIMED_OUT) {
      compiled.strikes++;
      if (compiled.strikes >= STRIKES) compiled.restsUntil = Date.now() + REST_MS;
      return { state: 'unknown', message: `the health expression took longer than ${TIMEOUT_MS} ms` };
    }
    if (code === 'no_such_key' || code === 'index_out_of_bounds') {
      return { state: 'progressing', message: `not reported yet: ${summary(error)}` };
    }
    return { state: 'unknown', message: `the health expression failed: ${summary(error)}` };
  }
}

/** What is wrong with an expression, before there is an object to try it on; undefined when it compiles. */
export function celFault(expression: string): string | undefined {
  const { run, fault } = compile(expression);
  return run === undefined ? fault : undefined;
}

function compile(expression: string): Compiled {
  const held = cache.get(expression);
  if (held !== undefined) return held;
  const compiled: Compiled = { run: undefined, fault: '', strikes: 0, restsUntil: 0 };
  try {
    const parsed = environment.parse(expression);
    const check = parsed.check();
    if (check.valid) compiled.run = parsed;
    else compiled.fault = summary(check.error);
  } catch (error) {
    compiled.fault = summary(error);
  }
  const oldest = cache.keys().next();
  if (cache.size >= MOST_CACHED && !oldest.done) cache.delete(oldest.value);
  cache.set(expression, compiled);
  return compiled;
}

const box: { run: () => unknown } = { run: () => undefined };
const context = createContext(box);
const script = new Script('run()');

/** CEL always ends, but may take its time over nested lists or a regular expression: V8 stops it for us. */
function bounded(run: ParseResult, values: Record<string, unknown>): unknown {
  box.run = () => run(values);
  try {
    for (let tries = 1; ; tries++) {
      const before = workedMs();
      try {
        return script.runInContext(context, { timeout: TIMEOUT_MS });
      } catch (error) {
        const wasHeldUp = workedMs() - before < TIMEOUT_MS / 2;
        if (codeOf(error) !== TIMED_OUT || !wasHeldUp || tries === MOST_TRIES) throw error;
      }
    }
  } finally {
    box.run = () => undefined;
  }
}

/** Time on a processor. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function variables(object: KubeObject): Record<string, unknown> {
  const self = toCel(object);
  // What nobody has written yet is empty, so `has(status.x)` is false and not an error.
  return { metadata: {}, spec: {}, status: {}, data: {}, ...(isRecord(self) ? self : {}), self };
}

/** JSON has one kind of number, CEL has int and double: whole numbers are ints, as in Kubernetes' own CEL. */
function toCel(value: unknown): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(toCel);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toCel(each)]));
}

function codeOf(error: unknown): string {
  return isRecord(error) && typeof error.code === 'string' ? error.code : '';
}

/** Without the picture of the expression that the library draws below its message. */
function summary(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? text;
}
