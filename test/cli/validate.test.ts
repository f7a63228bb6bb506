import assert from 'node:assert/strict';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { tourChange } from '../../src/playground/forge/tour-change.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';
import { espalier, espalierProcess } from './support/espalier.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'repo');
/** It must not be looked for. */
const NO_CLUSTER = { KUBECONFIG: '/nowhere/at/all' };

describe('espalier validate', { concurrency: 3 }, () => {
  test('the example repository is sound, with every overlay, and no cluster is needed', async () => {
    const ended = await espalierProcess(['validate', EXAMPLE, '--all-clusters'], { env: NO_CLUSTER });
    assert.deepEqual(ended, {
      code: 0,
      stdout: '',
      stderr: '11 plugins, 1 extension, 1 extensioninstance, no faults\n',
    });
  });

  test('so is what a colleague proposes for it on the tour of the playground', async (t) => {
    const repository = join(await tempDir(t), 'repo');
    await cp(EXAMPLE, repository, { recursive: true });
    const { files } = await tourChange((path) => readFile(join(repository, path), 'utf8'));
    await writeFiles(repository, Object.fromEntries(Object.entries(files).map(([path, text]) => [path, String(text)])));
    const { code, stdout } = await espalier(['validate', repository]);
    assert.deepEqual([code, stdout], [0, '']);
  });

  test('prints each fault with a path that can be opened from here, and ends with 1', async (t) => {
    const root = await tempDir(t);
    const repository = join(root, 'repo');
    await cp(EXAMPLE, repository, { recursive: true });
    await writeFile(join(repository, 'plugins', 'broken.yaml'), 'kind: [\n');
    await mkdir(join(repository, 'clusters', 'staging'));
    const instance = 'apiVersion: espalier.dev/v1alpha1\nkind: ExtensionInstance\nmetadata: {name: greeter}\n';
    await writeFile(
      join(repository, 'instances', 'greeter.yaml'),
      `${instance}spec:\n  extension: greeter\n  parameters: {replicas: 9}\n`,
    );
    const plugin = 'kind: manifests, source: {git: {path: apps/greeter, template: true}}, dependsOn: [{name: greeter}]';
    await writeFile(
      join(repository, 'plugins', 'needy.yaml'),
      `apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: needy}\nspec: {${plugin}}\n`,
    );
    const overlay = 'apiVersion: espalier.dev/v1alpha1\nkind: Plugin\nmetadata: {name: web}\nspec: {timeout: soon}\n';
    await writeFile(join(repository, 'clusters', 'staging', 'web.yaml'), overlay);
    const { code, stdout, stderr } = await espalierProcess(['validate', 'repo', '--cluster', 'staging'], { cwd: root });
    assert.equal(code, 1);
    const [first = '', second = '', third = '', ...others] = stdout.trimEnd().split('\n');
    assert.match(first, /^repo\/clusters\/staging\/web\.yaml:4:\d+: Plugin espalier-system\/web: .*timeout.* duration/);
    assert.match(
      second,
      /^repo\/instances\/greeter\.yaml:6:26: .*parameter replicas is the number 9, expected a whole number from 1 to 5/,
    );
    assert.match(third, /^repo\/plugins\/broken\.yaml:\d+:\d+: /);
    assert.deepEqual(others, []);
    assert.equal(stderr, '12 plugins, 1 extension, 1 extensioninstance, 3 faults in 3 files\n');
    const json = await espalierProcess(['validate', '--cluster', 'staging', '-o', 'json'], { cwd: repository });
    assert.equal(json.code, 1);
    const { counts, faults } = JSON.parse(json.stdout);
    assert.deepEqual(counts, { Plugin: 12, Extension: 1, ExtensionInstance: 1 });
    assert.deepEqual(
      [faults[0].file, faults[0].line, faults[0].path],
      ['clusters/staging/web.yaml', 4, '/spec/timeout'],
    );
  });

  test('a folder that declares nothing, and an overlay that is not there, are told and no fault', async (t) => {
    const { code, stderr } = await espalier(['validate', await tempDir(t), '--cluster', 'prod']);
    assert.equal(code, 0);
    assert.match(stderr, /there is no folder clusters\/prod/);
    assert.match(stderr, /Nothing is declared here/);
  });

  for (const [args, message] of [
    [['/nowhere/at/all'], /\/nowhere\/at\/all does not exist/],
    [[EXAMPLE, '--path', 'README.md'], /README\.md is not a folder/],
    [[EXAMPLE, '--label', 'tier'], /write it as key=value/],
  ] satisfies [string[], RegExp][]) {
    test(`validate ${args.slice(-2).join(' ')} is refused`, async () => {
      const { code, stderr } = await espalier(['validate', ...args]);
      assert.equal(code, 64);
      assert.match(stderr, message);
    });
  }
});
