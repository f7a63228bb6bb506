import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REAL_TOOLS } from '../../src/render/render.ts';
import { renderTexts } from '../../src/render/text-templates.ts';

async function render(text: string): Promise<string | undefined> {
  const files = new Map([['hooks/pre-install.tmpl', Buffer.from(text)]]);
  const limits = { timeoutMs: 30_000, outputBytes: 1_000_000 };
  return (await renderTexts({ files, values: { mirror: 'harbor.local', port: 12345678 }, ...limits }, REAL_TOOLS))
    .get('hooks/pre-install.tmpl')
    ?.toString();
}

describe('a text as a Go template', { concurrency: 4 }, () => {
  it('keeps its white space, and prints the default of a parameter that nobody gave', async () => {
    const text = '#!/bin/sh\n\techo {{ .mirror }}:{{ .port }} "{{ .nobody | default "" }}"  \n\n';
    assert.equal(await render(text), '#!/bin/sh\n\techo harbor.local:12345678 ""  \n\n');
  });

  for (const [what, text, message] of [
    [
      'prints a parameter that nobody gave',
      '#!/bin/sh\nrm -r /srv/{{ .nobody }}\n',
      /^hooks\/pre-install\.tmpl asks for a value that is not there: give it in values, or write \{\{ \.name \| default "…" \}\}$/,
    ],
    [
      'fails in the middle',
      '#!/bin/sh\necho {{ .nobody.token }}\n',
      /^hooks\/pre-install\.tmpl:2:15 executing "hooks\/pre-install\.tmpl" at <\.nobody\.token>: nil pointer evaluating \S+ \S+$/,
    ],
    [
      'asks for what is missing',
      '{{ required "say a token" .token }}',
      /^execution error at \(hooks\/pre-install\.tmpl\): say a token$/,
    ],
  ] as const)
    it(`that ${what} says where in its own words`, async () => {
      await assert.rejects(render(text), { message });
    });
});
