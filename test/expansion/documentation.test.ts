import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expansionCommand } from '../../src/cli/expansion.ts';
import { readExpansion } from '../../src/expansion/format.ts';
import { chartTgz } from '../charts/support/archives.ts';
import { startRegistry } from '../charts/support/registry.ts';
import { espalier } from '../cli/support/espalier.ts';
import { startMuseum } from '../mirror/support/museum.ts';
import { writeFiles } from '../mirror/support/platform.ts';
import { tempDir } from '../support/tempdir.ts';
import { dockerArchive } from './support/image-archives.ts';

const page = readFileSync(new URL('../../docs/expansion.md', import.meta.url), 'utf8');

const HOOK = '#!/bin/sh\n';

describe('docs/expansion.md', () => {
  test('its expansion.yaml has every field and no fault', () => {
    const text = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const { expansion, faults } = readExpansion(text);
    assert.deepEqual(faults, []);
    for (const field of Object.keys(expansion)) assert.match(text, new RegExp(`^${field}:`, 'm'));
    assert.equal(Object.keys(expansion).length, 14);
  });

  test('pushes as it shows, and every command that reads from a registry does', async (t) => {
    const dir = await tempDir(t);
    const [registry, museum] = await Promise.all([startRegistry(dir), startMuseum()]);
    t.after(async () => void (await Promise.all([registry.stop(), museum.close()])));
    const yaml = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    await writeFiles(dir, {
      'demo/expansion.yaml': yaml,
      'demo/charts/demo-0.1.0.tgz': chartTgz('demo', '0.1.0'),
      'demo/images.tar.gz': dockerArchive('demo/alpine:3.10'),
      'demo/files/etc/modules-load.d/demo.conf': 'demo\n',
      'demo/provider/baremetal/conf/docker/daemon.json': '{}\n',
      ...Object.fromEntries(
        ['pre-install', 'post-install', 'post-cluster-ready'].map((h) => [`demo/hooks/${h}`, HOOK]),
      ),
      'tke.json': '{}',
    });
    const run = (command: string) => {
      const args = command.split(' ').map((word) => {
        if (word === 'demo' || word === 'tke.json') return join(dir, word);
        return word.replace('harbor.local', registry.host).replace('https://museum.local', museum.url);
      });
      return espalier([...args.slice(1), '--insecure-registry', museum.host]);
    };
    const [, command = '', shown = ''] = /```console\n\$ (.*)\n([\s\S]*?)```/.exec(page) ?? [];
    const pushed = await run(command);
    // How far it is, is said from the first second on.
    const said = (pushed.stdout + pushed.stderr).replace(/^\w+: (sending|done) .*\n/gm, '');
    assert.equal(said.replaceAll(registry.host, 'harbor.local'), shown);
    const fromRegistry = [...page.matchAll(/^espalier .*oci:.*$/gm)].map(([line]) => line);
    assert.equal(fromRegistry.length, 4);
    for (const line of fromRegistry) assert.equal((await run(line)).code, 0, line);
    assert.deepEqual([...museum.charts.keys()], ['demo-0.1.0']);
    for (const [to, why] of [
      [['-o', join(dir, 'gone/demo.tgz')], /gone\/demo\.tgz can't be written: its folder does not exist/],
      [['-o', join(dir, 'demo/demo.tgz')], /would be in the package itself; write it elsewhere: -o \.\.\/demo\.tgz/],
    ] as const)
      assert.match((await espalier(['expansion', 'build', join(dir, 'demo'), ...to])).stderr, why);
  });

  test('every option that it names is one', () => {
    const push = expansionCommand().commands.find((command) => command.name() === 'push');
    const known = push?.options.map(({ long }) => long) ?? [];
    const section = /## Push it([\s\S]*?)\n## /.exec(page)?.[1] ?? '';
    for (const [option] of section.matchAll(/--[a-z][a-z-]+/g)) assert.ok(known.includes(option), option);
  });

  test('every command that it names is one', () => {
    const names = expansionCommand().commands.map((command) => command.name());
    const named = [...page.matchAll(/espalier expansion ([a-z]+)/g)].map(([, name = '']) => name);
    assert.ok(named.length > 3);
    for (const name of named) assert.ok(names.includes(name), name);
  });
});
