import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { planDocument } from './json-form.ts';
import { planMarkdown } from './markdown.ts';
import { countActions, type ObjectPlan, type Outcome, type PluginPlan } from './object-plan.ts';
import { plain, plainLines } from './plain.ts';
import { planText } from './text.ts';
import { changeLines } from './value-lines.ts';
import { hasChanges, type Plan, settleDuplicates, summaryLine } from './whole.ts';

function object(kind: string, name: string, outcome: Outcome): ObjectPlan {
  return { key: `/${kind}/web/${name}`, ref: { apiVersion: 'v1', kind, namespace: 'web', name }, ...outcome };
}

function plugin(name: string, ...objects: ObjectPlan[]): PluginPlan {
  return { plugin: { namespace: 'sys', name }, objects, gone: [], counts: countActions(objects), warnings: [] };
}

function plan(plugins: PluginPlan[], over: Partial<Plan> = {}): Plan {
  return { commit: { head: 'def5678' }, plugins, held: [], faults: [], waits: [], drift: [], ...over };
}

const EXAMPLE = plan(
  [
    plugin(
      'web',
      object('ConfigMap', 'same', { action: 'unchanged', isOurs: true }),
      object('ConfigMap', 'new', {
        action: 'create',
        object: { data: { a: 'yes', b: ['x', { c: 1 }], t: 'l1\nl2\n' } },
      }),
      object('ConfigMap', 'c', {
        action: 'change',
        fields: [
          { path: 'data.level', op: 'replace', old: 'info', new: 'debug' },
          { path: 'data["a.conf"]', op: 'replace', old: 'one\ntwo\n', new: 'one\n2\n' },
          { path: 'data.more', op: 'add', new: { deep: { x: 1 } } },
        ],
      }),
      object('Service', 'old', { action: 'delete', uid: 'u' }),
      object('PersistentVolumeClaim', 'd', {
        action: 'keep',
        reason: 'volume',
        why: 'deletion.volumes is keep',
        forget: false,
      }),
    ),
    plugin(
      'api',
      object('Deployment', 'api', {
        action: 'conflict',
        with: 'kubectl',
        why: 'it holds fields',
        fields: [{ field: '.spec.replicas', manager: 'kubectl' }],
      }),
      object('Role', 'r', { action: 'refused', message: 'not allowed' }),
    ),
  ],
  {
    cluster: 'prod-eu',
    commit: { base: 'abc1234', head: 'def5678' },
    held: [{ plugin: 'sys/gone', reason: '6 of 10 objects would be removed', howToApprove: 'espalier approve x' }],
    faults: [{ file: 'apps/x.yaml', line: 3, column: 5, message: 'timeout must be a duration' }],
    waits: [{ plugin: 'sys/api', for: 'sys/web' }],
    drift: [{ plugin: 'sys/web', object: 'ConfigMap web/c', fields: ['data.level'], by: 'kubectl-edit' }],
  },
);

describe('the text of a plan', () => {
  it('reads like this', () => {
    assert.equal(
      planText(EXAMPLE),
      `Plan for cluster prod-eu, commit abc1234 → def5678
✗ apps/x.yaml:3:5: timeout must be a duration
! held (sys/gone): 6 of 10 objects would be removed
  espalier approve x
  sys/api waits for sys/web
~ drift in ConfigMap web/c (sys/web), changed by kubectl-edit: data.level

sys/web: 1 to create, 1 to change, 1 to delete, 1 kept, 1 unchanged
  - Service web/old
  + ConfigMap web/new
  ~ ConfigMap web/c
      ~ data.level: info → debug
      ~ data["a.conf"]:
          one
      -   two
      +   2
      + data.more:
      +   deep:
      +     x: 1
  = PersistentVolumeClaim web/d: stays: deletion.volumes is keep

sys/api: 1 in conflict, 1 refused
  ✗ Role web/r: refused by the API server: not allowed
  ! Deployment web/api: conflict with kubectl: it holds fields
      ! .spec.replicas: held by kubectl

2 plugins: 1 to create, 1 to change, 1 to delete, 1 kept, 1 in conflict, 1 refused, 1 held, 1 fault
`,
    );
  });

  it('shows unchanged and new objects where asked for', () => {
    const text = planText(EXAMPLE, { full: true });
    assert.match(text, /^ {4}ConfigMap web\/same$/m);
    const lines = ['+ data:', '+   a: "yes"', '+   b:', '+   - x', '+   - c: 1', '+   t: |', '+     l1', '+     l2'];
    assert.ok(text.includes(lines.map((line) => `      ${line}\n`).join('')), text);
  });

  it('has color only where asked for', () => {
    assert.ok(!planText(EXAMPLE).includes('\u001b'));
    assert.ok(planText(EXAMPLE, { color: true }).includes('\u001b[32m+ ConfigMap web/new\u001b[0m'));
  });

  it('cuts what is too long for anybody to read', () => {
    const fields = Array.from({ length: 500 }, (_, index) => ({ path: `data.f${index}`, op: 'add' as const, new: 1 }));
    const text = planText(plan([plugin('a', object('ConfigMap', 'c', { action: 'change', fields }))]));
    assert.match(text, /… 300 more lines/);
  });

  it('can not drive a terminal', () => {
    const hostile = '\u001b[2J\r\u202egnp.exe\u009b31m';
    const text = planText(
      plan(
        [
          plugin(
            'a',
            object('ConfigMap', hostile, { action: 'change', fields: [{ path: 'data.a', op: 'add', new: hostile }] }),
          ),
        ],
        {
          cluster: hostile,
          faults: [{ message: hostile }],
        },
      ),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/.test(text), JSON.stringify(text));
  });
});

describe('the Markdown of a plan (S26)', () => {
  it('reads like this', () => {
    const text = planMarkdown(
      plan([plugin('web', object('Service', 'old', { action: 'delete', uid: 'u' }))], { cluster: 'eu' }),
    );
    assert.equal(
      text,
      `### Plan for \`eu\`

**1 plugin: 1 to delete** (\`def5678\`)

<details><summary><code>sys/web</code>: 1 to delete</summary>

\`\`\`diff
- Service web/old
\`\`\`

</details>
`,
    );
  });

  const HOSTILE = [
    '<img src=x onerror=alert(1)>',
    '</details></summary><script>alert(1)</script>',
    '```\n# heading\n[x](javascript:alert(1))',
    '`````\n@everyone',
    '[link](javascript:alert(1)) ![i](https://evil.example/x.png) https://evil.example',
    '&lt;b&gt;',
    '| a | b |',
  ];

  /** What is left when code blocks, code spans, our own tags and character references are taken out. */
  function outside(markdown: string): string {
    return markdown
      .replace(/^(`{3,})[a-z]*\n[\s\S]*?\n\1$/gm, '')
      .replace(/(`+)[^`][\s\S]*?\1/g, '')
      .replace(/&#\d+;/g, '')
      .replace(/<\/?(details|summary|code)>/g, '');
  }

  for (const name of HOSTILE) {
    it(`shows ${JSON.stringify(name)} as text, wherever it stands`, () => {
      const fields = [{ path: name, op: 'replace' as const, old: name, new: `${name}x` }];
      const hostile = plugin(
        name,
        object(name, name, { action: 'change', fields }),
        object('X', 'y', { action: 'refused', message: name }),
      );
      hostile.warnings.push(name);
      for (const html of [true, false]) {
        const text = planMarkdown(
          plan([hostile], {
            cluster: name,
            commit: { base: name, head: name },
            held: [{ reason: name, howToApprove: name }],
            faults: [{ file: name, message: name }],
            waits: [{ plugin: name, for: name }],
            drift: [{ plugin: name, object: name, fields: [name], by: name }],
          }),
          { html },
        );
        assert.ok(!/[<>@[\]|]/.test(outside(text)), outside(text));
      }
    });
  }

  it('leaves nothing of any name outside of code', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', '<', '>', '\n', 'Q', '~', '*', '[', '&') }), (name) => {
        const text = planMarkdown(
          plan([plugin(name, object(name, name, { action: 'delete', uid: 'u' }))], { cluster: name }),
        );
        const rest = outside(text);
        assert.ok(!rest.includes('[') && !/<(?!$)/.test(rest), text);
      }),
    );
  });

  it('has no HTML for forges that would show it', () => {
    assert.ok(!planMarkdown(EXAMPLE, { html: false }).includes('<'));
  });

  it('says less rather than being cut, and never more than allowed', () => {
    const fields = Array.from({ length: 300 }, (_, index) => ({
      path: `data.f${index}`,
      op: 'add' as const,
      new: 'x',
    }));
    const plugins = Array.from({ length: 60 }, (_, index) =>
      plugin(`p${index}`, object('ConfigMap', 'c', { action: 'change', fields })),
    );
    const text = planMarkdown(plan(plugins), { maxLength: 65_536 });
    assert.ok(
      text.length <= 65_536 && text.includes('p59') && text.includes('data.f1:') && text.includes('more lines'),
    );
    assert.match(text, /Shortened to fit/);
    for (const maxLength of [20_000, 5_000, 500, 50]) {
      assert.ok(planMarkdown(plan(plugins), { maxLength }).length <= maxLength);
    }
  });
});

describe('the JSON of a plan', () => {
  it('names its version, and each object with what happens to it', () => {
    const document = planDocument(EXAMPLE);
    assert.equal(document.version, 'espalier.dev/plan/v1');
    assert.deepEqual(document.commit, { base: 'abc1234', head: 'def5678' });
    assert.deepEqual(document.plugins[0]?.objects[3], {
      action: 'delete',
      apiVersion: 'v1',
      kind: 'Service',
      namespace: 'web',
      name: 'old',
      uid: 'u',
    });
    assert.deepEqual(document.summary, {
      plugins: 2,
      create: 1,
      change: 1,
      unchanged: 1,
      adopt: 0,
      delete: 1,
      keep: 1,
      moved: 0,
      conflict: 1,
      refused: 1,
      held: 1,
      faults: 1,
    });
    assert.deepEqual(JSON.parse(JSON.stringify(document)), document);
  });
});

describe('the whole of a plan', () => {
  it('is summed up in a line', () => {
    assert.equal(summaryLine(plan([])), '0 plugins: no changes');
    const held = [{ reason: 'r', howToApprove: 'h' }];
    const kept: Outcome = { action: 'keep', reason: 'crd', why: '', forget: false };
    assert.equal(
      summaryLine(
        plan(
          [
            plugin('a', object('A', 'a', kept), object('A', 'b', { action: 'create', object: {} })),
            plugin('b'),
            plugin('c'),
          ],
          {
            held,
          },
        ),
      ),
      '3 plugins: 1 to create, 1 kept, 1 held',
    );
  });

  it('has changes when anything would be written, or somebody must look', () => {
    assert.equal(hasChanges(plan([plugin('a', object('A', 'a', { action: 'unchanged', isOurs: true }))])), false);
    assert.equal(hasChanges(plan([plugin('a', object('A', 'a', { action: 'moved', to: 'b' }))])), false);
    assert.equal(hasChanges(plan([plugin('a', object('A', 'a', { action: 'create', object: {} }))])), true);
    assert.equal(hasChanges(plan([], { faults: [{ message: 'x' }] })), true);
  });

  it('tells the second of two plugins that both would create an object (D11)', () => {
    const create: Outcome = { action: 'create', object: {} };
    const [first, second] = settleDuplicates([
      plugin('a', object('A', 'x', create)),
      plugin('b', object('A', 'x', create)),
    ]);
    assert.equal(first?.objects[0]?.action, 'create');
    assert.equal(second?.objects[0]?.action === 'conflict' && second.objects[0].with, 'plugin sys/a');
    assert.equal(second?.counts.conflict, 1);
  });

  it('shows no conflict where several plugins of one commit ask for one new namespace', () => {
    const create: Outcome = { action: 'create', object: {}, ensure: true };
    const plans = settleDuplicates(['a', 'b', 'c'].map((name) => plugin(name, object('Namespace', 'apps', create))));
    assert.deepEqual(
      plans.map(({ objects }) => objects[0]?.action),
      ['create', 'unchanged', 'unchanged'],
    );
    assert.equal(summaryLine(plan(plans)), '3 plugins: 1 to create');
  });
});

describe('values', () => {
  it('of very different long texts are not compared line by line', () => {
    const text = (word: string) => Array.from({ length: 3000 }, (_, index) => `${word}${index}`).join('\n');
    const lines = changeLines({ path: 'data.a', op: 'replace', old: text('a'), new: text('b') });
    assert.deepEqual(lines.slice(1), ['-   (3000 lines)', '+   (3000 lines, too different to compare line by line)']);
  });

  it('that could be taken for something else are quoted', () => {
    const line = (value: string) => changeLines({ path: 'a', op: 'add', new: value })[0];
    assert.deepEqual(['yes', '1', '', 'a: b', 'nginx:1.2', 'x '].map(line), [
      '+ a: "yes"',
      '+ a: "1"',
      '+ a: ""',
      '+ a: "a: b"',
      '+ a: nginx:1.2',
      '+ a: "x "',
    ]);
  });
});

it('plain text has no character that can not be seen', () => {
  assert.equal(plain('a\u0000b\u200bc\td\n'), 'a\\u0000b\\u200bc  d\\u000a');
  assert.equal(plainLines('a\tb\r\nc\rd\u001b\n'), 'a\tb\r\nc\\u000dd\\u001b\n');
});
