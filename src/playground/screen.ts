import { API_VERSION, type KubeObject, type Plugin, readAs, type Sync } from '../api/index.ts';
import type { KubeClient } from '../cluster/client.ts';
import { watchObjects } from '../cluster/watch.ts';
import { type Row, rowOf, tableOf } from './rows.ts';

export interface ScreenStream {
  isTTY?: boolean | undefined;
  columns?: number | undefined;
  write(text: string): unknown;
}

const REDRAW_MS = 100;

/**
 * Shows how the Plugins come up: a live table on a terminal, a line for each change elsewhere. Resolves once the Sync
 * says Ready (or that it can't be); from then on changes are told as lines on either, until the signal.
 */
export async function showPlugins(
  client: KubeClient,
  stream: ScreenStream,
  signal: AbortSignal,
): Promise<{ ready: boolean; message: string }> {
  const rows = new Map<string, Row>();
  const settled = Promise.withResolvers<{ ready: boolean; message: string }>();
  const started = Date.now();
  const seconds = (): string => `${((Date.now() - started) / 1000).toFixed(1)} s`.padStart(7);
  let live = stream.isTTY === true;
  let drawn = 0;

  const draw = (): void => {
    const text = tableOf([...rows.values()], stream.columns ?? 120);
    stream.write(`${drawn > 0 ? `\u001b[${drawn}A\u001b[J` : ''}${text}`);
    drawn = text.split('\n').length - 1;
  };
  const timer = live ? setInterval(draw, REDRAW_MS) : undefined;
  const finish = (outcome: { ready: boolean; message: string }): void => {
    if (live) draw();
    live = false;
    clearInterval(timer);
    settled.resolve(outcome);
  };

  const onPlugin = (type: string, object: KubeObject): void => {
    const key = `${object.metadata.namespace}/${object.metadata.name}`;
    const before = rows.get(key);
    if (type === 'deleted') rows.delete(key);
    const after = type === 'deleted' ? undefined : rowOf(readAs(object, 'Plugin') as Plugin);
    if (after !== undefined) rows.set(key, after);
    const said = after === undefined ? 'removed' : `${after.phase}${after.why === '' ? '' : `: ${after.why}`}`;
    if (
      !live &&
      (after === undefined ||
        before?.phase !== after.phase ||
        before.version !== after.version ||
        before.drift !== after.drift)
    ) {
      stream.write(`${seconds()}  ${object.metadata.name.padEnd(18)} ${said}\n`);
    }
  };
  const onSync = (type: string, object: KubeObject): void => {
    if (type === 'deleted') return;
    const { status, metadata } = readAs(object, 'Sync') as Sync;
    if (status?.observedGeneration !== metadata.generation) return;
    const message = status?.message ?? '';
    if (status?.phase === 'Ready') finish({ ready: true, message });
    else if (status?.phase === 'Failed' || status?.phase === 'Held') finish({ ready: false, message });
  };
  const options = { signal };
  watchObjects(client, { apiVersion: API_VERSION, kind: 'Plugin' }, { onEvent: onPlugin }, options);
  watchObjects(client, { apiVersion: API_VERSION, kind: 'Sync' }, { onEvent: onSync }, options);
  signal.addEventListener('abort', () => finish({ ready: false, message: 'stopped' }), { once: true });
  return await settled.promise;
}
