/** A value with fields, as a rule sees it. Values of the wrong type are somebody else's fault and pass. */
type Self = { readonly [field: string]: unknown };

export type Check = (self: Self) => boolean;

/**
 * The CEL rules that are more than a pattern, each with the same verdict in JavaScript. The test of this file fails when
 * a schema has a rule that is missing here; the stories in test/api compare both with a real API server.
 */
export const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [
    '[has(self.branch), has(self.tag), has(self.semver), has(self.commit)].filter(x, x).size() <= 1',
    (self) => present(self, 'branch', 'tag', 'semver', 'commit') <= 1,
  ],
  [
    '(has(self.chart) ? 1 : 0) + (has(self.oci) ? 1 : 0) + (has(self.git) ? 1 : 0) + (has(self.download) ? 1 : 0) == 1',
    (self) => present(self, 'chart', 'oci', 'git', 'download') === 1,
  ],
  ['!has(self.ref) || has(self.url)', (self) => !has(self, 'ref') || has(self, 'url')],
  ['!has(self.secretRef) || has(self.url)', (self) => !has(self, 'secretRef') || has(self, 'url')],
  [
    "!has(self.verify) || self.verify.provider == 'provenance'",
    (self) => !isFields(self.verify) || self.verify.provider !== 'cosign',
  ],
  ['has(self.apiVersion) == has(self.kind)', (self) => has(self, 'apiVersion') === has(self, 'kind')],
  ['has(self.kind) || !has(self.ready)', (self) => has(self, 'kind') || !has(self, 'ready')],
  ['has(self.name) != (has(self.all) && self.all)', (self) => has(self, 'name') !== meansAll(self)],
  [
    "!has(self.all) || !self.all || (has(self.kind) && self.kind != 'Plugin')",
    (self) => !meansAll(self) || (has(self, 'kind') && self.kind !== 'Plugin'),
  ],
  ['!has(self.labels) || (has(self.all) && self.all)', (self) => !has(self, 'labels') || meansAll(self)],
  [
    "self.apiVersion != 'v1' || self.kind != 'ConfigMap' || self.condition.matches('^[-._a-zA-Z0-9]+$')",
    (self) =>
      self.apiVersion !== 'v1' ||
      self.kind !== 'ConfigMap' ||
      typeof self.condition !== 'string' ||
      /^[-._a-zA-Z0-9]+$/.test(self.condition),
  ],
  [
    "self.kind in ['helm', 'template', 'expansion'] || has(self.source.git) || has(self.source.download)",
    (self) =>
      (self.kind !== 'kustomize' && self.kind !== 'manifests') ||
      !isFields(self.source) ||
      present(self.source, 'git', 'download') > 0,
  ],
  [
    "self.kind == 'manifests' || !has(self.source.git) || !has(self.source.git.template) || !self.source.git.template",
    (self) => self.kind === 'manifests' || !isFields(self.source) || !isTemplate(self.source.git),
  ],
  [
    "self.kind == 'manifests' || !has(self.source.download) || !has(self.source.download.template) || !self.source.download.template",
    (self) => self.kind === 'manifests' || !isFields(self.source) || !isTemplate(self.source.download),
  ],
  [
    "self.kind != 'expansion' || has(self.source.git) || has(self.source.oci)",
    (self) => self.kind !== 'expansion' || !isFields(self.source) || present(self.source, 'git', 'oci') > 0,
  ],
  [
    "self.kind in ['helm', 'template'] || !has(self.source.git) || !has(self.source.git.inside)",
    (self) => isChart(self) || !isFields(self.source) || !hasInside(self.source.git),
  ],
  [
    "self.kind in ['helm', 'template'] || !has(self.source.oci) || !has(self.source.oci.inside)",
    (self) => isChart(self) || !isFields(self.source) || !hasInside(self.source.oci),
  ],
  ["!has(self.expansion) || self.kind == 'expansion'", (self) => !has(self, 'expansion') || self.kind === 'expansion'],
  ["!has(self.step) || self.kind == 'expansion'", (self) => !has(self, 'step') || self.kind === 'expansion'],
  ['has(self.app) != has(self.tagsFollow)', (self) => has(self, 'app') !== has(self, 'tagsFollow')],
  [
    '!has(self.tagsFollow) || has(self.source.oci)',
    (self) => !has(self, 'tagsFollow') || !isFields(self.source) || has(self.source, 'oci'),
  ],
  ['!has(self.tagsFollow) || !has(self.kubernetes)', (self) => !has(self, 'tagsFollow') || !has(self, 'kubernetes')],
]);

export function isFields(value: unknown): value is Self {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function has(self: Self, field: string): boolean {
  return Object.hasOwn(self, field);
}

function present(self: Self, ...fields: string[]): number {
  return fields.filter((field) => has(self, field)).length;
}

function meansAll(self: Self): boolean {
  return self.all === true;
}

function isTemplate(source: unknown): boolean {
  return isFields(source) && source.template === true;
}

function isChart(self: Self): boolean {
  return self.kind === 'helm' || self.kind === 'template';
}

function hasInside(source: unknown): boolean {
  return isFields(source) && has(source, 'inside');
}
