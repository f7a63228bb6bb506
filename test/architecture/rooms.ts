export interface Room {
  /** Rooms whose files it may import, besides its own and `api`, which every room shares. */
  uses: readonly string[];
  /** No input but arguments: no I/O, clock, chance, environment or waiting. */
  pure?: true;
}

/**
 * The rooms table of the design, with three additions: `git` runs the system's git by the rules that `tools` has for child
 * processes, and `playground` and `compat` (kinds of other systems, as ours) are rooms. Whoever needs a new arrow changes it here, in front of a reviewer.
 */
export const ROOMS: Readonly<Record<string, Room>> = {
  api: { uses: [], pure: true },
  git: { uses: ['tools'] },
  resolve: { uses: [], pure: true },
  compat: { uses: ['resolve', 'release'], pure: true },
  declare: { uses: ['git', 'compat', 'resolve'] },
  charts: { uses: ['git', 'tools', 'resolve'] },
  release: { uses: [], pure: true },
  images: { uses: [], pure: true },
  registry: { uses: ['charts', 'git', 'tools'] },
  mirror: { uses: ['images', 'registry', 'charts', 'tools'] },
  render: { uses: ['git', 'tools', 'release', 'images'] },
  plan: { uses: [], pure: true },
  expansion: { uses: ['git', 'declare', 'charts', 'images', 'plan', 'registry', 'mirror'] },
  addons: { uses: ['git', 'declare', 'resolve', 'render'] },
  publish: { uses: ['git', 'charts', 'registry', 'mirror', 'render'] },
  report: { uses: [], pure: true },
  cluster: { uses: [] },
  converge: { uses: ['cluster', 'plan', 'render', 'tools'] },
  runtime: { uses: [] },
  reconcile: {
    uses: [
      ...['git', 'declare', 'resolve', 'charts', 'render', 'release', 'plan', 'cluster', 'converge', 'runtime'],
      // Tools: folders that go with the process, for the repositories that a pull request names.
      ...['forge', 'report', 'compat', 'images', 'expansion', 'tools'],
    ],
  },
  forge: { uses: ['git'] },
  web: { uses: [] },
  page: { uses: [] },
  tools: { uses: [] },
  operator: { uses: ['cluster', 'runtime'] },
  playground: { uses: ['tools', 'cluster', 'git'] },
  cli: {
    uses: [
      ...[
        'git',
        'declare',
        'resolve',
        'render',
        'release',
        'plan',
        'cluster',
        'converge',
        'runtime',
        'reconcile',
        'forge',
      ],
      ...[
        'web',
        'tools',
        'playground',
        'charts',
        'compat',
        'images',
        'registry',
        'mirror',
        'expansion',
        'addons',
        'publish',
      ],
    ],
  },
};

/** `src/main.ts` and `src/cli.ts`: they build the parts, so they may use every room, and nobody may use them. */
export const ENTRY = '(entry)';

/** Each third-party package and the rooms that own it: what it costs and how it fails stays behind their surface. */
export const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'json-schema-to-ts': ['api'],
  ajv: ['api'],
  'isomorphic-git': ['git'],
  yaml: ['declare', 'cluster', 'playground', 'cli', 'addons'],
  'js-yaml': ['render', 'charts'],
  'json-merge-patch': ['declare'],
  semver: ['resolve'],
  diff: ['plan'],
  '@marcbachmann/cel-js': ['cluster'],
  '@kubernetes/client-node': ['cluster'],
  undici: ['cluster', 'git', 'charts', 'forge'],
  'node-cron': ['runtime'],
  hono: ['web'],
  '@hono/node-server': ['web'],
  '@prometheus-io/client': ['web'],
  preact: ['page'],
  tar: ['tools'],
  commander: ['cli'],
  pino: [ENTRY, 'cli', 'reconcile'],
};

/** What a pure room may have of Node: hashing is a function of its input, and a package may be loaded late. */
export const PURE_BUILTINS: readonly string[] = ['node:crypto', 'node:module', 'node:zlib'];

/** Words that a pure room has no use for. */
export const IMPURE: readonly { word: RegExp; what: string }[] = [
  { word: /\b(?:async|await)\b|\bPromise\b/, what: 'waits' },
  { word: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?!\s*\())|\bperformance\b/, what: 'looks at the clock' },
  { word: /\bset(?:Timeout|Interval|Immediate)\b|\bqueueMicrotask\b/, what: 'sets a timer' },
  {
    word: /\bMath\s*\.\s*random\b|\brandom(?:UUID|Bytes|Int)\b|\bgetRandomValues\b/,
    what: 'leaves something to chance',
  },
  { word: /\bprocess\s*[.[]/, what: 'looks at the process' },
  { word: /\bfetch\s*\(/, what: 'uses the network' },
  { word: /\bconsole\s*\./, what: 'logs' },
];

/** What tests beside the code may use on top of what their room may. */
export const TEST_PACKAGES: readonly string[] = ['fast-check', 'yaml'];
