import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addonChart, parameters, withRealNames } from './addon-chart.ts';

const file = (name: string, content = '') => ({ name, path: `addons/x/${name}`, content: Buffer.from(content) });

describe('the chart of an add-on', () => {
  it('passes each template on as it is, with a runner beside it', () => {
    const { files, names } = addonChart([file('sub/a.yaml', 'a: {{ .x }}')], {});
    assert.equal(String(files.get('templates/sub/_body.a.yaml')), 'a: {{ .x }}');
    assert.match(
      String(files.get('templates/sub/a.yaml')),
      /^\{\{ template "addon\/templates\/sub\/_body\.a\.yaml" \(merge \(deepCopy \.Values\) /,
    );
    assert.equal(names.get('addon/templates/sub/_body.a.yaml'), 'addons/x/sub/a.yaml');
  });

  it('does not run partials', () => {
    const { files } = addonChart([file('_lib.yaml'), file('b.tpl'), file('_c.tpl')], {});
    assert.deepEqual([...files.keys()].sort(), [
      'Chart.yaml',
      'templates/_b.tpl',
      'templates/_c.tpl',
      'templates/_lib.yaml',
    ]);
  });

  it('gives Helm no file that means something to it: no schema, no subchart, no definitions', () => {
    const hostile = [
      'values.schema.json',
      'charts/x.tgz',
      'charts/y/z.txt',
      'crds/c.txt',
      'templates/t.txt',
      'Chart.lock',
      '.helmignore',
    ];
    const { files, warnings } = addonChart([...hostile.map((name) => file(name)), file('ok.conf')], {});
    assert.deepEqual([...files.keys()], ['Chart.yaml', 'ok.conf']);
    assert.equal(warnings.length, hostile.length);
  });

  it('takes files that are called like parts of a chart for templates', () => {
    const { files } = addonChart([file('Chart.yaml', 'x'), file('values.yaml'), file('charts/a.yaml')], {});
    assert.match(String(files.get('Chart.yaml')), /^apiVersion: v2\nname: addon\n/);
    assert.ok(
      files.has('templates/Chart.yaml') && files.has('templates/values.yaml') && files.has('templates/charts/a.yaml'),
    );
    assert.ok(!files.has('values.yaml') && !files.has('charts/a.yaml'));
  });
});

describe('parameters', () => {
  it('make integers integers again, and write no value out', () => {
    assert.equal(
      parameters({ a: 'canary', n: 3, f: 1.5, l: [1, 'x'] }, '.Values'),
      [
        '(dict "a" (index .Values "a")',
        '"n" (int (index .Values "n"))',
        '"f" (index .Values "f")',
        '"l" (list (int (index (index .Values "l") 0)) (index (index .Values "l") 1)))',
      ].join(' '),
    );
    assert.equal(parameters({ a: { b: ['x'] } }, '.Values'), '.Values');
    assert.equal(parameters({ big: 2 ** 60 }, '.Values'), '.Values');
  });

  it('can not break out of their expression', () => {
    const name = '"}} {{ .secret }}\n`';
    const text = parameters({ [name]: 1 }, '.Values');
    assert.equal(text, '(dict "\\"}} {{ .secret }}\\n`" (int (index .Values "\\"}} {{ .secret }}\\n`")))');
  });
});

it('messages have the names that the user knows', () => {
  const names = new Map([['addon/templates/_body.a.yaml', 'addons/x/a.yaml']]);
  assert.equal(
    withRealNames('error at (addon/templates/_body.a.yaml:3:5): no', names),
    'error at (addons/x/a.yaml:3:5): no',
  );
});
