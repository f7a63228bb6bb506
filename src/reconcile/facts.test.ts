import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ANNOTATION, API_VERSION, LABEL, type Plugin, readAs, type Sync } from '../api/index.ts';
import { factsOf } from './facts.ts';
import { DEEPEST_NESTING } from './nesting.ts';

const SPEC = { kind: 'manifests', source: { git: { path: 'apps' } } };

interface Wish {
  parent?: string;
  sync?: string;
  account?: string;
  namespace?: string;
  target?: string;
  annotations?: Record<string, string>;
}

function plugin(
  name: string,
  { parent, sync, account, namespace = 'ns', target, annotations = {} }: Wish = {},
): Plugin {
  const labels = {
    ...(parent === undefined ? {} : { [LABEL.plugin]: parent, [LABEL.pluginNamespace]: 'ns' }),
    ...(sync === undefined ? {} : { [LABEL.sync]: sync, [LABEL.syncNamespace]: 'ns' }),
  };
  const spec = {
    ...SPEC,
    ...(account === undefined ? {} : { serviceAccountName: account }),
    ...(target === undefined ? {} : { namespace: { name: target } }),
  };
  return readAs(
    { apiVersion: API_VERSION, kind: 'Plugin', metadata: { name, namespace, labels, annotations }, spec },
    'Plugin',
  );
}

function sync(name: string, spec: Record<string, unknown> = {}): Sync {
  const whole = { repository: { url: 'https://git.example.com/platform.git' }, ...spec };
  return readAs({ apiVersion: API_VERSION, kind: 'Sync', metadata: { name, namespace: 'ns' }, spec: whole }, 'Sync');
}

function answerFor(subject: Plugin, others: readonly Plugin[], syncs: readonly Sync[] = []) {
  const keyed = <T extends Plugin | Sync>(all: readonly T[]) =>
    new Map(all.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one]));
  return factsOf({ plugins: keyed([subject, ...others]), syncs: keyed(syncs), kubernetes: () => 'v1.36.0' }, subject);
}

function factsFor(...args: Parameters<typeof answerFor>) {
  const answer = answerFor(...args);
  if (!answer.known) throw new Error(answer.why);
  return answer.facts;
}

function refusalFor(...args: Parameters<typeof answerFor>): string {
  const answer = answerFor(...args);
  assert.ok(!answer.known && answer.refused === true, 'it should be refused');
  return answer.why;
}

describe('facts of a nested Plugin', () => {
  const tenant = sync('sync', { serviceAccountName: 'tenant', values: { a: 1 }, allowedNamespaces: ['apps'] });
  const top = plugin('top', { sync: 'sync' });

  test('are those of the Sync that wrote what it is nested in, however deep', () => {
    const middle = plugin('middle', { parent: 'top' });
    const facts = factsFor(plugin('low', { parent: 'middle' }), [middle, top], [tenant]);
    assert.deepEqual(facts.account, { namespace: 'ns', name: 'tenant' });
    assert.deepEqual(facts.values, { a: 1 });
    assert.deepEqual(facts.parents, ['ns/middle', 'ns/top']);
  });

  test('have the account of a parent that has one of its own, in other namespaces too', () => {
    const narrow = plugin('top', { sync: 'sync', account: 'web' });
    const facts = factsFor(plugin('low', { parent: 'top', namespace: 'apps' }), [narrow], [tenant]);
    assert.deepEqual(facts.account, { namespace: 'ns', name: 'web' });
  });

  test('may have an account of their own where only the Sync has one, as what the Sync writes itself', () => {
    const facts = factsFor(plugin('low', { parent: 'top', account: 'own' }), [top], [tenant]);
    assert.deepEqual(facts.account, { namespace: 'ns', name: 'own' });
  });

  test('are refused to one that names another account than its parent runs as', () => {
    const narrow = plugin('top', { sync: 'sync', account: 'web' });
    const why = refusalFor(plugin('low', { parent: 'top', account: 'admin' }), [narrow], [tenant]);
    assert.equal(
      why,
      'spec.serviceAccountName means ns/admin, but Plugin ns/top, which renders it, runs as ns/web: leave it out',
    );
    factsFor(plugin('low', { parent: 'top', account: 'web' }), [narrow], [tenant]);
  });

  test('are refused to one in, or for, a namespace that the Sync may not use', () => {
    for (const wish of [{ namespace: 'kube-system' }, { target: 'kube-system' }]) {
      const why = refusalFor(plugin('low', { parent: 'top', ...wish }), [top], [tenant]);
      assert.equal(why, 'the namespace "kube-system" is not among spec.allowedNamespaces of Sync ns/sync');
    }
    factsFor(plugin('low', { parent: 'top', namespace: 'apps' }), [top], [tenant]);
  });

  test('are not known while a parent is not there: the rights of the agent are not what takes their place', () => {
    const answer = answerFor(plugin('low', { parent: 'top' }), [], [tenant]);
    assert.deepEqual(answer, { known: false, why: 'Plugin ns/top, which rendered this Plugin' });
    const noSync = answerFor(plugin('low', { parent: 'top' }), [top]);
    assert.deepEqual(noSync, { known: false, why: 'Sync ns/sync, which wrote Plugin ns/top' });
  });

  test('come from its parent, whatever other labels say', () => {
    const facts = factsFor(plugin('low', { parent: 'top', sync: 'rich' }), [top], [tenant, sync('rich')]);
    assert.equal(facts.sync?.metadata.name, 'sync');
  });

  test('are refused in a circle, and below a depth that no person means', () => {
    const [a, b] = [plugin('a', { parent: 'b' }), plugin('b', { parent: 'a' })];
    assert.equal(refusalFor(a, [b]), "Plugins can't render one another: ns/a renders ns/b renders ns/a");
    const chain = Array.from({ length: DEEPEST_NESTING + 2 }, (_, at) =>
      plugin(`p${at}`, at === 0 ? {} : { parent: `p${at - 1}` }),
    );
    const [last, ...others] = chain.toReversed();
    assert.match(refusalFor(last as Plugin, others), /nested more than 5 deep: ns\/p1 renders ns\/p2 renders/);
    factsFor(chain[DEEPEST_NESTING] as Plugin, chain);
  });
});

describe('facts of a Plugin that a Sync did not write', () => {
  const tenant = sync('sync', { serviceAccountName: 'tenant', allowedNamespaces: [] });

  test('are those of the Sync that its annotation names, with what that forbids', () => {
    const annotations = { [ANNOTATION.factsOf]: 'ns/sync' };
    assert.deepEqual(factsFor(plugin('made', { annotations }), [], [tenant]).account, {
      namespace: 'ns',
      name: 'tenant',
    });
    assert.match(refusalFor(plugin('made', { annotations, namespace: 'other' }), [], [tenant]), /"other" is not among/);
  });

  test('are its own otherwise', () => {
    const facts = factsFor(plugin('mine'), [], [tenant]);
    assert.equal(facts.account, undefined);
    assert.equal(facts.sync, undefined);
  });
});
