import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tarOf } from '../charts/tar-write.ts';
import { differingFiles } from './same-content.ts';

async function archive(files: Record<string, string | Uint8Array>): Promise<Buffer> {
  const members = Object.entries(files).map(([path, content]) => {
    const data = Buffer.from(content);
    return { path, size: data.length, mode: 0o644, content: Readable.from([data]) };
  });
  return gzipSync(await buffer(Readable.from(tarOf(Readable.from(members)))));
}

test('charts are the same whoever packed them: charts in them unpacked, Chart.yaml in other words, other locks', async () => {
  const inner = await archive({ 'sub/Chart.yaml': 'name: sub\nversion: 1.0.0\n', 'sub/values.yaml': 'a: 1\n' });
  const ours = await archive({
    'web/Chart.yaml': '# ours\nname: web\nversion: "1.0.0"\nkeywords: []\nhome: ""\nannotations: {}\n',
    'web/charts/sub-1.0.0.tgz': inner,
    'web/Chart.lock': 'generated: today\n',
  });
  const theirs = await archive({
    'web/charts/sub/values.yaml': 'a: 1\n',
    'web/charts/sub/Chart.yaml': 'version: 1.0.0\nname: sub\n',
    'web/Chart.lock': 'generated: tomorrow\n',
    'web/Chart.yaml': 'version: 1.0.0\nname: web\nkeywords: []\n',
  });
  assert.deepEqual(await differingFiles(ours, theirs), []);
});

test('the files by which they differ are named', async () => {
  const ours = await archive({ 'web/Chart.yaml': 'name: web\n', 'web/values.yaml': 'a: 1\n', 'web/x': 'x' });
  const theirs = await archive({ 'web/Chart.yaml': 'name: web\nappVersion: 2\n', 'web/values.yaml': 'a: 2\n' });
  assert.deepEqual(await differingFiles(ours, theirs), ['Chart.yaml', 'values.yaml', 'x']);
});
