import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseValues } from '../../src/declare/values-text.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';

const SCALARS =
  'yes y Yes YES no n NO on On off OFF true True null ~ Null 0 00 07 0644 0o644 08 012 0x1f 0b11 1_000 +5 -5 1e3 .5 1.0 1.5 1:30 2024-01-01 2024-01-01T10:00:00Z v1.0 1.2.3 = "yes" !!str -0644 -0x1f 0X1F 1_000.5 0B11 0O17 -0b11 1_ _1 0x_1f 1e+3 12e03 +.5 -.5 1__0 0_7 0x 0b2 0o9 + . .. 1.2_3 1_2e3 -0 +0 1e 0_ 0xg';

test('every plain word and number means in values what Helm takes it for', async () => {
  const text = SCALARS.split(' ')
    .map((scalar, index) => `k${index}: ${scalar}\n`)
    .join('');
  const chart = await mkdtemp(join(tmpdir(), 'espalier-scalars-'));
  try {
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: scalars\nversion: 0.1.0\n');
    await writeFile(join(chart, 'values.yaml'), text);
    await mkdir(join(chart, 'templates'));
    await writeFile(join(chart, 'templates', 'all.yaml'), 'json: {{ .Values | toJson | quote }}\n');
    const args = ['template', 'x', chart];
    const { code, stdout, stderr } = await runProgram(await toolPath('helm'), { args, timeoutMs: 60_000 });
    assert.equal(code, 0, stderr);
    const helm = JSON.parse(String(parseValues(stdout.replace(/^---\n#.*\n/, '')).json));
    const ours = Object.fromEntries(Object.entries(parseValues(text)).filter(([, value]) => value !== null));
    assert.deepEqual(ours, helm);
  } finally {
    await rm(chart, { recursive: true, force: true });
  }
});
