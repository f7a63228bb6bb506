import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { runContained } from '../../src/render/contained.ts';
import { kustomizeInputs } from '../../src/render/kustomize-inputs.ts';
import { withPrivateFolder, writeFiles } from '../../src/render/private-folder.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';
import { textTree } from '../declare/text-tree.ts';
import { config, names, render } from './given.ts';
import { listener } from './listener.ts';

/** Refuses to be asked: what is refused is refused before any program runs. */
const NO_TOOLS = {
  run: () => Promise.reject(new Error('a program was started')),
  path: () => Promise.reject(new Error('a program was asked for')),
};

const kustomization = (text: string, more: Record<string, string> = {}) => ({
  'app/kustomization.yaml': text,
  'app/a.yaml': config('a'),
  ...more,
});

describe('S2: what is not in the commit is not read, and no connection is made', () => {
  /** Where the URL stands as `URL`, the port as `PORT`. */
  const REMOTE: [string, Record<string, string>][] = [
    ['a resource', kustomization('resources: ["URL/x.yaml"]')],
    ['a resource with a port only', kustomization('resources: ["127.0.0.1:PORT/x"]')],
    ['a base in Git', kustomization('resources: ["URL/org/repo.git//base?ref=main"]')],
    ['a base by git::', kustomization('resources: ["git::URL/org/repo"]')],
    ['a base by SSH', kustomization('resources: ["ssh://git@127.0.0.1:PORT/org/repo"]')],
    ['a base by scp syntax', kustomization('resources: ["git@127.0.0.1:PORT/org/repo"]')],
    ['a base on GitHub', kustomization('resources: ["github.com/org/repo/base?ref=main"]')],
    ['a base by file URL', kustomization('resources: ["file:///etc"]')],
    ['an old base', kustomization('bases: ["URL/x"]')],
    ['a component', kustomization('components: ["URL/x"]')],
    ['a CRD', kustomization('crds: ["URL/x.json"]')],
    ['a configuration', kustomization('configurations: ["URL/x.yaml"]')],
    ['an OpenAPI schema', kustomization('openapi: {path: "URL/schema.json"}')],
    ['a patch', kustomization('resources: [a.yaml]\npatches: [{path: "URL/p.yaml"}]')],
    [
      'a JSON patch',
      kustomization(
        'resources: [a.yaml]\npatchesJson6902: [{path: "URL/p.yaml", target: {version: v1, kind: ConfigMap, name: a}}]',
      ),
    ],
    ['a merge patch', kustomization('resources: [a.yaml]\npatchesStrategicMerge: ["URL/p.yaml"]')],
    ['a replacement', kustomization('resources: [a.yaml]\nreplacements: [{path: "URL/r.yaml"}]')],
    ['a file of a config map', kustomization('configMapGenerator: [{name: c, files: ["k=URL/f"]}]')],
    ['an env file', kustomization('configMapGenerator: [{name: c, envs: ["URL/f"]}]')],
    ['an old env file', kustomization('secretGenerator: [{name: c, env: "URL/f"}]')],
    ['a generator', kustomization('generators: ["URL/g.yaml"]')],
    ['a transformer', kustomization('transformers: ["URL/t.yaml"]')],
    ['a validator', kustomization('validators: ["URL/v.yaml"]')],
    [
      'a generator inline, with a file',
      kustomization(
        'generators:\n- |-\n  {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: c}, files: ["URL/f"]}\n',
      ),
    ],
    [
      'a transformer in a file, with a patch',
      kustomization('resources: [a.yaml]\ntransformers: [t.yaml]', {
        'app/t.yaml':
          'apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: p}\npath: "URL/p"\ntarget: {kind: ConfigMap}\n',
      }),
    ],
    [
      'a replacement of a transformer',
      kustomization('resources: [a.yaml]\ntransformers: [t.yaml]', {
        'app/t.yaml':
          'apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: p}\nreplacements: [{path: "URL/p"}]\n',
      }),
    ],
    [
      'a replacement of a transformer, in other case',
      kustomization('resources: [a.yaml]\ntransformers: [t.yaml]', {
        'app/t.yaml':
          'apiVersion: builtin\nkind: ReplacementTransformer\nmetadata: {name: p}\nReplacements: [{path: "URL/p"}]\n',
      }),
    ],
    ['a field in other case', kustomization('Resources: ["URL/x.yaml"]')],
    ['a field with a letter that only folds to another', kustomization('re\u017fource\u017f: ["URL/x.yaml"]')],
    ['a nested field in other case', kustomization('resources: [a.yaml]\npatches: [{Path: "URL/p.yaml"}]')],
    [
      'a field of a plugin in other case',
      kustomization(
        'generators:\n- |-\n  {apiVersion: builtin, kind: ConfigMapGenerator, metadata: {name: c}, Files: ["URL/f"]}\n',
      ),
    ],
    ['a URL behind a merge key', kustomization('x: &x\n  path: "URL/p"\npatches: [{<<: *x}]')],
    ['a URL behind an alias', kustomization('namePrefix: &u "URL/x"\nresources: [*u]')],
    ['a URL in a base', kustomization('resources: [../base]', { 'base/kustomization.yaml': 'resources: ["URL/x"]' })],
    ['a URL after a line break', kustomization('resources: ["\\nURL/x"]')],
  ];

  for (const [what, files] of REMOTE) {
    it(what, async (t) => {
      const server = await listener(t);
      const filled = Object.fromEntries(
        Object.entries(files).map(([path, text]) => [
          path,
          text.replaceAll('URL', server.url).replaceAll('PORT', String(server.port)),
        ]),
      );
      await assert.rejects(render('kustomize', filled, {}, NO_TOOLS), (error: Error & { code?: string }) => {
        assert.ok(error.code === 'RenderRefused' || error.code === 'SourceMissing', `${error.code}: ${error.message}`);
        return true;
      });
      assert.equal(server.connections(), 0);
    });
  }

  it('(the listener would have noticed: kustomize by itself, in a field of any case, does connect)', async (t) => {
    const server = await listener(t);
    await withPrivateFolder(async (folder) => {
      await writeFiles(folder, new Map([['app/kustomization.yaml', `ReSources: ["${server.url}/x.yaml"]`]]));
      await runProgram(await toolPath('kustomize'), { args: ['build', 'app'], cwd: folder, timeoutMs: 20_000 });
    });
    assert.ok(server.connections() > 0);
  });

  it('charts, programs and containers', async () => {
    for (const text of [
      'helmCharts: [{name: x, repo: https://charts.example.com}]',
      'helmChartInflationGenerator: [{chartName: x}]',
      'helmGlobals: {chartHome: /}',
      'generators:\n- |-\n  {apiVersion: builtin, kind: HelmChartInflationGenerator, metadata: {name: x}, name: x, repo: https://x.example}\n',
      'generators:\n- |-\n  {apiVersion: someteam.example.com/v1, kind: ChartInflator, metadata: {name: x}}\n',
      'transformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: x, annotations: {config.kubernetes.io/function: "exec: {path: ./x.sh}"}}\n',
      'transformers:\n- |-\n  apiVersion: v1\n  kind: X\n  metadata:\n    name: x\n    annotations:\n      config.kubernetes.io/function: "container: {image: x}"\n',
    ]) {
      await assert.rejects(render('kustomize', kustomization(text), {}, NO_TOOLS), { code: 'RenderRefused' }, text);
    }
  });

  it('ways out of the repository', async () => {
    for (const reference of ['../../other', '../../../../etc', '/etc', '..\\..\\etc', 'a/../../../x', '../../app']) {
      const files = kustomization(`resources: [${JSON.stringify(reference)}]`);
      await assert.rejects(render('kustomize', files, {}, NO_TOOLS), (error: Error & { code?: string }) => {
        return error.code === 'RenderRefused' || error.code === 'SourceMissing';
      });
    }
    await assert.rejects(render('kustomize', kustomization('{}'), { path: '../x' }, NO_TOOLS), {
      code: 'RenderRefused',
    });
  });

  it('ways out of the folder that a Sync is confined to', async () => {
    const files = kustomization('resources: [../other]', {
      'other/kustomization.yaml': 'resources: [o.yaml]',
      'other/o.yaml': config('o'),
    });
    assert.deepEqual(names(await render('kustomize', files)), ['ConfigMap o']);
    await assert.rejects(render('kustomize', files, { within: 'app' }, NO_TOOLS), {
      code: 'RenderRefused',
      message: 'app/kustomization.yaml refers to "../other", which leads out of "app"',
    });
    await assert.rejects(render('kustomize', files, { within: 'other' }, NO_TOOLS), { code: 'RenderRefused' });
  });

  it('files of other folders, links and submodules', async () => {
    const other = { 'other/o.yaml': config('o') };
    for (const text of ['resources: [../other/o.yaml]', 'configMapGenerator: [{name: c, files: [../other/o.yaml]}]']) {
      await assert.rejects(render('kustomize', kustomization(text, other), {}, NO_TOOLS), {
        message: /outside its own folder/,
      });
    }
    for (const text of [
      'resources: [l.yaml]',
      'configMapGenerator: [{name: c, files: [l.yaml]}]',
      'resources: [d]',
      'resources: [d/x.yaml]',
    ]) {
      const links = { 'app/l.yaml': '-> /etc/passwd', 'app/d': '-> ../../etc' };
      await assert.rejects(render('kustomize', kustomization(text, links), {}, NO_TOOLS), { message: /not followed/ });
    }
    const linked = { 'app/kustomization.yaml': '-> ../x/kustomization.yaml' };
    await assert.rejects(render('kustomize', linked, {}, NO_TOOLS), { message: /not followed/ });
  });

  it('a local folder that kustomize would take for a host is read as what it is', async () => {
    const files = kustomization('resources: [github.com/org/repo]', {
      'app/github.com/org/repo/kustomization.yaml': 'resources: [r.yaml]',
      'app/github.com/org/repo/r.yaml': config('r'),
    });
    assert.deepEqual(names(await render('kustomize', files)), ['ConfigMap r']);
  });
});

describe('S4: recursion', () => {
  const chain = (folders: number, times: number) => {
    const files: Record<string, string> = {};
    for (let i = 0; i < folders; i++) {
      const bases = Array.from({ length: times }, (_, n) => `../f${i + 1}${'/.'.repeat(n)}`);
      files[`f${i}/kustomization.yaml`] = `resources: [${bases.join(', ')}]\nnamePrefix: p${i}-\n`;
    }
    files[`f${folders}/kustomization.yaml`] = 'resources: [a.yaml]';
    files[`f${folders}/a.yaml`] = config('a');
    return files;
  };

  for (const [situation, files, path, message] of [
    [
      'two that include each other',
      { 'a/kustomization.yaml': 'resources: [../b]', 'b/kustomization.yaml': 'resources: [../a]' },
      'a',
      /a → b → a/,
    ],
    ['one that includes itself', { 'a/kustomization.yaml': 'resources: [../a]' }, 'a', /a → a/],
    ['one that includes itself as a component', { 'a/kustomization.yaml': 'components: ["."]' }, 'a', /a → a/],
    [
      'a cycle further on',
      {
        'a/kustomization.yaml': 'resources: [../b]',
        'b/kustomization.yaml': 'resources: [../c]',
        'c/kustomization.yaml': 'resources: [../b]',
      },
      'a',
      /b → c → b/,
    ],
    ['a few that ask for billions of builds', chain(40, 2), 'f0', /builds of kustomizations/],
    ['a very long chain', chain(600, 1), 'f0', /more than 500 kustomizations/],
  ] as const) {
    it(`${situation}: an error within a second`, async () => {
      // Its own time: what else the machine does is not its affair.
      const started = process.cpuUsage();
      await assert.rejects(render('kustomize', files, { path }, NO_TOOLS), { code: 'RenderRefused', message });
      await assert.rejects(kustomizeInputs(textTree(files), path), { code: 'RenderRefused' });
      const { user, system } = process.cpuUsage(started);
      assert.ok((user + system) / 1000 < 1000);
    });
  }

  it('a base that includes what includes it fails too', async () => {
    const files = { 'a/kustomization.yaml': 'resources: [b]', 'a/b/kustomization.yaml': 'resources: [..]' };
    await assert.rejects(render('kustomize', files, { path: 'a' }, NO_TOOLS), { message: /a → a\/b → a/ });
  });
});

describe('bounds', () => {
  it('a build that takes too long is stopped, with all that it started', async () => {
    const files: Record<string, string> = kustomization('resources: [a.yaml]');
    const started = performance.now();
    await assert.rejects(
      render(
        'kustomize',
        files,
        { limits: { timeoutMs: 400 } },
        {
          path: async () => '/bin/sleep',
          run: (path, options) =>
            runProgram(path, { ...options, args: [...options.args.slice(0, 4), '/bin/sleep', '30'] }),
        },
      ),
      { code: 'ProgramTimedOut', message: 'rendering app did not end within 0.4 s and was stopped' },
    );
    assert.ok(performance.now() - started < 15_000);
  });

  it('a build of aliases that stand for billions ends with bounded memory', async () => {
    const levels = [...'abcdefghi'].map((name, index, all) => {
      const previous = all[index - 1];
      return `${name}: &${name} [${Array(20)
        .fill(previous === undefined ? 'x' : `*${previous}`)
        .join(',')}]`;
    });
    const bomb = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n${levels.join('\n')}\n`;
    await assert.rejects(
      render('kustomize', kustomization('resources: [a.yaml]', { 'app/a.yaml': bomb }), {
        limits: { timeoutMs: 20_000 },
      }),
      { message: /(needed more than 1024 MiB of memory|did not end within 20 s)/ },
    );
  });

  it('too many files and bytes are refused before anything runs', async () => {
    const files = kustomization('configMapGenerator: [{name: c, files: [a.yaml, b.txt, c.txt]}]', {
      'app/b.txt': 'x',
      'app/c.txt': 'y'.repeat(5000),
    });
    await assert.rejects(render('kustomize', files, { limits: { files: 2 } }, NO_TOOLS), { code: 'RenderRefused' });
    await assert.rejects(render('kustomize', files, { limits: { inputBytes: 4000 } }, NO_TOOLS), {
      code: 'RenderRefused',
    });
  });

  it('more output than allowed is refused', async () => {
    const files = kustomization('resources: [a.yaml]', { 'app/a.yaml': config('a', `a: ${'x'.repeat(5000)}`) });
    await assert.rejects(render('kustomize', files, { limits: { outputBytes: 1000 } }), {
      code: 'ProgramOutputTooLarge',
    });
  });
});

test('the second wall: kustomize finds no Git to clone with, even if it were asked to', async () => {
  await withPrivateFolder(async (folder) => {
    await writeFiles(
      folder,
      new Map([['app/kustomization.yaml', 'resources: ["https://github.com/org/repo?ref=main"]']]),
    );
    const run = {
      tool: 'kustomize',
      args: ['build', 'app'],
      folder,
      timeoutMs: 20_000,
      outputBytes: 1e6,
      secrets: [],
    } as const;
    const result = await runContained({ run: runProgram, path: toolPath }, { ...run, args: [...run.args] });
    assert.notEqual(result.code, 0);
    assert.match(result.stderr, /127\.0\.0\.1:9|no 'git' program/);
  });
});

test('names that could lead elsewhere are never written to disk', async () => {
  await withPrivateFolder(async (folder) => {
    for (const name of ['../x', 'a/../../x', '/etc/x', '..\\x', '.git/hooks/x', 'a//b', 'a\u0000b', 'CON', '']) {
      await assert.rejects(writeFiles(folder, new Map([[name, 'x']])), { code: 'GitUnsafePath' }, name);
    }
    await assert.rejects(
      writeFiles(
        folder,
        new Map([
          ['a', ''],
          ['A', ''],
        ]),
      ),
      { code: 'GitUnsafePath' },
    );
  });
});
