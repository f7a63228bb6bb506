import type { FileTree } from '../git/tree.ts';
import { scanKustomization } from './kustomize-scan.ts';
import { DEFAULT_RENDER_LIMITS, type RenderLimits } from './limits.ts';

/**
 * Paths whose Git ids together say whether a kustomization changed: its own files, and those of every base,
 * component and patch that it refers to, wherever they are in the repository.
 */
export async function kustomizeInputs(
  tree: FileTree,
  path: string,
  options: { within?: string; limits?: Partial<RenderLimits>; signal?: AbortSignal } = {},
): Promise<string[]> {
  const limits = { ...DEFAULT_RENDER_LIMITS, ...options.limits };
  const scan = await scanKustomization(tree, path, { limits, within: options.within, signal: options.signal });
  return scan.inputs;
}
