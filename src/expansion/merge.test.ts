import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editsDiff } from './edits-diff.ts';
import { type Merged, mergeInto, type Wanted } from './merge.ts';

const NOTHING: Wanted = { skipSteps: [], skipConditions: [], delegateConditions: [], files: [] };
const DEMO: Wanted = {
  skipSteps: ['Push images', 'Load images'],
  skipConditions: ['EnsureDocker'],
  delegateConditions: ['EnsureKubelet'],
  files: [{ src: '/data/files/etc/demo.conf', dst: '/etc/demo.conf' }],
};

function merged(text: string, wanted = DEMO): Merged {
  const result = mergeInto(text, wanted);
  if ('faults' in result) throw new Error(JSON.stringify(result.faults));
  return result;
}

function faults(text: string, wanted = DEMO): string[] {
  const result = mergeInto(text, wanted);
  if (!('faults' in result)) throw new Error('it was merged');
  return result.faults.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

const WRITTEN = `{
    "config": {"skipSteps": ["Push images"],   "odd":1e2, "big": 12345678901234567890},
    "cluster": {
        "spec": {
            "features": {
                "skipConditions": [
                    "EnsureNvidia"
                ],
                "files": []
            }
        }
    }
}
`;

test('joins an expansion at its places, in the layout of the file, and leaves every other byte', () => {
  assert.equal(
    merged(WRITTEN).text,
    `{
    "config": {"skipSteps": ["Push images", "Load images"],   "odd":1e2, "big": 12345678901234567890},
    "cluster": {
        "spec": {
            "features": {
                "skipConditions": [
                    "EnsureNvidia",
                    "EnsureDocker"
                ],
                "files": [
                    {
                        "src": "/data/files/etc/demo.conf",
                        "dst": "/etc/demo.conf"
                    }
                ],
                "delegateConditions": [
                    "EnsureKubelet"
                ]
            }
        }
    }
}
`,
  );
});

const LAYOUTS: [string, string][] = [
  ['an empty object', '{}'],
  ['an object in one line', '{"config": {"a": 1}}'],
  ['a compact object', '{"config":{"skipSteps":["x"]},"cluster":null}\n'],
  ['line ends of Windows and tabs', '{\r\n\t"config": {\r\n\t\t"skipSteps": null\r\n\t}\r\n}\r\n'],
  ['files one to a line', '{"cluster":{"spec":{"features":{"files":[\n  {"src": "a", "dst": "b"}\n]}}}}'],
  ['what was there', WRITTEN],
];

for (const [what, text] of LAYOUTS) {
  test(`merging into ${what} says all that is wanted, and a second time changes nothing`, () => {
    const once = merged(text);
    const { config, cluster } = JSON.parse(once.text) as {
      config: { skipSteps: string[] };
      cluster: { spec: { features: Wanted } };
    };
    const { features } = cluster.spec;
    for (const step of DEMO.skipSteps) assert.ok(config.skipSteps.includes(step));
    assert.ok(features.skipConditions.includes('EnsureDocker'));
    assert.deepEqual(features.delegateConditions, ['EnsureKubelet']);
    assert.deepEqual(features.files.at(-1), DEMO.files[0]);
    assert.deepEqual(merged(once.text), { text: once.text, edits: [], notes: [] });
    assert.deepEqual(merged(text, NOTHING), { text, edits: [], notes: [] });
  });
}

test('keeps the line ends, the indentation and the compactness of a file', () => {
  const windows = merged('{\r\n\t"config": {\r\n\t\t"skipSteps": null\r\n\t}\r\n}\r\n').text;
  assert.equal(windows.replaceAll('\r\n', '').includes('\n'), false);
  assert.match(windows, /^\t\t"skipSteps": \[\r\n\t\t\t"Push images",\r\n\t\t\t"Load images"\r\n\t\t\]\r$/m);
  const compact = merged('{"config":{"skipSteps":["x"]},"cluster":null}').text;
  assert.equal(compact, JSON.stringify(JSON.parse(compact)));
});

test('keeps a file of the same destination as it is, and says so', () => {
  const text = '{"cluster": {"spec": {"features": {"files": [{"src": "/mine", "dst": "/etc/demo.conf"}]}}}}';
  const result = merged(text, { ...NOTHING, files: DEMO.files });
  assert.equal(result.text, text);
  assert.deepEqual(result.notes, [
    '/etc/demo.conf stays as the file has it, from /mine, and not from /data/files/etc/demo.conf',
  ]);
});

test('joins what is wanted twice once', () => {
  assert.equal(merged('{}', { ...NOTHING, skipSteps: ['a', 'a'] }).text.match(/"a"/g)?.length, 1);
});

test('refuses every wrong type in the merged places, each with its line and column', () => {
  const text = `{"config": {"skipSteps": "all"},
 "cluster": {"spec": {"features": {
  "files": [{"src": "a"}], "skipConditions": [1, null],
  "delegateConditions": [], "delegateConditions": []}}}}`;
  assert.deepEqual(faults(text), [
    '1:26 config.skipSteps is a string; it has to be an array',
    '3:13 cluster.spec.features.files takes objects with the texts "src" and "dst"',
    '3:47 cluster.spec.features.skipConditions holds a number; it takes texts',
    '3:50 cluster.spec.features.skipConditions holds null; it takes texts',
    '4:29 cluster.spec.features.delegateConditions is written twice; remove one',
  ]);
  assert.deepEqual(faults('{"Config": {}}'), ['1:2 "Config": write it "config"']);
  assert.deepEqual(faults('[]'), ['1:1 the file is an array; it has to be an object']);
  assert.deepEqual(faults('null'), ['1:1 the file is null; it has to be an object']);
});

for (const [text, fault] of [
  ['', '1:1 the file ends where a value should be'],
  ['{"a": 1,\n "b": tru}', '2:7 there is "t" where a value should be'],
  ['{"a": 1 "b": 2}', '1:9 there is "\\"" where "," or "}" should be'],
  ['{"a": 1,}', '1:9 there is "}" where a name in double quotes should be'],
  ['{"a": "x\n"}', '1:9 a text holds a line break or control character; write it as \\n'],
  ['{"a": "x}', '1:7 a text begins here and never ends'],
  ['{"a": "\\x"}', '1:8 no escape that JSON knows follows the \\'],
  ['{"a": 01}', '1:8 there is "1" where "," or "}" should be'],
  ['\ufeff{}', '1:1 there is a byte order mark, which JSON has not; save it as UTF-8 without one'],
  ['{ // mine', '1:3 there is "/" where a name in double quotes should be; JSON has no comments, so remove it'],
  ['{} {}', '1:4 there is "{" where the end of the file should be'],
  [`${'['.repeat(5000)}`, '1:1002 is nested deeper than 1000 levels'],
] as const) {
  test(`refuses ${JSON.stringify(text.slice(0, 30))} as no JSON, with line and column`, () => {
    assert.deepEqual(faults(text), [fault]);
  });
}

test('shows the edits as a unified diff', () => {
  const { edits } = merged(WRITTEN, { ...NOTHING, skipConditions: ['EnsureDocker'] });
  assert.equal(
    editsDiff('tke.json', WRITTEN, edits),
    `--- tke.json
+++ tke.json
@@ -4,7 +4,8 @@
         "spec": {
             "features": {
                 "skipConditions": [
-                    "EnsureNvidia"
+                    "EnsureNvidia",
+                    "EnsureDocker"
                 ],
                 "files": []
             }
`,
  );
  assert.match(editsDiff('tke.json', '{}', merged('{}').edits), /^-\{\}\n\\ No newline at end of file\n\+\{\n/m);
});

test('shows of a file in one long line what stands around the edits', () => {
  const text = `{"a":"${'x'.repeat(5_000_000)}","config":{"skipSteps":["Load images"]},"z":"${'y'.repeat(500)}"}`;
  const wanted = { ...NOTHING, skipSteps: ['Push images'], skipConditions: ['EnsureDocker'] };
  const [, , , before = '', , after = ''] = editsDiff('tke.json', text, merged(text, wanted).edits).split('\n');
  assert.match(before, /^-\{"a":"x+…x+","config":\{"skipSteps":\["Load images"\]\},"z":"y+…y+"\}$/);
  assert.ok(before.length < 400, before);
  assert.equal(after.includes('["Load images","Push images"]'), true);
  assert.ok(after.endsWith('{"skipConditions":["EnsureDocker"]}}}}'), after);
});

test('a file of 10 MB is merged whole', () => {
  const filler = JSON.stringify({ name: 'x'.repeat(80), list: [1, 2, { a: null }], more: 'y\\n"' });
  const text = `{"rest": [\n${Array(80_000).fill(filler).join(',\n')}\n], "config": {}}`;
  const result = merged(text);
  assert.ok(text.length > 10_000_000);
  assert.equal(result.text.slice(0, text.length - 20), text.slice(0, text.length - 20));
});
