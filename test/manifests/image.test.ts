import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { glob, readFile, stat } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { test } from 'node:test';
import { TOOLS } from '../../src/tools/table.ts';
import { scan } from '../architecture/scan.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8');

interface Instruction {
  name: string;
  words: string[];
}

/** The instructions of a Dockerfile, continued lines joined, comments gone. */
function parseDockerfile(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [name = '', ...words] = line.trim().split(/\s+/);
      return { name, words };
    });
}

const instructions = parseDockerfile(readFileSync(new URL('Dockerfile', root), 'utf8'));
const named = (name: string): string[][] => instructions.filter((one) => one.name === name).map(({ words }) => words);
const commands = named('RUN').map((words) => words.join(' '));

/** What `COPY` takes from the checkout, not from another stage. */
const copied = named('COPY')
  .filter(([first]) => !first?.startsWith('--from='))
  .flatMap((words) => words.slice(0, -1));

/** Whether .dockerignore lets a path through: the last line that matches it, or a folder above it, decides. */
function isSent(path: string, rules: string[]): boolean {
  return rules.reduce((sent, rule) => {
    const [head = '', ...rest] = rule.replace(/^!/, '').split('**/');
    const toRegex = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*');
    const pattern = [head, ...rest].map(toRegex).join('(?:.*/)?');
    return new RegExp(`^${pattern}(?:/.*)?$`).test(path) ? rule.startsWith('!') : sent;
  }, true);
}

test('every instruction is one that builders know', () => {
  const known = ['FROM', 'ARG', 'ENV', 'WORKDIR', 'COPY', 'RUN', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD'];
  for (const { name } of instructions) assert.ok(known.includes(name), name);
});

test('everything that is copied exists and is sent to the builder', async () => {
  const rules = (await read('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.ok(copied.includes('src') && copied.includes('package.json'));
  for (const path of copied) {
    await assert.doesNotReject(stat(new URL(path, root)), path);
    assert.ok(isSent(path, rules), `${path} is ignored`);
  }
  for (const path of [
    '.git/config',
    '.env',
    'test/support/clock.ts',
    'src/runtime/queue.test.ts',
    'node_modules/ajv/a.js',
  ]) {
    assert.ok(!isSent(path, rules), `${path} is sent`);
  }
});

test('every stage that is copied from exists', () => {
  const stages = named('FROM').flatMap((words) => (words.at(-2) === 'AS' ? [words.at(-1)] : []));
  const used = named('COPY').flatMap(([first = '']) =>
    first.startsWith('--from=') ? [first.slice('--from='.length)] : [],
  );
  assert.ok(used.length > 0);
  for (const stage of used) assert.ok(stages.includes(stage), stage);
});

test('helm and kustomize are the ones of the table of tools, from the same modules', () => {
  const build = commands.join('\n');
  const { version, recipe } = TOOLS.helm;
  assert.ok(build.includes(` ${recipe.package}`));
  for (const [variable, value] of Object.entries(recipe.stamp(version)))
    assert.ok(build.includes(`-X ${variable}=${value}`));
  assert.ok(build.includes(` ${TOOLS.kustomize.recipe.package}`));
});

test('the Go and the Node of the image are new enough', async () => {
  const images = named('FROM').map((words) => words.find((word) => word.includes(':')) ?? '');
  const go = images.find((image) => image.startsWith('golang:')) ?? '';
  for (const tool of ['helm', 'kustomize']) {
    const wanted = /^go (\d+\.\d+)/m.exec(await read(`tools/${tool}/go.mod`))?.[1];
    assert.ok(go.startsWith(`golang:${wanted}`), `${tool} wants Go ${wanted}`);
  }
  const node = (await read('.node-version')).trim();
  assert.deepEqual(
    images.filter((image) => image.startsWith('node:')),
    [`node:${node}-slim`, `node:${node}-slim`],
  );
});

test('the packages that the image leaves out are not needed to run', async () => {
  assert.ok(commands.some((command) => /npm ci --omit=dev --omit=optional/.test(command)));
  const { dependencies } = JSON.parse(await read('package.json'));
  const missing: string[] = [];
  for await (const path of glob('src/**/*.ts', { cwd: root.pathname, exclude: (name) => name.endsWith('.test.ts') })) {
    for (const { specifier, typeOnly } of scan(await read(path)).imports) {
      const [scope = '', name = ''] = specifier.split('/');
      const owner = scope.startsWith('@') ? `${scope}/${name}` : scope;
      const ours = specifier.startsWith('.') || specifier.startsWith('node:') || builtinModules.includes(specifier);
      if (!ours && !typeOnly && !Object.hasOwn(dependencies, owner)) missing.push(`${path}: ${owner}`);
    }
  }
  assert.deepEqual(missing, []);
});

test('the agent runs as nobody in particular, as its Deployment says', async () => {
  const [user = ''] = named('USER').at(-1) ?? [];
  assert.equal(user, '65532:65532');
  assert.match(await read('manifests/deployment.yaml'), /runAsUser: 65532/);
  assert.deepEqual(named('CMD'), [['["agent"]']]);
});
