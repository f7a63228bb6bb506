// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the sources under test hold templates of their own
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { judge } from './architecture/judge.ts';
import { PACKAGES, ROOMS } from './architecture/rooms.ts';
import { scan } from './architecture/scan.ts';

const root = new URL('../', import.meta.url);

async function readJson(path: string): Promise<Record<string, Record<string, string>>> {
  return JSON.parse(await readFile(new URL(path, root), 'utf8'));
}

test('every file of src keeps to its room', async () => {
  const faults: string[] = [];
  let files = 0;
  for await (const path of glob('src/**/*.{ts,tsx}', { cwd: root.pathname })) {
    files++;
    faults.push(...judge({ path, source: await readFile(new URL(path, root), 'utf8') }));
  }
  assert.ok(files > 10, 'the files were found');
  assert.deepEqual(faults.sort(), []);
});

test('every package that the project depends on has an owner', async () => {
  const { dependencies = {} } = await readJson('package.json');
  const owned = new Set(Object.keys(PACKAGES));
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !owned.has(name)),
    [],
  );
});

test('the rooms have no circle: whoever is used does not use the user', () => {
  const reach = (room: string, seen: string[] = []): string[] =>
    (ROOMS[room]?.uses ?? []).flatMap((used) =>
      seen.includes(used) ? [used] : [used, ...reach(used, [...seen, used])],
    );
  for (const room of Object.keys(ROOMS)) assert.ok(!reach(room).includes(room), room);
});

test('no test file waits outside of its tests and hooks: it is loaded as a whole (test/run)', async () => {
  const waits: string[] = [];
  for await (const path of glob('{src,test}/**/*.test.ts', { cwd: root.pathname })) {
    const lines = (await readFile(new URL(path, root), 'utf8')).split('\n');
    const line = lines.findIndex((one) => /^[^\s/*].*\bawait\b|^await\b/.test(one) && !/\basync\b/.test(one));
    if (line >= 0) waits.push(`${path}:${line + 1}`);
  }
  assert.deepEqual(waits, []);
});

const forbidden: [title: string, path: string, source: string, fault: RegExp][] = [
  [
    'an import of a room that is not in its row',
    'src/plan/x.ts',
    `import { a } from '../cluster/client.ts';`,
    /x\.ts:1: .*plan may use api only/,
  ],
  [
    'a type-only import of such a room',
    'src/plan/x.ts',
    `import type { A } from '../cluster/client.ts';`,
    /plan may use api only/,
  ],
  [
    'a dynamic import of such a room',
    'src/git/x.ts',
    `\n\nconst a = await import('../render/a.ts');`,
    /x\.ts:3: .*git may use/,
  ],
  ['a type taken by import()', 'src/git/x.ts', `type A = import('../render/a.ts').A;`, /git may use/],
  ['a detour through the own room', 'src/git/a/x.ts', `import '../../runtime/queue.ts';`, /git may use/],
  [
    'an import over several lines',
    'src/git/x.ts',
    `import {\n  a,\n  b as c,\n} from '../plan/a.ts';`,
    /x\.ts:1: .*git may use/,
  ],
  [
    'a package of another room',
    'src/reconcile/x.ts',
    `import { fetch } from 'undici';`,
    /undici, which belongs to cluster, git/,
  ],
  ['a part of such a package', 'src/cli/x.ts', `import a from 'hono/body-limit';`, /hono, which belongs to web/],
  ['a package that nobody owns', 'src/cli/x.ts', `import _ from 'lodash';`, /lodash, which no room owns/],
  ['the tests’ packages in code', 'src/plan/x.ts', `import fc from 'fast-check';`, /fast-check/],
  ['an import of a test’s part in code', 'src/plan/x.ts', `import '../../test/support/clock.ts';`, /outside src/],
  ['an import of an entry', 'src/cli/x.ts', `import '../main.ts';`, /entry/],
  ['files in a pure room', 'src/resolve/x.ts', `import { readFile } from 'node:fs/promises';`, /resolve is pure/],
  ['the clock in a pure room', 'src/plan/x.ts', `const a = 1;\nconst b = Date.now();`, /x\.ts:2: looks at the clock/],
  ['a date of now in a pure room', 'src/plan/x.ts', `const b = new Date();`, /looks at the clock/],
  ['chance in a pure room', 'src/plan/x.ts', `const b = Math.random();`, /chance/],
  ['the environment in a pure room', 'src/api/x.ts', `const b = process.env.HOME;`, /looks at the process/],
  ['waiting in a pure room', 'src/resolve/x.ts', `export async function a() {}`, /waits/],
  ['a computed import', 'src/cli/x.ts', `await import(name);`, /computed name/],
  ['a computed import by template', 'src/cli/x.ts', 'await import(`./${name}.ts`);', /computed name/],
  ['a computed require', 'src/cli/x.ts', `createRequire(import.meta.url)(name);`, /computed name/],
  [
    'a package of another room by require',
    'src/plan/x.ts',
    `const { Ajv } = createRequire(import.meta.url)('ajv');`,
    /ajv, which belongs to api/,
  ],
  ['a barrel', 'src/plan/all.ts', `export * from './text.ts';`, /re-exports/],
  ['a barrel by name', 'src/plan/index.ts', `export const a = 1;`, /named like a barrel/],
  ['a room without a row', 'src/helpers/x.ts', `export const a = 1;`, /not in the table/],
  ['a room named like a part of every object', 'src/constructor/x.ts', '', /not in the table/],
];

for (const [title, path, source, fault] of forbidden) {
  test(`${title} fails`, () => {
    const faults = judge({ path, source });
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', fault);
  });
}

const allowed: [title: string, path: string, source: string][] = [
  ['the kinds, anywhere', 'src/tools/x.ts', `import { EspalierError } from '../api/index.ts';`],
  ['a room of its row', 'src/converge/x.ts', `import type { Plan } from '../plan/plan.ts';`],
  ['its own package', 'src/cluster/x.ts', `import { fetch } from 'undici';`],
  ['every room in an entry', 'src/main.ts', `import './web/server.ts';\nimport './reconcile/manager.ts';`],
  ['hashing in a pure room', 'src/resolve/x.ts', `import { createHash } from 'node:crypto';`],
  ['a type passed on', 'src/plan/x.ts', `export type { A } from './a.ts';`],
  ['a given time in a pure room', 'src/plan/x.ts', `const b = new Date(now).toISOString();`],
  [
    'waiting and helpers in a test of a pure room',
    'src/plan/x.test.ts',
    `import '../../test/support/clock.ts';\nawait import('node:fs');`,
  ],
  [
    'the words of a forbidden import in a comment',
    'src/plan/x.ts',
    `// import '../cluster/a.ts'\n/* await import('../git/a.ts') */`,
  ],
  ['the words of a forbidden import in a string', 'src/plan/x.ts', `const a = "import '../cluster/a.ts'";`],
  [
    'the words of a forbidden import in a template',
    'src/plan/x.ts',
    "const a = `import '../cluster/a.ts' ${b} await import('x')`;",
  ],
  ['a pattern with quotes', 'src/plan/x.ts', `const a = /['"\`/]/.test(b) ? /import '..\\/git\\/a.ts'/ : b / c / "d";`],
];

for (const [title, path, source] of allowed) {
  test(`${title} is allowed`, () => {
    assert.deepEqual(judge({ path, source }), []);
  });
}

test('an import inside the braces of a template is found', () => {
  const { imports } = scan("const a = `x ${`y ${await import('./z.ts')} }`} ' ` + await import('./w.ts');");
  assert.deepEqual(
    imports.map(({ specifier }) => specifier),
    ['./z.ts', './w.ts'],
  );
});

test('a quote in a comment or a pattern does not hide the import after it', () => {
  const { imports } = scan(`// don't\nconst a = x.replace(/'/g, "");\nimport { b } from './b.ts';`);
  assert.deepEqual(imports, [{ specifier: './b.ts', line: 3, form: 'import', typeOnly: false }]);
});
