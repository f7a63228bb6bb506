import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Plugin, readAs } from '../../src/api/index.ts';
import { createCharts } from '../../src/charts/charts.ts';
import { ChartSources } from '../../src/reconcile/chart-sources.ts';
import { FakeClock } from '../support/clock.ts';
import { tempDir } from '../support/tempdir.ts';
import { sha256 } from './support/archives.ts';
import { startWebsite } from './support/website.ts';

function download(url: string): Plugin {
  const spec = { kind: 'manifests', source: { download: { url } }, poll: '1h' };
  return readAs(
    { apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata: { name: 'a', namespace: 'b' }, spec },
    'Plugin',
  );
}

test('after a restart with an empty cache, what changed meanwhile is looked up at the next try and not by its schedule', async (t) => {
  const site = await startWebsite();
  t.after(() => site.close());
  const clock = new FakeClock();
  async function start(): Promise<ChartSources> {
    const options = { proxy: null, addresses: { privateAddresses: true }, clock };
    const charts = createCharts({ cacheDir: await tempDir(t), ...options });
    t.after(() => charts.close());
    return new ChartSources({ charts, clock, outside: { get: () => undefined }, onTrouble: assert.fail });
  }
  const { signal } = new AbortController();
  const contents = [Buffer.from('a: 1\n'), Buffer.from('a: 2\n')] as const;

  site.files.set('/a.yaml', contents[0]);
  const plugin = download(`${site.url}/a.yaml`);
  const before = await start();
  await before.look(plugin, false, signal);
  const resolved = before.known(plugin);
  assert.equal(resolved?.id, sha256(contents[0]));
  site.files.set('/a.yaml', contents[1]);
  await before.look(plugin, false, signal);
  await before.folder(plugin, signal);
  assert.equal(before.known(plugin)?.id, resolved?.id, 'its time has not come');

  const after = await start();
  const recorded: Plugin = { ...plugin, status: { resolved } };
  await after.look(recorded, false, signal);
  await assert.rejects(after.folder(recorded, signal), { code: 'DownloadFailed', message: /changed since/ });
  await after.look(recorded, false, signal);
  assert.equal(after.known(recorded)?.id, sha256(contents[1]));
  await after.folder(recorded, signal);
  assert.equal(await after.look(recorded, false, signal), 3_600_000);
});
