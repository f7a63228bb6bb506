import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { EXAMPLE } from './example.fixture.ts';
import { PLAN_VERSION, planDocument } from './json-form.ts';
import { planMarkdown } from './markdown.ts';
import { ACTIONS } from './object-plan.ts';
import { planText } from './text.ts';

const page = readFileSync(new URL('../../docs/plan.md', import.meta.url), 'utf8');

/** The blocks of one language; a longer fence may hold a shorter one. */
function blocks(language: string): string[] {
  return [...page.matchAll(/^(`{3,})(\w+)\n([\s\S]*?)^\1$/gm)]
    .filter((found) => found[2] === language)
    .map((found) => found[3] ?? '');
}

describe('docs/plan.md', () => {
  it('shows the text of the example as it comes out', () => assert.ok(blocks('text').includes(planText(EXAMPLE))));
  it('shows the Markdown of the example as it comes out', () =>
    assert.ok(blocks('markdown').includes(planMarkdown(EXAMPLE))));
  it('shows the JSON of the example as it comes out', () => {
    assert.deepEqual(JSON.parse(blocks('json')[0] ?? ''), JSON.parse(JSON.stringify(planDocument(EXAMPLE))));
    assert.ok(page.includes(PLAN_VERSION));
  });
  it('explains every action', () => {
    for (const action of ACTIONS) assert.match(page, new RegExp(`^\\| \`${action}\` \\|`, 'm'), action);
  });
});
