import type { JsonObject } from '../api/index.ts';
import type { FileTree } from '../git/tree.ts';
import type { RenderTools } from './contained.ts';
import type { RenderLimits } from './limits.ts';
import type { Rendered } from './rendered.ts';

/** What rendering may know of the cluster. */
export interface RenderFacts {
  /** Such as `v1.36.3`. */
  kubernetesVersion?: string;
  /** `apps/v1`, and with kinds `apps/v1/Deployment`, as `.Capabilities.APIVersions.Has` asks for them. */
  apiVersions?: readonly string[];
}

/** What every way of rendering gets. */
export interface RenderContext {
  plugin: { namespace: string; name: string };
  tree: FileTree;
  path: string;
  within: string | undefined;
  /** Namespace that the objects go to. */
  targetNamespace: string;
  values: JsonObject;
  facts: RenderFacts;
  limits: RenderLimits;
  secrets: readonly string[];
  signal: AbortSignal | undefined;
  tools: RenderTools;
  /** What is left until the deadline of the rendering as a whole. */
  remainingMs(): number;
}

export interface RenderedObjects {
  objects: Rendered[];
  warnings: string[];
}
