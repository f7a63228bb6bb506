import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CHECK_VERSION, CODES, checkDocument } from '../../src/cli/check-model.ts';
import { LIVES_KNOWN_UNTIL } from '../../src/resolve/api-lives.generated.ts';
import { apiFindings, parseTarget } from '../../src/resolve/served-apis.ts';
import { blocksOf } from '../declare/documentation.ts';
import { writeFolder } from '../support/tempdir.ts';
import { espalierProcess } from './support/espalier.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/kubernetes-upgrades.md'), 'utf8');
const blocks = blocksOf(page);

describe('docs/kubernetes-upgrades.md', () => {
  test('the command prints of the repository what the page shows', async (t) => {
    const files = blocks.flatMap(({ file, text }) => (file === undefined ? [] : [[file, text]]));
    const folder = await writeFolder(t, Object.fromEntries(files));
    const [command = '', ...shown] =
      blocks
        .find(({ language }) => language === 'text')
        ?.text.trim()
        .split('\n') ?? [];
    const args = command.replace('$ espalier ', '').split(' ');
    const { code, stdout } = await espalierProcess(args, { cwd: folder, env: { KUBECONFIG: '/nonexistent' } });
    assert.equal(stdout.trim(), shown.join('\n'));
    assert.equal(code, 1);
  });

  test('every code is explained, with how bad it is', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, code, result]) => [code, result]);
    assert.deepEqual(Object.fromEntries(rows), CODES);
  });

  test('the JSON form is what it shows', () => {
    const shown = JSON.parse(blocks.find(({ language }) => language === 'json')?.text ?? '');
    const metadata = { name: 'nightly', namespace: 'backup' };
    const [api] = apiFindings([{ apiVersion: 'batch/v1beta1', kind: 'CronJob', metadata }], 37);
    const to = parseTarget('1.37');
    assert.ok(api !== undefined && to !== undefined);
    const findings = [{ code: 'ApiRemoved' as const, message: api.message, api }];
    const item = {
      kind: 'Plugin' as const,
      namespace: 'espalier-system',
      name: 'backup',
      before: '9c1f0e2ab4',
      findings,
    };
    const made = checkDocument({ from: 'v1.36.3', to, items: [item], faults: [], notes: [] });
    assert.deepEqual({ ...shown, summary: undefined }, { ...made, summary: undefined });
    assert.equal(shown.version, CHECK_VERSION);
  });

  test('says which Kubernetes the table is of', () => {
    assert.ok(page.includes(`It is that of Kubernetes 1.${LIVES_KNOWN_UNTIL}:`));
  });
});
