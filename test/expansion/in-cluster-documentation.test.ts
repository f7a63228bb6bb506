import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { type KubeObject, validateObject } from '../../src/api/index.ts';
import { chartTgz } from '../charts/support/archives.ts';
import { espalier } from '../cli/support/espalier.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';

const read = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const page = read('expansion-in-cluster.md');
const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => text);
const files = new Map(
  blocks.flatMap((text) => [...text.matchAll(/^# file: (\S+)$/gm)].map(([, file = '']) => [file, text])),
);
const [packageYaml = ''] = read('expansion.md').match(/(?<=```yaml\n)[\s\S]*?(?=```)/) ?? [];

async function repository(t: { after(run: () => unknown): void }): Promise<string> {
  const hooks = ['pre-install', 'post-install', 'post-cluster-ready'];
  return await writeFiles(join(await tempDir(t), 'platform'), {
    ...Object.fromEntries(files),
    'packages/demo/expansion.yaml': packageYaml,
    'packages/demo/charts/demo-0.1.0.tgz': chartTgz('demo', '0.1.0', { 'templates/cm.yaml': CONFIG_MAP }),
    'packages/demo/files/etc/modules-load.d/demo.conf': '',
    'packages/demo/provider/baremetal/conf/docker/daemon.json': '{}',
    ...Object.fromEntries(hooks.map((hook) => [`packages/demo/hooks/${hook}`, '#!/bin/sh\n'])),
  });
}

const CONFIG_MAP = `apiVersion: v1
kind: ConfigMap
metadata: {name: demo}
data: {greeting: {{ .Values.greeting }}, tier: {{ .Values.global.tier }}}
`;

describe('docs/expansion-in-cluster.md', () => {
  test('its objects are right, whole and in parts', () => {
    for (const text of blocks) {
      const found = parse(text) as Partial<KubeObject>;
      const spec = found.apiVersion === undefined ? (found.spec ?? found) : found.spec;
      const source = { git: { path: 'packages/demo' } };
      const whole =
        found.apiVersion === undefined
          ? {
              ...{ apiVersion: 'espalier.dev/v1alpha1', kind: 'Plugin', metadata: { name: 'demo' } },
              spec: { kind: 'expansion', source, ...(spec as object) },
            }
          : found;
      assert.deepEqual(validateObject(whole), [], text);
    }
    assert.equal(files.size, 2);
  });

  test('its package becomes the parts of its table, with values where it says', async (t) => {
    const folder = await repository(t);
    const args = ['render', folder, '--offline', '--nested', '--settings', join(folder, 'sync.yaml'), '-n', 'sys'];
    const { stdout, stderr, code } = await espalier(args);
    assert.equal(code, 0, stderr);
    const names = [...stdout.matchAll(/^# \S+?\/(\S+)$/gm)].map(([, name]) => name);
    const parts = [...page.matchAll(/^\| `<name>-(\S+)`/gm)].map(
      ([, part = '']) => `demo-${part.replace('<chart>', 'demo')}`,
    );
    assert.equal(parts.length, 5);
    assert.deepEqual([...new Set(names)].toSorted(), ['demo', ...parts].toSorted());
    assert.match(stdout, /greeting: hello\n\s*tier: gold/);
    for (const [, object = ''] of page.matchAll(/✓ (?:Job|ConfigMap|Deployment|Extension) (\S+)/g))
      assert.match(stdout, new RegExp(`name: ${object.replaceAll('.', '\\.')}\n`), object);
  });

  test('its fault is told as it shows', async (t) => {
    const folder = await repository(t);
    await writeFiles(folder, {
      'packages/demo/expansion.yaml': packageYaml.replace('demo-0.1.0.tgz]', 'demo-0.1.0.tgz, demo-0.2.0.tgz]'),
    });
    const { stdout } = await espalier(['validate', folder]);
    const [, shown = ''] = /\$ espalier validate\npackages\/demo\/expansion.yaml:\d+:\d+: (.*)\n/.exec(page) ?? [];
    assert.ok(stdout.includes(shown), stdout);
  });
});
