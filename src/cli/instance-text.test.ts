import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isError } from '../api/errors.ts';
import { instanceText, type Named, without, withValue } from './instance-text.ts';

const WEB: Named = { kind: 'ExtensionInstance', name: 'web', namespace: 'team', usual: 'team' };
const HEAD = 'apiVersion: espalier.dev/v1alpha1\nkind: ExtensionInstance\n';
const VERSION = ['spec', 'version'];
const APPROVE = ['metadata', 'annotations', 'espalier.dev/approve-version'];

const FILE = `# The shop's own ingress.
${HEAD}metadata: {name: web,   namespace: team} # odd spaces
spec:
  extension: ingress   # not nginx

  parameters:
    # two are enough
    replicas: 2
---
${HEAD}metadata:
    name: dns
spec:
    version: "~1"   # pinned
    extension: dns
# the end
`;

describe('a value of a declaration', () => {
  test('is added, and every other character stays', () => {
    const edited = withValue(FILE, WEB, VERSION, '~1.18');
    assert.equal(edited, FILE.replace('# not nginx\n', '# not nginx\n  version: ~1.18\n'));
  });

  test('is changed in the right document, comments kept', () => {
    const dns = { ...WEB, name: 'dns' };
    assert.equal(withValue(FILE, dns, VERSION, 'v2.0.0'), FILE.replace('"~1"   #', 'v2.0.0   #'));
  });

  test('is added below what is not there yet, in braces and in lines', () => {
    assert.equal(
      withValue(FILE, WEB, APPROVE, 'v2'),
      FILE.replace('{name: web,', '{annotations: {espalier.dev/approve-version: v2}, name: web,'),
    );
    const dns = { ...WEB, name: 'dns' };
    const added = '    name: dns\n    annotations: {espalier.dev/approve-version: v2}\n';
    assert.equal(withValue(FILE, dns, APPROVE, 'v2'), FILE.replace('    name: dns\n', added));
  });

  test('is text, whatever it looks like', () => {
    for (const version of ['1.10', '2', 'on', '>=1 <2', '*', '~', '1:30'])
      assert.match(withValue(FILE, WEB, VERSION, version), /version: \S/);
  });

  test('is written into JSON as JSON', () => {
    const object = { apiVersion: 'x', kind: WEB.kind, metadata: { name: 'web' }, spec: { extension: 'a' } };
    for (const text of [JSON.stringify(object), `${JSON.stringify(object, null, 2)}\n`])
      assert.deepEqual(JSON.parse(withValue(text, WEB, VERSION, 'v2')).spec, { version: 'v2', extension: 'a' });
  });

  test('is left to a person where the text is not cut into safely', () => {
    for (const spec of [
      'spec: &a {extension: b}\nother: *a\nmore: {<<: *a}',
      'spec:\n  extension: b\n  version: &v "1"',
      'spec: {}',
    ]) {
      const text = `${HEAD}metadata: {name: web}\n${spec}\n`;
      const edited = ((): string => {
        try {
          return withValue(text, WEB, VERSION, 'v2');
        } catch (error) {
          assert.ok(isError(error, 'CommandRefused'));
          assert.match(error.message, /team\/web .*set spec\.version to "v2" by hand/);
          return '';
        }
      })();
      assert.ok(edited === '' || /version: v2/.test(edited));
    }
    assert.throws(() => withValue(FILE, { ...WEB, name: 'none' }, VERSION, 'v2'), /by hand/);
  });
});

describe('a declaration', () => {
  test('is taken out of a file that has others, which stay as they are', () => {
    const [web = '', dns = ''] = FILE.split('---\n');
    assert.equal(without(FILE, WEB), `---\n${dns}`);
    assert.equal(without(FILE, { ...WEB, name: 'dns' }), web);
    assert.equal(without(`# lead\n---\n${web}---\n${dns}`, WEB), `# lead\n---\n${dns}`);
  });

  test('takes its file along when nothing else is in it', () => {
    assert.equal(without(instanceText({ kind: WEB.kind, metadata: { name: 'web' } }), WEB), undefined);
    assert.equal(without(`---\n${HEAD}metadata: {name: web}\n---\n# nothing\n`, WEB), undefined);
  });

  test('in a list is left to a person', () => {
    const list = `kind: List\nitems:\n- {kind: ExtensionInstance, metadata: {name: web}}\n`;
    assert.throws(() => without(list, WEB), /take it out by hand/);
  });
});
