import {
  type Extension,
  type ExtensionInstance,
  type KubeObject,
  type ObjectRef,
  type Plugin,
  refOf,
  type Sync,
} from '../api/index.ts';
import { celHealth } from '../cluster/celhealth.ts';
import { createEventRecorder } from '../cluster/events.ts';
import { type Health, healthOf } from '../cluster/health.ts';
import { OwnedIndex } from '../converge/owned.ts';
import { KindWatches } from '../converge/watches.ts';
import { Deliveries } from '../forge/deliveries.ts';
import { ClusterView } from '../render/cluster-view.ts';
import type { WorkQueue } from '../runtime/queue.ts';
import { isWanted } from './activity.ts';
import { AnswerMemories } from './answer-memory.ts';
import { CatalogueNews } from './catalogue-news.ts';
import { ChartSources } from './chart-sources.ts';
import { Children } from './children.ts';
import { Crowd } from './crowd.ts';
import { currentKey } from './current-key.ts';
import { Declared } from './declared.ts';
import { Definitions } from './definitions.ts';
import { Dependents, dependenciesOf } from './dependents.ts';
import { isRemoving, waitingToDelete } from './dropped.ts';
import { isExpansion } from './expansion-rivals.ts';
import { factsOf } from './facts.ts';
import { ForgeTroubles } from './forge-trouble.ts';
import { Forges } from './forges.ts';
import { FullLooks } from './full-looks.ts';
import { InputsMemo } from './inputs-memo.ts';
import { Intents } from './intents.ts';
import { KeptNotes } from './kept-notes.ts';
import { KubegemsObjects, WHETHER } from './kubegems/objects.ts';
import { factsKeyOf, parentKeyOf, rootOf, syncKeyOf, syncOver } from './nesting.ts';
import { mayEndRollout, pluginNews, syncNews } from './news.ts';
import { OutsideObjects } from './outside.ts';
import { OwnSources } from './own-sources.ts';
import { Pulls } from './pulls/pulls.ts';
import { MOVED_DELAY_MS, pullsAbout } from './pulls/stale.ts';
import { RegistryTags } from './registry-tags.ts';
import { createRenderer } from './render.ts';
import { RenderWaiters } from './render-waiters.ts';
import { RenderCache } from './rendered.ts';
import { RepairGuard } from './repair-guard.ts';
import { Repaired } from './repaired.ts';
import { Schedules } from './schedules.ts';
import { Selections } from './selections.ts';
import { ServerVersion } from './server-version.ts';
import { Sources } from './sources.ts';
import { keyOf, Store, type Stored } from './store.ts';
import { SyncMemories } from './sync-memory.ts';
import type { SyncParts } from './sync-parts.ts';
import { SyncStatuses } from './sync-statuses.ts';
import { TakenNames } from './taken.ts';
import type { TermOptions } from './term.ts';
import { CarriedOut } from './touches.ts';

export interface Queues {
  plugin: WorkQueue;
  sync: WorkQueue;
  answer: WorkQueue;
  instance: WorkQueue;
  extension: WorkQueue;
  pull: WorkQueue;
  kubegems: WorkQueue;
}

export interface BuiltParts {
  parts: SyncParts;
  /** Resolves when all caches are filled. */
  fill(): Promise<void>;
  close(): Promise<void>;
}

const FOLD_DELAY_MS = 75;
/** How all Plugins of a Sync are is asked anew for each answer: with many it is asked more seldom. */
const ANSWER_DELAY_MS = 50;
const ANSWER_MS_PER_PLUGIN = 0.2;
const LONGEST_ANSWER_DELAY_MS = 500;
/** Each write of a Sync's status costs the API server as much as it lists (0.13 ms an entry): large ones are spaced. */
const FOLD_SPACING_MS_PER_ENTRY = 2;
const LONGEST_FOLD_SPACING_MS = 2_000;
/** What pods are doing on the way to health is told, but not each step of it. */
const MESSAGE_DELAY_MS = 1_000;

/** In place of a Plugin that is not there. */
const NOBODY = { metadata: { name: '' } } as Plugin;

/** Everything that one time of being the leader works with, each told of the others' news. Nothing runs yet. */
export function buildParts(options: TermOptions, queues: Queues): BuiltParts {
  const { client, clock, log, signal } = options;
  const wakePlugin: SyncParts['wakePlugin'] = (key, wish) => queues.plugin.add(key, wish);
  const memories = new SyncMemories();
  const wakeSync: SyncParts['wakeSync'] = (key, { poll = false, after } = {}) => {
    if (poll) {
      memories.of(key).lookWanted = true;
      wakePulls(key);
    }
    queues.sync.add(key, { after: poll ? 0 : (after ?? foldDelay(key)) });
  };
  function foldDelay(key: string): number {
    const entries = syncs.get(key)?.status?.inventory?.length ?? 0;
    const spacing = Math.min(entries * FOLD_SPACING_MS_PER_ENTRY, LONGEST_FOLD_SPACING_MS);
    return Math.max(FOLD_DELAY_MS, (memories.of(key).savedAt ?? 0) + spacing - clock.now());
  }

  const wakeAnswers: SyncParts['wakeAnswers'] = (key, { after } = {}) =>
    queues.answer.add(key, {
      after: after ?? Math.min(Math.max(ANSWER_DELAY_MS, plugins.size * ANSWER_MS_PER_PLUGIN), LONGEST_ANSWER_DELAY_MS),
    });
  const wakePulls: SyncParts['wakePulls'] = (key, wish) => queues.pull.add(key, wish);
  const wakePull: SyncParts['wakePull'] = (key, number, wish) => queues.pull.add(`${key}#${number}`, wish);
  const wakeKubegems: SyncParts['wakeKubegems'] = (key, wish) => queues.kubegems.add(key, wish);
  const kubegems = new KubegemsObjects({
    ...{ client, signal, onlyNamespace: options.onlyNamespace, wake: wakeKubegems },
    onTrouble: (error) => log.debug({ error: error.message }, 'watch of KubeGems objects interrupted'),
  });
  const dependents = new Dependents();
  const children = new Children();
  const catalogueNews = new CatalogueNews({
    memories,
    syncKeys: () => [...syncs.values()].map(keyOf),
    instances: () => instances.values(),
    extensionOf: ({ spec }) => extensions.get(`/${spec.extension}`),
    wakeSync: (key) => wakeSync(key),
    wakeInstance: (key) => queues.instance.add(key),
    wakeExtension: (key) => queues.extension.add(key, { after: FOLD_DELAY_MS }),
  });
  const extensions = new Store<Extension>('Extension', (key, before, after) =>
    catalogueNews.extension(key, before, after),
  );
  const instances = new Store<ExtensionInstance>('ExtensionInstance', (key, before, after) =>
    catalogueNews.instance(key, before, after),
  );
  const renderWaiters = new RenderWaiters();
  const intents: Intents = new Intents({
    ...{ client, log, namespace: options.namespace },
    onChange: (key) => plugins.refresh(key),
  });
  const plugins: Store<Plugin> = new Store<Plugin>('Plugin', onPluginChange, (plugin) => intents.over(plugin));
  function onPluginChange(key: string, before: Plugin | undefined, after: Plugin | undefined): void {
    children.update(key, after);
    catalogueNews.plugin(key, before, after);
    for (const target of dependents.update(key, after)) wakePlugin(target);
    const news = pluginNews(before, after);
    if (news.declared) wakePlugin(key);
    if (!news.any) return;
    if (news.declared && [before, after].some((one) => one !== undefined && isExpansion(one)))
      for (const other of plugins.values()) if (isExpansion(other)) wakePlugin(keyOf(other));
    if (kubegems.get(key) !== undefined) wakeKubegems(key);
    for (const dependent of dependents.of(key)) wakePlugin(dependent);
    if (news.released)
      for (const target of [...dependenciesOf((after ?? before) as Plugin), ...onTheirWayOut()]) wakePlugin(target);
    const parents = new Set([before, after].flatMap((plugin) => parentKeyOf(plugin ?? NOBODY) ?? []));
    for (const parent of parents) wakePlugin(parent);
    if (news.declared || news.applied) for (const child of children.of(key)) wakeChild(child);
    const root = news.applied && after !== undefined ? rootOf(after, (one) => plugins.get(one)) : undefined;
    if (root !== undefined && syncKeyOf(root) === undefined)
      for (const one of waitingToDelete(keyOf(root), plugins)) wakePlugin(one);
    const writers = [before, after].map((plugin) => syncOver(plugin ?? NOBODY, (one) => plugins.get(one)));
    // Once it is gone, another Sync that declares it may write it.
    const told = after === undefined ? declared.syncsWith(key) : [];
    for (const sync of new Set([...writers, ...told])) {
      if (sync === undefined) continue;
      // The last that a rollout waited for: people wait for what the Sync says.
      const isLast = queues.plugin.depth === 0 && queues.plugin.running <= 1;
      const endsRollout = isLast && mayEndRollout(before, after, syncs.get(sync)?.status, declared.headOf(sync));
      wakeSync(sync, endsRollout ? { after: 0 } : {});
      wakeAnswers(sync);
      for (const number of pullsAbout(syncs.get(sync)?.status?.pullRequests, [key, ...parents]))
        wakePull(sync, number, { after: MOVED_DELAY_MS });
    }
  }
  const syncs = new Store<Sync>('Sync', (key, before, after) => {
    const news = syncNews(before, after);
    wakeAnswers(key);
    if (news.declared) wakeKubegems(WHETHER);
    if (news.declared) wakeSync(key, { after: 0 });
    if (!news.facts) return;
    for (const plugin of plugins.values()) {
      const root = rootOf(plugin, (one) => plugins.get(one));
      if (root !== undefined && factsKeyOf(root) === key) wakePlugin(keyOf(plugin));
    }
  });
  /** What it takes from its parent may be otherwise, and what it declares may now be known. */
  function wakeChild(child: string): void {
    for (const one of [child, ...renderWaiters.take(child)]) wakePlugin(one);
  }
  const stores = new Map<string, Store<Stored>>([
    ['Plugin', plugins as unknown as Store<Stored>],
    ['Sync', syncs as unknown as Store<Stored>],
    ['Extension', extensions as unknown as Store<Stored>],
    ['ExtensionInstance', instances as unknown as Store<Stored>],
  ]);
  function onTheirWayOut(): string[] {
    return [...plugins.values()].filter(isRemoving).map(keyOf);
  }

  const kubernetes = new ServerVersion({
    ...{ clock, signal },
    ask: async () => (await client.version()).gitVersion,
    onChange() {
      log.info({ version: kubernetes.known }, 'Kubernetes version');
      for (const plugin of plugins.values()) wakePlugin(keyOf(plugin));
      for (const key of extensions.keys()) queues.extension.add(key);
      catalogueNews.everything();
    },
  });
  const outside = new OutsideObjects(client, signal, (user) =>
    user.startsWith('Sync ') ? wakeSync(user.slice(5), { after: 0, poll: true }) : wakePlugin(user),
  );
  const forges = new Forges({ outside, policy: options.urlPolicy, clock });
  const sources = new Sources({ dir: options.dir, policy: options.urlPolicy, outside });
  const ownSources: OwnSources = new OwnSources({
    sources,
    clock,
    syncOf(plugin) {
      const answer = factsOf(keys, plugin);
      return answer.known ? answer.facts.sync : undefined;
    },
    headFor: (plugin) => declared.headFor(plugin),
  });
  const chartSources = new ChartSources({
    charts: options.charts,
    clock,
    outside,
    onTrouble: (plugin, message) =>
      log.warn({ plugin, message }, 'its source could not be looked up; what was found last holds'),
  });
  const view = new ClusterView();
  const memo = new InputsMemo(outside, ownSources, chartSources);
  const wishes = { health: {}, message: { after: MESSAGE_DELAY_MS }, drift: { priority: 1 }, gone: { priority: 1 } };
  const owned = new OwnedIndex({
    healthOf: (plugin, object) => healthFor(plugins.get(plugin), object),
    rulesFor: (plugin, ref) => JSON.stringify(rulesFor(plugins.get(plugin), ref).map(({ ready }) => ready)),
    onChange: (plugin, key, change) => {
      wakePlugin(plugin, wishes[change]);
      // The Sync waits until what leaves was asked to go. The Plugin may have said all it has to say of that before.
      const owner = owned.get(key)?.terminating === true ? plugins.get(plugin) : undefined;
      const sync = owner === undefined ? undefined : syncOver(owner, (one) => plugins.get(one));
      if (sync !== undefined) wakeSync(sync);
    },
  });
  const watches = new KindWatches({
    client,
    onlyNamespace: options.onlyNamespace,
    signal,
    onEvent: (type, object) => owned.onEvent(type, object),
    onListed: (kind, names, version) => owned.onListed(kind, names, version),
    onSynced: (_kind, users) => users.forEach((user) => void wakePlugin(user)),
  });
  const keys = {
    plugins,
    syncs,
    kubernetes: () => kubernetes.known,
    inputs: (plugin: Plugin, facts: Parameters<SyncParts['inputs']>[1]) => memo.of(plugin, facts),
  };
  const declared = new Declared({
    plugin: (key) => plugins.get(key),
    plugins: () => plugins.values(),
    syncExists: (key) => syncs.get(key) !== undefined,
    isWanted: (plugin) => isWanted(keys, plugin),
    currentKey: (plugin) => currentKey(keys, plugin),
  });
  const definitions = new Definitions({
    ...{ clock, client, owned, declared },
    plugin: (key) => plugins.get(key),
    onChange(kind) {
      for (const user of watches.usersOf(kind)) if (plugins.get(user)?.status?.phase !== 'Ready') wakePlugin(user);
    },
  });
  const crowd = new Crowd(queues.plugin);
  const events = createEventRecorder(client, {
    isBusy: () => crowd.isThere,
    controller: 'espalier.dev/agent',
    instance: options.instance,
    onError: (error) => log.debug({ error: error.message }, 'event not sent'),
  });
  const tags = new RegistryTags({
    list: (request, asked) => options.charts.listTags(request, asked),
    client,
    clock,
    signal,
    isNamed: ({ url }) =>
      [...extensions.values()].some(({ spec }) => spec.versions.some(({ source }) => source.oci?.url === url)),
    onNews: () => {
      for (const key of extensions.keys()) queues.extension.add(key);
      catalogueNews.everything();
    },
  });
  const schedules = new Schedules(clock, (key) => wakeSync(key, { poll: true }));

  const parts: SyncParts = {
    ...keys,
    client,
    clock,
    log,
    metrics: options.metrics,
    plugins,
    extensions,
    instances,
    made: new Map(),
    isConfined: options.onlyNamespace !== undefined,
    catalogue: (whose) => ({
      kubernetes: kubernetes.known,
      now: clock.now(),
      extensions: [...extensions.values()],
      instances: [...instances.values()],
      tags: whose === 'untrusted' ? tags.heard : tags.of,
    }),
    storeFor: (kind) => stores.get(kind),
    dependents,
    declared,
    owned,
    watches,
    definitions,
    outside,
    selections: new Selections(client, signal, wakePlugin),
    rendered: new RenderCache(),
    renderWaiters,
    repairs: new RepairGuard(),
    carried: new CarriedOut(),
    repaired: new Repaired(wakeAnswers),
    taken: new TakenNames(),
    intents,
    crowd,
    fullLooks: new FullLooks(options.fullLookEveryMs, options.random),
    kept: new KeptNotes(),
    events,
    isAgent: options.isAgent,
    wakePlugin,
    wakeSync,
    sources,
    ownSources,
    chartSources,
    memories,
    schedules,
    statuses: new SyncStatuses(client, syncs),
    forges,
    answers: new AnswerMemories(),
    troubles: new ForgeTroubles(),
    pulls: new Pulls(),
    kubegems,
    wakeKubegems,
    deliveries: new Deliveries(),
    charts: options.charts,
    view,
    wakePulls,
    wakePull,
    pageUrl: options.pageUrl,
    wakeAnswers,
    render: createRenderer({
      client,
      sources,
      ownSources,
      charts: options.charts,
      chartSources,
      view,
      metrics: options.metrics,
      clock,
      parallel: options.renderers,
    }),
  };

  function onTrouble(error: Error): void {
    log.debug({ error: error.message }, 'watch interrupted');
    kubernetes.doubt();
  }

  async function fill(): Promise<void> {
    await kubernetes.start();
    await intents.load();
    await Promise.all(
      [...stores.values()].map((store) => store.follow(client, options.onlyNamespace, signal, onTrouble)),
    );
    // Who looks after one namespace alone can't say that a Plugin of another one is gone.
    const isOurs = (key: string) => options.onlyNamespace === undefined || key.startsWith(`${options.onlyNamespace}/`);
    for (const key of intents.keys()) if (isOurs(key) && plugins.get(key) === undefined) intents.forget(key);
    wakeKubegems(WHETHER);
  }

  async function close(): Promise<void> {
    schedules.stopAll();
    await events.stop();
    tags.close();
    await sources.close();
    await forges.close();
    await view.close();
  }

  return { parts, fill, close };
}

/** The Plugin's own rule for the object where it has one. Every rule that means it must hold. */
function healthFor(plugin: Plugin | undefined, object: KubeObject): Health {
  const verdicts = rulesFor(plugin, refOf(object)).map((rule) => celHealth(object, rule.ready));
  return verdicts.find((one) => one.state !== 'healthy') ?? verdicts[0] ?? healthOf(object);
}

function rulesFor(plugin: Plugin | undefined, { apiVersion, kind, name }: ObjectRef) {
  return (plugin?.spec.health ?? []).filter(
    (rule) => rule.apiVersion === apiVersion && rule.kind === kind && (rule.name === undefined || rule.name === name),
  );
}
