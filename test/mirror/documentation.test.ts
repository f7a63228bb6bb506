import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { type KubeObject, validateObject } from '../../src/api/index.ts';
import { rewriteImage } from '../../src/images/rules.ts';
import { shownImage, targetOf } from '../../src/images/target.ts';
import { espalier } from '../cli/support/espalier.ts';
import { blocksOf } from '../declare/documentation.ts';
import { tempDir } from '../support/tempdir.ts';
import { runs, syncYaml, writeFiles } from './support/platform.ts';

const page = readFileSync(new URL('../../docs/images.md', import.meta.url), 'utf8');
const blocks = blocksOf(page);
const only = (language: string) => blocks.filter((one) => one.language === language).map(({ text }) => text);

const RULES = { images: { rewrite: [{ from: 'docker.io', to: 'harbor.local/hub' }] } };

describe('docs/images.md', () => {
  test('its Sync is valid', () => {
    const [sync = ''] = only('yaml');
    assert.deepEqual(validateObject(parse(sync) as KubeObject), []);
  });

  test('lists as it says', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      ...prefixed('platform', { ...runs('web', 'docker.io/library/nginx:1'), ...runs('shop', 'quay.io/team/db:2') }),
      'sync.yaml': syncYaml(RULES),
    });
    const [shown = ''] = only('console');
    const [, command = '', ...lines] = /^\$ espalier (.*)\n([\s\S]*)$/.exec(shown) ?? [];
    const args = command.replace('./platform', join(dir, 'platform')).replace('sync.yaml', join(dir, 'sync.yaml'));
    const { code, stdout, stderr } = await espalier(args.split(' '));
    assert.deepEqual([code, stdout + stderr], [0, `${lines.join('\n').trimEnd()}\n`]);
  });

  test('mirrors to where it says', () => {
    const [, shown = ''] = only('console');
    const copied = [...shown.matchAll(/^copied {3}(\S+) → (\S+)$/gm)];
    assert.equal(copied.length, 2);
    for (const [, image = '', to] of copied) {
      const target = targetOf({ image, pulled: rewriteImage(image, RULES.images.rewrite) ?? image }, 'harbor.local');
      assert.equal('to' in target && shownImage(target.to), to);
    }
  });

  test('shows the JSON as it comes out', async (t) => {
    const dir = await writeFiles(await tempDir(t), {
      ...prefixed('p', runs('web', 'nginx:1')),
      'sync.yaml': syncYaml(RULES),
    });
    const args = ['images', 'list', join(dir, 'p'), '--offline', '--settings', join(dir, 'sync.yaml'), '-o', 'json'];
    const [shown = ''] = only('json');
    assert.deepEqual(JSON.parse((await espalier(args)).stdout), JSON.parse(shown));
  });

  test('every option that it names is one, and every reason is explained', async () => {
    const help = await Promise.all(['list', 'mirror'].map((name) => espalier(['images', name, '--help'])));
    const known = help.map(({ stdout }) => stdout).join();
    for (const [option] of page.matchAll(/--[a-z][a-z-]+/g)) assert.ok(known.includes(option), option);
    const codes = await readFile(new URL('../../src/api/errors.ts', import.meta.url), 'utf8');
    const ours = [...codes.matchAll(/'((?:Registry|Image|Archive)\w+)'/g)].map(([, code]) => code);
    assert.equal(ours.length, 8);
    for (const code of ours) assert.match(page, new RegExp(`^\\| \`${code}\` \\|`, 'm'));
  });
});

function prefixed(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}
