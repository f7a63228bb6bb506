/**
 * Every field of a kustomization, and what it may refer to. kustomize reads fields whatever their case and fetches
 * whatever looks like a URL in any of them, so what is not in these tables, letter for letter, is refused.
 */
export const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'namePrefix',
  'nameSuffix',
  'namespace',
  'commonLabels',
  'labels',
  'commonAnnotations',
  'images',
  'imageTags',
  'replicas',
  'vars',
  'sortOptions',
  'generatorOptions',
  'buildMetadata',
]);

/** Lists of references: to a file, to another kustomization, or to either. */
export const REFERENCE_FIELDS: ReadonlyMap<string, 'file' | 'folder' | 'any'> = new Map(
  Object.entries({
    resources: 'any',
    bases: 'folder',
    components: 'folder',
    crds: 'file',
    configurations: 'file',
  }),
);

/** Lists of entries of which some fields refer to files. */
export const ENTRY_FIELDS: ReadonlyMap<string, EntryShape> = new Map(
  Object.entries({
    patches: { fields: ['path', 'patch', 'target', 'options'], files: ['path'] },
    patchesJson6902: { fields: ['path', 'patch', 'target', 'options'], files: ['path'] },
    replacements: { fields: ['path', 'source', 'targets'], files: ['path'] },
    configMapGenerator: {
      fields: ['name', 'namespace', 'behavior', 'files', 'envs', 'env', 'literals', 'options'],
      files: ['files', 'envs', 'env'],
    },
    secretGenerator: {
      fields: ['name', 'namespace', 'behavior', 'files', 'envs', 'env', 'literals', 'options', 'type'],
      files: ['files', 'envs', 'env'],
    },
  }),
);

export interface EntryShape {
  fields: readonly string[];
  /** Those of the fields that name files: one, or a list of them. */
  files: readonly string[];
}

/** Lists of plugin configurations, in files or inline. Only plugins that are part of kustomize itself are run. */
export const PLUGIN_FIELDS: ReadonlySet<string> = new Set(['generators', 'transformers', 'validators']);

export const REFUSED_FIELDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    helmCharts: 'charts are not fetched from within a kustomization; declare a Plugin of kind helm',
    helmChartInflationGenerator: 'charts are not fetched from within a kustomization; declare a Plugin of kind helm',
    helmGlobals: 'charts are not fetched from within a kustomization; declare a Plugin of kind helm',
  }),
);

/** The plugins that are part of kustomize, but for the one that runs Helm, and which of their fields name files. */
export const BUILTIN_PLUGINS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    AnnotationsTransformer: [],
    ConfigMapGenerator: ['files', 'envs', 'env'],
    HashTransformer: [],
    IAMPolicyGenerator: [],
    ImageTagTransformer: [],
    LabelTransformer: [],
    NamespaceTransformer: [],
    PatchJson6902Transformer: ['path'],
    PatchStrategicMergeTransformer: ['paths'],
    PatchTransformer: ['path'],
    PrefixSuffixTransformer: [],
    PrefixTransformer: [],
    ReplacementTransformer: [],
    ReplicaCountTransformer: [],
    SecretGenerator: ['files', 'envs', 'env'],
    SortOrderTransformer: [],
    SuffixTransformer: [],
    ValueAddTransformer: [],
  }),
);
