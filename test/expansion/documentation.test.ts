import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { expansionCommand } from '../../src/cli/expansion.ts';
import { readExpansion } from '../../src/expansion/format.ts';

const page = await readFile(new URL('../../docs/expansion.md', import.meta.url), 'utf8');

describe('docs/expansion.md', () => {
  test('its expansion.yaml has every field and no fault', () => {
    const text = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
    const { expansion, faults } = readExpansion(text);
    assert.deepEqual(faults, []);
    for (const field of Object.keys(expansion)) assert.match(text, new RegExp(`^${field}:`, 'm'));
    assert.equal(Object.keys(expansion).length, 14);
  });

  test('every command that it names is one', () => {
    const names = expansionCommand().commands.map((command) => command.name());
    const named = [...page.matchAll(/espalier expansion ([a-z]+)/g)].map(([, name = '']) => name);
    assert.ok(named.length > 3);
    for (const name of named) assert.ok(names.includes(name), name);
  });
});
