import type { KubeObject } from '../../src/api/index.ts';
import { edit } from './edit.ts';
import { COMMIT_SYNC, EXTENSION, GIT_PLUGIN, INSTANCE, OCI_PLUGIN, PLUGIN, SYNC } from './samples.ts';

export interface Case {
  title: string;
  object: KubeObject;
}

export interface FaultCase extends Case {
  /** Where our own validation puts the fault, and what its message says. */
  path: string;
  message: RegExp;
  /** What the API server says. */
  server: RegExp;
}

const LONG_NAME = `${'a'.repeat(63)}b`;

/** What people write that is right, however unusual. */
export const GOOD: Case[] = [
  {
    title: 'a Sync with nothing but a URL',
    object: edit(SYNC, '/spec', { repository: { url: 'https://h.example/r' } }),
  },
  { title: 'a poll every thirty seconds', object: edit(SYNC, '/spec/poll', '30s') },
  { title: 'a poll by a cron expression with seconds', object: edit(SYNC, '/spec/poll', '*/30 0-10/2 * * * MON-FRI') },
  { title: 'a poll on the last day of a month', object: edit(SYNC, '/spec/poll', '0 4 L * *') },
  { title: 'the root of the repository', object: edit(SYNC, '/spec/repository/path', '.') },
  { title: 'a folder whose name begins with dots', object: edit(SYNC, '/spec/repository/path', '..a/.b/c..d/') },
  {
    title: 'a repository over SSH with a port',
    object: edit(SYNC, '/spec/repository/url', 'ssh://git@h.example:22/r'),
  },
  { title: 'no ref at all', object: edit(COMMIT_SYNC, '/spec/repository/ref', {}) },
  { title: 'a threshold of no object', object: edit(SYNC, '/spec/prune/hold/count', 0) },
  { title: 'null where there is a default', object: edit(PLUGIN, '/spec/timeout', null) },
  { title: 'null for a group of fields with defaults', object: edit(PLUGIN, '/spec/drift', null) },
  { title: 'a list with nothing behind it', object: edit(PLUGIN, '/spec/gates', null) },
  { title: 'a compound duration', object: edit(PLUGIN, '/spec/timeout', '1h30m0.5s') },
  { title: 'a range as Helm writes it', object: edit(PLUGIN, '/spec/source/chart/version', '>= 1.2, < 2.0.0 || ^3') },
  { title: 'a version with a pre-release', object: edit(PLUGIN, '/spec/when/kubernetes', '>=1.29.0-0') },
  {
    title: 'a version that begins with v',
    object: edit(OCI_PLUGIN, '/spec/source/oci/version', 'v1.2.3-rc.1+build.5'),
  },
  { title: 'a range with a hyphen', object: edit(INSTANCE, '/spec/version', '1.2 - 1.4.x') },
  { title: 'a chart in Git', object: edit(PLUGIN, '/spec/source', { git: { path: 'charts/web' } }) },
  { title: 'a pointer to a field with an empty name', object: edit(PLUGIN, '/spec/drift/ignore/0/paths/0', '/data/') },
  { title: 'a value named constructor', object: edit(PLUGIN, '/spec/values/constructor', { prototype: 1 }) },
  { title: 'a name of 63 characters', object: edit(PLUGIN, '/metadata/name', LONG_NAME.slice(1)) },
  { title: 'a name with dots', object: edit(PLUGIN, '/metadata/name', 'a.b') },
  { title: 'an empty label value', object: edit(PLUGIN, '/metadata/labels', { 'example.com/a_b': '' }) },
  { title: 'a status that came along from an export', object: edit(PLUGIN, '/status', { phase: 'Ready' }) },
  {
    title: 'an extension for every Kubernetes version',
    object: edit(EXTENSION, '/spec/versions/0/kubernetes', undefined),
  },
];

/** What people get wrong, and what they are told. */
export const BAD: FaultCase[] = [
  {
    title: 'a field that is spelled wrong',
    object: edit(PLUGIN, '/spec/dependson', []),
    path: '/spec/dependson',
    message: /^spec\.dependson is not a field; did you mean dependsOn\?$/,
    server: /unknown field "spec\.dependson"/,
  },
  {
    title: 'a field that nothing is like',
    object: edit(PLUGIN, '/spec/chartRepositoryLocation', 'x'),
    path: '/spec/chartRepositoryLocation',
    message: /^spec\.chartRepositoryLocation is not a field$/,
    server: /unknown field/,
  },
  {
    title: 'a kind of plugin that does not exist',
    object: edit(PLUGIN, '/spec/kind', 'kustomise'),
    path: '/spec/kind',
    message: /is "kustomise", expected one of helm, kustomize, manifests, template \(did you mean kustomize\?\)/,
    server: /supported values: "helm", "kustomize", "manifests", "template"/,
  },
  {
    title: 'no kind of plugin',
    object: edit(PLUGIN, '/spec/kind', null),
    path: '/spec',
    message: /^spec\.kind is missing, expected one of helm/,
    server: /spec\.kind: Required value/,
  },
  {
    title: 'no spec',
    object: edit(PLUGIN, '/spec', undefined),
    path: '',
    message: /^spec is missing/,
    server: /spec: Required value/,
  },
  {
    title: 'an interval of "x"',
    object: edit(PLUGIN, '/spec/poll', 'x'),
    path: '/spec/poll',
    message: /must be a duration such as 30s or 5m, or a cron expression .* found "x"/,
    server: /must be a duration such as 30s or 5m, or a cron expression/,
  },
  {
    title: 'an interval of milliseconds',
    object: edit(SYNC, '/spec/poll', '1ms'),
    path: '/spec/poll',
    message: /must be a duration such as 30s/,
    server: /must be a duration such as 30s/,
  },
  {
    title: 'an interval of nothing',
    object: edit(SYNC, '/spec/poll', '0s'),
    path: '/spec/poll',
    message: /must be longer than nothing/,
    server: /must be longer than nothing/,
  },
  {
    title: 'a negative time-out',
    object: edit(PLUGIN, '/spec/timeout', '-5m'),
    path: '/spec/timeout',
    message: /spec\.timeout must be a duration such as 30s, 5m or 1h30m, found "-5m"/,
    server: /must be a duration such as 30s, 5m or 1h30m/,
  },
  {
    title: 'a time-out of nothing',
    object: edit(PLUGIN, '/spec/timeout', '0h0m'),
    path: '/spec/timeout',
    message: /must be longer than nothing/,
    server: /must be longer than nothing/,
  },
  {
    title: 'a time-out that is a number',
    object: edit(PLUGIN, '/spec/timeout', 5),
    path: '/spec/timeout',
    message: /^spec\.timeout is the number 5, expected a duration such as 30s, 5m or 1h30m$/,
    server: /spec\.timeout: Invalid value: "integer"/,
  },
  {
    title: 'a version that YAML took for a number',
    object: edit(PLUGIN, '/spec/source/chart/version', 1.18),
    path: '/spec/source/chart/version',
    message: /is the number 1\.18, expected a version .*\(put it in quotes: "1\.18"\)/,
    server: /must be of type string/,
  },
  {
    title: 'a minute that no hour has',
    object: edit(PLUGIN, '/spec/when/window/cron', '61 * * * *'),
    path: '/spec/when/window/cron',
    message: /must be a cron expression such as "0 2 \* \* \*"/,
    server: /must be a cron expression/,
  },
  {
    title: 'a window without an end',
    object: edit(PLUGIN, '/spec/when/window/for', undefined),
    path: '/spec/when/window',
    message: /^spec\.when\.window\.for is missing, expected a duration/,
    server: /spec\.when\.window\.for: Required value/,
  },
  {
    title: 'a range that is no range',
    object: edit(PLUGIN, '/spec/when/kubernetes', 'newest'),
    path: '/spec/when/kubernetes',
    message: /must be a version or a range of versions such as .* found "newest"/,
    server: /must be a version or a range of versions/,
  },
  {
    title: 'two sources',
    object: edit(PLUGIN, '/spec/source/oci', { url: 'oci://registry.example.com/a/b' }),
    path: '/spec/source',
    message: /^spec\.source must have exactly one of chart, oci and git$/,
    server: /must have exactly one of chart, oci and git/,
  },
  {
    title: 'no source',
    object: edit(PLUGIN, '/spec/source', {}),
    path: '/spec/source',
    message: /must have exactly one of chart, oci and git/,
    server: /must have exactly one of chart, oci and git/,
  },
  {
    title: 'a kustomization that comes from a chart repository',
    object: edit(PLUGIN, '/spec/kind', 'kustomize'),
    path: '/spec/source',
    message: /^spec: kind kustomize and kind manifests need source\.git: a folder in Git$/,
    server: /kind kustomize and kind manifests need source\.git/,
  },
  {
    title: 'a template that is not of manifests',
    object: edit(GIT_PLUGIN, '/spec/kind', 'kustomize'),
    path: '/spec/source/git/template',
    message: /source\.git\.template is for kind manifests only/,
    server: /source\.git\.template is for kind manifests only/,
  },
  {
    title: 'a ref without a repository of its own',
    object: edit(GIT_PLUGIN, '/spec/source/git', { path: 'x', ref: { branch: 'main' } }),
    path: '/spec/source/git',
    message: /ref needs url/,
    server: /ref needs url/,
  },
  {
    title: 'credentials without a repository of its own',
    object: edit(GIT_PLUGIN, '/spec/source/git', { path: 'x', secretRef: { name: 'a' } }),
    path: '/spec/source/git',
    message: /secretRef needs url/,
    server: /secretRef needs url/,
  },
  {
    title: 'a branch and a tag',
    object: edit(SYNC, '/spec/repository/ref/tag', 'v1'),
    path: '/spec/repository/ref',
    message: /must name one of branch, tag, semver and commit, not several/,
    server: /must name one of branch, tag, semver and commit, not several/,
  },
  {
    title: 'half a commit',
    object: edit(COMMIT_SYNC, '/spec/repository/ref/commit', '0123abc'),
    path: '/spec/repository/ref/commit',
    message: /must be a whole Git object id: 40 or 64 hexadecimal digits, found "0123abc"/,
    server: /must be a whole Git object id/,
  },
  ...['ext::sh -c id', '--upload-pack=id', 'file:///etc', '/etc', 'http://', 'https:///x', '-x@h:p'].map((url) => ({
    title: `a repository at ${url}`,
    object: edit(SYNC, '/spec/repository/url', url),
    path: '/spec/repository/url',
    message: /must be a Git URL that begins with https:\/\/ or ssh:\/\//,
    server: /must be a Git URL that begins with https:\/\/ or ssh:\/\//,
  })),
  ...['/etc', '../x', 'a/../b', 'a//b', '', 'a/..'].map((path) => ({
    title: `the path ${JSON.stringify(path)}`,
    object: edit(SYNC, '/spec/repository/path', path),
    path: '/spec/repository/path',
    message: /must be a path inside the repository such as charts\/web/,
    server: /must be a path inside the repository/,
  })),
  ...['spec/replicas', '', '/a~2b'].map((pointer) => ({
    title: `the pointer ${JSON.stringify(pointer)}`,
    object: edit(PLUGIN, '/spec/drift/ignore/0/paths/0', pointer),
    path: '/spec/drift/ignore/0/paths/0',
    message: /^spec\.drift\.ignore\[0\]\.paths\[0\] must be a JSON pointer such as \/spec\/replicas/,
    server: /must be a JSON pointer such as/,
  })),
  {
    title: 'fields to ignore without a field',
    object: edit(PLUGIN, '/spec/drift/ignore/0/paths', []),
    path: '/spec/drift/ignore/0/paths',
    message: /must not be empty/,
    server: /should have at least 1 items/,
  },
  {
    title: 'a dependency with half a kind',
    object: edit(PLUGIN, '/spec/dependsOn/0/kind', 'Deployment'),
    path: '/spec/dependsOn/0',
    message: /apiVersion and kind go together/,
    server: /apiVersion and kind go together/,
  },
  {
    title: 'an expression for a Plugin that says itself when it is ready',
    object: edit(PLUGIN, '/spec/dependsOn/0/ready', 'true'),
    path: '/spec/dependsOn/0',
    message: /ready needs apiVersion and kind/,
    server: /ready needs apiVersion and kind/,
  },
  {
    title: 'values from another namespace',
    object: edit(PLUGIN, '/spec/valuesFrom/0/namespace', 'kube-system'),
    path: '/spec/valuesFrom/0/namespace',
    message: /spec\.valuesFrom\[0\]\.namespace is not a field/,
    server: /unknown field "spec\.valuesFrom\[0\]\.namespace"/,
  },
  {
    title: 'values that are a list',
    object: edit(PLUGIN, '/spec/values', []),
    path: '/spec/values',
    message: /^spec\.values is a list, expected a mapping$/,
    server: /spec\.values/,
  },
  {
    title: 'a share of more than all',
    object: edit(SYNC, '/spec/prune/hold/percent', 150),
    path: '/spec/prune/hold/percent',
    message: /is the number 150, expected a whole number from 1 to 100/,
    server: /should be less than or equal to 100/,
  },
  {
    title: 'a namespace named twice',
    object: edit(SYNC, '/spec/allowedNamespaces', ['web', 'db', 'web']),
    path: '/spec/allowedNamespaces/2',
    message: /says "web" a second time/,
    server: /Duplicate value/,
  },
  {
    title: 'a namespace with capitals',
    object: edit(PLUGIN, '/spec/namespace/name', 'Web'),
    path: '/spec/namespace/name',
    message: /must be a name of lower-case letters, digits and "-", .* found "Web"/,
    server: /must be a name of lower-case letters, digits and "-"/,
  },
  {
    title: 'a name of 64 characters',
    object: edit(PLUGIN, '/metadata/name', LONG_NAME),
    path: '/metadata/name',
    message: /^metadata\.name is too long, expected at most 63 characters$/,
    server: /metadata\.name must have at most 63 characters/,
  },
  {
    title: 'a name with capitals',
    object: edit(SYNC, '/metadata/name', 'Platform'),
    path: '/metadata/name',
    message: /metadata\.name is "Platform", expected a name of lower-case letters/,
    server: /metadata\.name: Invalid value: "Platform"/,
  },
  {
    title: 'a label that YAML took for a number',
    object: edit(PLUGIN, '/metadata/labels', { tier: 1 }),
    path: '/metadata/labels/tier',
    message: /^metadata\.labels\.tier is the number 1, expected text \(put it in quotes: "1"\)$/,
    server: /cannot unmarshal number into .*labels of type string/,
  },
  {
    title: 'a label value with a space',
    object: edit(PLUGIN, '/metadata/labels', { tier: 'a b' }),
    path: '/metadata/labels/tier',
    message: /metadata\.labels\.tier is "a b", expected at most 63 letters/,
    server: /a valid label must be/,
  },
  {
    title: 'an annotation key with two slashes',
    object: edit(PLUGIN, '/metadata/annotations', { 'a/b/c': '' }),
    path: '/metadata/annotations/a~1b~1c',
    message: /metadata\.annotations has the key "a\/b\/c", expected a key such as/,
    server: /metadata\.annotations/,
  },
  {
    title: 'a version that follows tags and is named too',
    object: edit(EXTENSION, '/spec/versions/1/app', 'v1'),
    path: '/spec/versions/1',
    message: /must have either app, or tagsFollow/,
    server: /must have either app, or tagsFollow/,
  },
  {
    title: 'tags of a Helm repository',
    object: edit(EXTENSION, '/spec/versions/1/source', { chart: { repository: 'https://c.example.com', name: 'x' } }),
    path: '/spec/versions/1',
    message: /tagsFollow needs source\.oci/,
    server: /tagsFollow needs source\.oci/,
  },
  {
    title: 'tags that follow Kubernetes and a range beside them',
    object: edit(EXTENSION, '/spec/versions/1/kubernetes', '>=1.30'),
    path: '/spec/versions/1',
    message: /kubernetes cannot be given beside tagsFollow/,
    server: /kubernetes cannot be given beside tagsFollow/,
  },
  {
    title: 'an extension without versions',
    object: edit(EXTENSION, '/spec/versions', []),
    path: '/spec/versions',
    message: /spec\.versions must not be empty/,
    server: /should have at least 1 items/,
  },
  {
    title: 'a logo of a megabyte',
    object: edit(EXTENSION, '/spec/logo', `data:image/png;base64,${'A'.repeat(1_000_000)}`),
    path: '/spec/logo',
    message: /spec\.logo is too long, expected at most 262144 characters/,
    server: /Too long/,
  },
  {
    title: 'an instance on a version that is none',
    object: edit(INSTANCE, '/spec/version', 'latest'),
    path: '/spec/version',
    message: /must be auto, a version, or a range of versions/,
    server: /must be auto, a version, or a range of versions/,
  },
];
