import type { Forge } from '../../../src/forge/forge.ts';
import { type ForgeOptions, openForge } from '../../../src/forge/open-forge.ts';
import type { FakeServer } from './server.ts';
import type { ForgeState } from './state.ts';

/** A forge made for tests. */
export interface FakeForge {
  name: string;
  server: FakeServer;
  state: ForgeState;
  /** What the agent's login holds; nothing that leaves may. */
  canary: string;
  options: Omit<ForgeOptions, 'now'>;
  /** How a person's account is named in comments and questions about rights. */
  person(name: string): string;
  close(): Promise<void>;
}

export const CANARY = 'tok-3nKq+/9Zx@canary';
export const LOCAL = { http: true, privateAddresses: true } as const;

/** A client for it, and a clock that stands still until it is moved. */
export function openFake(fake: FakeForge, more: Partial<ForgeOptions> = {}): { forge: Forge; clock: { now: number } } {
  const clock = { now: Date.parse('2026-11-18T12:00:00Z') };
  return { forge: openForge({ ...fake.options, timeoutMs: 30_000, now: () => clock.now, ...more }), clock };
}
