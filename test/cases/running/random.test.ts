import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { API_VERSION } from '../../../src/api/index.ts';
import { configMap, pluginYaml } from '../../support/agent.ts';
import { eventually } from '../../support/eventually.ts';
import type { NewFile } from '../../support/gitserver.ts';
import type { Fault } from '../../support/httpproxy.ts';
import { type Platform, startPlatform } from '../support/platform.ts';
import { startProxied } from '../support/proxied.ts';

/**
 * `ESPALIER_TEST_SEEDS=$(seq -s, 100 150)` plays many more; a seed that fails says what happened. `ESPALIER_TEST_ROUGH=1`: people
 * also delete and suspend Plugins, and Git switches them off.
 */
const SEEDS = (process.env.ESPALIER_TEST_SEEDS ?? '1,2,3').split(',').map(Number);
const STEPS = Number(process.env.ESPALIER_TEST_STEPS ?? 25);
const IS_ROUGH = process.env.ESPALIER_TEST_ROUGH !== undefined;

/** Says what happens next; the same seed says the same. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  of<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.next() * items.length)];
  }
}

interface Declared {
  after: string[];
  /** ConfigMaps and what is in them. Each is in one Plugin. */
  maps: Map<string, string>;
  isBroken: boolean;
  isOff: boolean;
}

const POOL = Array.from({ length: 12 }, (_, index) => `map-${index}`);

/** What Git declares, changed at random. */
class Repository {
  readonly plugins = new Map<string, Declared>();
  /** Who deletes a Plugin that others need is asked to change that first; nobody may come to need one that goes. */
  readonly deleted = new Set<string>();
  readonly #dice: Dice;
  readonly #isRough: boolean;
  #names = 0;
  #values = 0;
  #files = new Map<string, string>();

  constructor(dice: Dice, isRough: boolean) {
    this.#dice = dice;
    this.#isRough = isRough;
    for (let count = 0; count < 4; count++) this.addPlugin();
    for (let count = 0; count < 8; count++) this.addMap();
  }

  change(): string {
    const deeds = [
      () => this.setMap(),
      () => this.setMap(),
      () => this.addMap(),
      () => this.addMap(),
      () => this.dropMap(),
      () => this.moveMap(),
      () => this.moveMap(),
      () => this.addPlugin(),
      () => this.removePlugin(),
      () => this.renamePlugin(),
      () => this.order(),
      () => this.breakOrMend(),
      ...(this.#isRough ? [() => this.switch()] : []),
    ];
    return (this.#dice.of(deeds) ?? deeds[0])?.() ?? 'nothing';
  }

  /** What a commit has to write and to remove. */
  files(): Record<string, NewFile> {
    const now = new Map<string, string>();
    for (const [name, { after, maps, isBroken, isOff }] of this.plugins) {
      const dependsOn = after.map((one) => ({ name: one }));
      now.set(
        `plugins/${name}.yaml`,
        pluginYaml(name, `apps/${name}`, { dependsOn, apply: { force: true }, enabled: !isOff }),
      );
      for (const [map, value] of maps) now.set(`apps/${name}/${map}.yaml`, configMap(map, { value }));
      if (isBroken) now.set(`apps/${name}/broken.yaml`, 'kind: [');
    }
    const changed: Record<string, NewFile> = { 'README.md': `${this.#values++}\n` };
    for (const [path, text] of now) if (this.#files.get(path) !== text) changed[path] = text;
    for (const path of this.#files.keys()) if (!now.has(path)) changed[path] = null;
    this.#files = now;
    return changed;
  }

  mend(): void {
    for (const plugin of this.plugins.values()) plugin.isBroken = false;
  }

  maps(): Map<string, string> {
    return new Map([...this.plugins.values()].flatMap(({ maps }) => [...maps]));
  }

  /** Those that are to be in the cluster. */
  wanted(): Map<string, string> {
    return new Map([...this.plugins.values()].flatMap(({ maps, isOff }) => (isOff ? [] : [...maps])));
  }

  addPlugin(): string {
    if (this.plugins.size >= 7) return 'nothing';
    const name = `plugin-${this.#names++}`;
    // A Plugin that renders nothing any more would wait for consent.
    this.plugins.set(name, { after: [], maps: new Map([[`of-${name}`, '0']]), isBroken: false, isOff: false });
    return `add ${name}`;
  }

  removePlugin(): string {
    const name = this.#dice.of([...this.plugins.keys()]);
    if (name === undefined || this.plugins.size <= 2) return 'nothing';
    this.plugins.delete(name);
    for (const plugin of this.plugins.values()) plugin.after = plugin.after.filter((one) => one !== name);
    return `remove ${name}`;
  }

  renamePlugin(): string {
    const name = this.#dice.of([...this.plugins.keys()]);
    const plugin = this.plugins.get(name ?? '');
    if (name === undefined || plugin === undefined) return 'nothing';
    const next = `plugin-${this.#names++}`;
    this.plugins.delete(name);
    this.plugins.set(next, plugin);
    for (const other of this.plugins.values()) other.after = other.after.map((one) => (one === name ? next : one));
    return `rename ${name} ${next}`;
  }

  order(): string {
    const names = [...this.plugins.keys()];
    const [one, other] = [this.#dice.of(names), this.#dice.of(names)];
    if (
      one === undefined ||
      other === undefined ||
      this.deleted.has(other) ||
      this.plugins.get(other)?.isOff === true ||
      this.#waitsFor(other, one)
    )
      return 'nothing';
    const plugin = this.plugins.get(one);
    if (plugin === undefined) return 'nothing';
    plugin.after = plugin.after.includes(other) ? [] : [other];
    return `order ${one} after ${plugin.after.join()}`;
  }

  isNeeded(name: string): boolean {
    return [...this.plugins.values()].some(({ after }) => after.includes(name));
  }

  #waitsFor(one: string, other: string): boolean {
    return one === other || (this.plugins.get(one)?.after ?? []).some((next) => this.#waitsFor(next, other));
  }

  breakOrMend(): string {
    const name = this.#dice.of([...this.plugins.keys()]);
    const plugin = this.plugins.get(name ?? '');
    if (plugin === undefined) return 'nothing';
    plugin.isBroken = !plugin.isBroken;
    return `${plugin.isBroken ? 'break' : 'mend'} ${name}`;
  }

  /** One that others need stays on. */
  switch(): string {
    const name = this.#dice.of([...this.plugins.keys()]) ?? '';
    const plugin = this.plugins.get(name);
    if (plugin === undefined || this.isNeeded(name)) return 'nothing';
    plugin.isOff = !plugin.isOff;
    return `switch ${name} ${plugin.isOff ? 'off' : 'on'}`;
  }

  addMap(): string {
    const taken = this.maps();
    const name = this.#dice.of(POOL.filter((one) => !taken.has(one)));
    const plugin = this.#dice.of([...this.plugins]);
    if (name === undefined || plugin === undefined) return 'nothing';
    plugin[1].maps.set(name, `${this.#values++}`);
    return `add ${name} to ${plugin[0]}`;
  }

  setMap(): string {
    const found = this.#someMap();
    if (found === undefined) return 'nothing';
    this.plugins.get(found.plugin)?.maps.set(found.name, `${this.#values++}`);
    return `set ${found.name} of ${found.plugin}`;
  }

  dropMap(): string {
    const found = this.#someMap();
    if (found === undefined) return 'nothing';
    this.plugins.get(found.plugin)?.maps.delete(found.name);
    return `drop ${found.name} of ${found.plugin}`;
  }

  moveMap(): string {
    const found = this.#someMap();
    const target = this.#dice.of([...this.plugins.keys()]);
    const value = found === undefined ? undefined : this.plugins.get(found.plugin)?.maps.get(found.name);
    if (found === undefined || target === undefined || value === undefined) return 'nothing';
    this.plugins.get(found.plugin)?.maps.delete(found.name);
    this.plugins.get(target)?.maps.set(found.name, value);
    return `move ${found.name} from ${found.plugin} to ${target}`;
  }

  #someMap(): { plugin: string; name: string } | undefined {
    const all = [...this.plugins].flatMap(([plugin, { maps }]) =>
      [...maps.keys()].filter((name) => POOL.includes(name)).map((name) => ({ plugin, name })),
    );
    return this.#dice.of(all);
  }
}

const FAULTS: Fault[] = [{ status: 409 }, { status: 429 }, { status: 500 }, { status: 503 }, { status: 504 }, 'reset'];

async function play(t: TestContext, seed: number, steps: number): Promise<void> {
  const dice = new Dice(seed);
  const model = new Repository(dice, IS_ROUGH);
  const { proxy, kubeconfig } = await startProxied(t);
  const platform = await startPlatform(t, {
    files: { 'README.md': 'nothing yet\n', ...model.files() },
    spec: { prune: { hold: { percent: 100 } } },
    agent: { kubeconfig },
  });
  const history: string[] = [];
  const uids = new Map<string, string>();
  /** What may have been made anew since everything was last at rest. */
  const anew = new Set<string>();
  let trouble = 0;
  proxy.before = async ({ path }) => {
    if (path.includes('watch=') || path.includes('/leases/')) return undefined;
    if (dice.chance(0.1)) await delay(dice.next() * (dice.chance(0.2) ? 600 : 60));
    return dice.chance(trouble) ? dice.of(FAULTS) : undefined;
  };
  const note = (what: string) => void history.push(what);
  try {
    for (let step = 0; step < steps; step++) {
      if (dice.chance(0.75)) {
        const before = model.wanted();
        const changes = Array.from({ length: 1 + Math.floor(dice.next() * 3) }, () => model.change());
        const after = model.wanted();
        for (const name of before.keys()) if (!after.has(name)) anew.add(name);
        for (const name of after.keys()) if (!before.has(name)) anew.add(name);
        note(`commit: ${changes.join('; ')}`);
        await platform.push(model.files());
      }
      if (dice.chance(0.5)) note(await meddle(platform, model, dice, anew));
      if (dice.chance(0.15)) trouble = trouble > 0 ? 0 : 0.15;
      const heal = dice.chance(0.1) ? platform.server.misbehave({ fault: { kind: 'status', status: 500 } }) : undefined;
      if (heal !== undefined) platform.look();
      await delay(dice.next() * (dice.chance(0.3) ? 1_500 : 150));
      heal?.();
      if (heal !== undefined) platform.look();
      if (dice.chance(0.1)) {
        note('restart');
        const before = trouble;
        trouble = 0;
        await platform.restart();
        trouble = before;
      }
      if (dice.chance(0.12) || step === steps - 1) {
        trouble = 0;
        model.mend();
        await resumeAll(platform);
        await platform.push(model.files());
        note('rest');
        await atRest(platform, model, uids, anew);
      }
    }
  } catch (error) {
    t.diagnostic(`seed ${seed}\n${history.join('\n')}`);
    throw error;
  }
}

/** What people do by hand. */
async function meddle(platform: Platform, model: Repository, dice: Dice, anew: Set<string>): Promise<string> {
  const { client } = platform;
  const [name, plugin] = dice.of([...model.plugins]) ?? ['', undefined];
  const map = dice.of([...(plugin?.maps.keys() ?? [])]) ?? '';
  const ref = { ...platform.ref('Plugin', name), apiVersion: API_VERSION };
  const deeds: [string, () => Promise<unknown>][] = [
    [
      `delete ${map}`,
      async () => {
        anew.add(map);
        await client.delete(platform.ref('ConfigMap', map));
      },
    ],
    [
      `edit ${map}`,
      () =>
        client.patch(
          platform.ref('ConfigMap', map),
          { data: { value: 'by hand', more: 'x' } },
          { type: 'merge', fieldManager: 'somebody' },
        ),
    ],
    [
      `edit ${map}`,
      () =>
        client.patch(
          platform.ref('ConfigMap', map),
          { data: { value: 'by hand' } },
          { type: 'merge', fieldManager: 'somebody' },
        ),
    ],
    [
      `delete Plugin ${name}`,
      async () => {
        if (model.isNeeded(name)) return;
        model.deleted.add(name);
        for (const all of POOL) anew.add(all);
        for (const one of plugin?.maps.keys() ?? []) anew.add(one);
        await client.delete(ref);
      },
    ],
    [
      `suspend ${name}`,
      () => client.patch(ref, { spec: { suspend: true } }, { type: 'merge', fieldManager: 'somebody' }),
    ],
  ];
  const [what, deed] = dice.of(IS_ROUGH ? deeds : deeds.slice(0, 3)) ?? ['', async () => undefined];
  return await deed().then(
    () => `by hand: ${what}`,
    () => `by hand: ${what}, in vain`,
  );
}

async function resumeAll({ client, namespace }: Platform): Promise<void> {
  const { items } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin', namespace });
  for (const { metadata, spec } of items) {
    if ((spec as { suspend?: boolean }).suspend !== true) continue;
    const ref = { apiVersion: API_VERSION, kind: 'Plugin', namespace, name: metadata.name };
    await client
      .patch(ref, { spec: { suspend: false } }, { type: 'merge', fieldManager: 'somebody' })
      .catch(() => undefined);
  }
}

async function atRest(
  platform: Platform,
  model: Repository,
  uids: Map<string, string>,
  anew: Set<string>,
): Promise<void> {
  const { client, namespace } = platform;
  const wanted = [...model.wanted()].sort();
  await eventually(
    async () => {
      const { status } = await platform.sync();
      const said = `${status?.phase} at ${status?.commit}: ${status?.message}`;
      assert.ok(status?.phase === 'Ready' && status.commit === platform.commit, said);
      const { items: plugins } = await client.list({ apiVersion: API_VERSION, kind: 'Plugin', namespace });
      assert.deepEqual(plugins.map(({ metadata }) => metadata.name).sort(), [...model.plugins.keys()].sort(), said);
      const { items } = await client.list({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace,
        fieldSelector: 'metadata.name!=kube-root-ca.crt',
      });
      const live = items.map(({ metadata, data }) => [metadata.name, (data as { value?: string } | undefined)?.value]);
      assert.deepEqual(live.sort(), wanted, said);
    },
    { timeoutMs: 60_000 },
  );
  const { items } = await client.list({ apiVersion: 'v1', kind: 'ConfigMap', namespace });
  const now = new Map(items.map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  for (const [name, uid] of uids) if (!anew.has(name)) assert.equal(now.get(name), uid, `${name} was made anew`);
  uids.clear();
  for (const [name] of wanted) uids.set(name, now.get(name) ?? '');
  anew.clear();
}

describe('whatever happens at random, in the end the cluster is as Git says', { concurrency: 4 }, () => {
  for (const seed of SEEDS) it(`seed ${seed}`, (t) => play(t, seed, STEPS));
});
