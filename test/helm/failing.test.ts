import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chart } from '../support/charts.ts';
import { eventually } from '../support/eventually.ts';
import { configMap } from './charts/fixture.ts';
import { hookJob, hookMap } from './charts/hooks.ts';
import { dataOf, startHelmScene } from './support/scene.ts';

const BODY = {
  'values.yaml': 'text: one\nbreaks: false\n',
  'templates/body.yaml': configMap('body', ['text: {{ .Values.text }}']),
};
/** A migration that fails where a value says so. */
const MIGRATION = hookJob(
  'migrate',
  { on: 'pre-install,pre-upgrade', policy: 'before-hook-creation' },
  '.Values.breaks',
);

describe('a release that fails', { concurrency: 2 }, () => {
  test('H15: a failing hook of an upgrade is told with its reason, nothing else is changed, and the next good commit recovers without a hand', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const files = { ...BODY, 'templates/migrate.yaml': MIGRATION };
    await scene.install(chart('app', files));
    await scene.declare(chart('app', files), { values: { text: 'two', breaks: true } });
    const plugin = await platform.pluginReaches('app', 'Failed');
    assert.match(plugin.status?.message ?? '', /pre-upgrade hook Job .*migrate.* failed: .*BackoffLimitExceeded/);
    await platform.says(/app/);
    assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'one');
    // It is tried again from time to time, and pending meanwhile.
    const listed = await eventually(async () => {
      const all = await scene.helm.json<{ status: string; description: string }[]>('history', 'app');
      assert.deepEqual(
        all.map(({ status }) => status),
        ['deployed', 'failed'],
      );
      return all;
    });
    assert.match(listed[1]?.description ?? '', /^Upgrade "app" failed: /);

    await scene.install(chart('app', files), { values: { text: 'three' } });
    assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'three');
    const after = await scene.history('app');
    assert.equal(after.at(-1), `${after.length} deployed`);
    assert.equal(after.filter((one) => one.endsWith(' deployed')).length, 1);
  });

  test('an upgrade that failed is taken back in Git: the chart of before is deployed again, with what had been about to leave', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const before = chart('app', { ...BODY, 'templates/left.yaml': configMap('left', []) });
    await scene.install(before);
    const uid = await platform.uid('left');
    const files = { ...BODY, 'templates/migrate.yaml': MIGRATION };
    await scene.declare(chart('app', files, { version: '2.0.0' }), { values: { text: 'two', breaks: true } });
    await platform.pluginReaches('app', 'Failed');

    await scene.install(before);
    await platform.pluginReaches('app', 'Ready');
    assert.equal(await platform.uid('left'), uid);
    const after = await scene.history('app');
    assert.deepEqual(after, ['1 superseded', '2 failed', '3 deployed']);
  });

  test('H15: an object that the API server refuses is named with the reason, and the next good commit recovers', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const bad = 'apiVersion: v1\nkind: Service\nmetadata: {name: bad}\nspec: {ports: [{port: 123456}]}\n';
    await scene.install(chart('app', BODY));
    await scene.declare(chart('app', { ...BODY, 'templates/bad.yaml': bad }, { version: '1.1.0' }));
    const plugin = await platform.pluginReaches('app', 'Failed');
    assert.match(plugin.status?.message ?? '', /Service .*bad.*spec\.ports\[0\]\.port.*65535/);
    await scene.install(chart('app', BODY, { version: '1.2.0' }), { values: { text: 'three' } });
    assert.equal((await scene.history('app')).at(-1)?.split(' ')[1], 'deployed');
    assert.equal(await platform.get('Service', 'bad'), undefined);
  });

  test('H15: a template that fails and a value that the schema forbids are told with their place, and the release stays as it was', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const schema = JSON.stringify({ type: 'object', properties: { text: { type: 'string', maxLength: 5 } } });
    const files = {
      ...BODY,
      'values.schema.json': schema,
      'templates/fails.yaml': '{{ if eq .Values.text "bad" }}{{ fail "text must not be bad" }}{{ end }}',
    };
    await scene.install(chart('app', files));
    const records = await scene.records();
    await scene.declare(chart('app', files), { values: { text: 'bad' } });
    const failed = await platform.pluginReaches('app', 'Failed');
    assert.match(failed.status?.message ?? '', /templates\/fails\.yaml.*text must not be bad/s);
    await scene.declare(chart('app', files), { values: { text: 'far too long' } });
    await platform.pluginSays('app', /text.*(5|length)/is);
    assert.deepEqual(await scene.records(), records);
    assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'one');
    await scene.install(chart('app', files), { values: { text: 'good' } });
    assert.deepEqual(await scene.history('app'), ['1 superseded', '2 deployed']);
  });

  test('a hook that never ends is given up at the timeout and says so; others go on meanwhile, and a change of the chart ends it', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const endless = { ...BODY, 'templates/job.yaml': hookJob('waits', { on: 'pre-install' }, 'never ends') };
    await scene.declare(chart('endless', endless), { timeout: '3s' });
    await scene.declare(chart('other', { 'templates/o.yaml': configMap('other', ['a: b']) }));
    await platform.pluginReaches('other', 'Ready');
    await platform.pluginSays('endless', /pre-install hook Job .*waits.* did not end within 3 s/);
    assert.equal(await platform.get('ConfigMap', 'body'), undefined);
    await scene.install(chart('endless', BODY, { version: '1.0.1' }));
    assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'one');
  });

  test('H6: onFailure rollback takes a failed upgrade back; a rollback hook that fails does not get it stuck', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    const upgrade = { onFailure: 'rollback' };
    const files = {
      ...BODY,
      'templates/after.yaml': hookJob(
        'after',
        { on: 'post-upgrade', policy: 'before-hook-creation' },
        '.Values.breaks',
      ),
      'templates/back.yaml': hookMap('back', { on: 'pre-rollback' }),
    };
    await scene.install(chart('app', files), { upgrade });
    await scene.declare(chart('app', files), { upgrade, values: { text: 'two', breaks: true } });
    await eventually(
      async () => {
        assert.equal((await scene.history('app')).at(-1), '3 deployed');
        assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'one');
      },
      { timeoutMs: 30_000 },
    );
    assert.ok(await platform.get('ConfigMap', 'back'), 'its rollback hook ran');
    await platform.pluginSays('app', /post-upgrade hook Job .*after.* failed/);

    // Now the hook of the rollback itself fails: the revision to go back to is one of this chart.
    const stuck = {
      ...files,
      'templates/back.yaml': hookJob('back-job', { on: 'pre-rollback', policy: 'before-hook-creation' }, 'fails'),
    };
    await scene.install(chart('app', stuck, { version: '2.0.0' }), { upgrade, values: { text: 'three' } });
    await scene.declare(chart('app', stuck, { version: '2.0.0' }), { upgrade, values: { text: 'four', breaks: true } });
    await platform.pluginSays('app', /back-job.*failed/);
    await scene.install(chart('app', BODY, { version: '3.0.0' }), { upgrade, values: { text: 'five' } });
    assert.equal(dataOf(await platform.get('ConfigMap', 'body')).text, 'five');
    const pending = (await scene.history('app')).filter((one) => one.includes('pending'));
    assert.deepEqual(pending, []);
  });

  test('H10: a release that is too large for one Secret is refused before anything is written', async (t) => {
    const scene = await startHelmScene(t);
    const { platform } = scene;
    // Chance can't be compressed: eight ConfigMaps of 180 kB make a record of more than 1 MiB.
    const files = Object.fromEntries(
      Array.from({ length: 8 }, (_, index) => [
        `templates/big-${index}.yaml`,
        configMap(`big-${index}`, ['text: {{ range until 60 }}{{ randAlphaNum 3000 }}{{ end }}']),
      ]),
    );
    await scene.declare(chart('large', files));
    await platform.pluginSays('large', /record of release large .*1024 KiB/);
    assert.equal((await platform.plugin('large'))?.status?.phase, 'Failed');
    assert.equal(await platform.get('ConfigMap', 'big-0'), undefined);
    assert.deepEqual(await scene.records(), []);
  });
});
