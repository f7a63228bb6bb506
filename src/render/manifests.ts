import { parseObjects } from './parse-stream.ts';
import type { RenderContext, RenderedObjects } from './render-input.ts';
import type { Rendered } from './rendered.ts';
import { filesBelow, Reader } from './source-files.ts';

/** Every YAML file below a folder, or one file, as it is. Other files are nobody's manifests. */
export async function renderManifests({ tree, path, limits, signal }: RenderContext): Promise<RenderedObjects> {
  const reader = new Reader(tree, limits, signal);
  const objects: Rendered[] = [];
  for (const file of await filesBelow(tree, path, limits)) {
    if (!/\.ya?ml$/i.test(file.name)) continue;
    const text = await reader.text(file.path);
    const found = await parseObjects(text, file.path, (line) => `${file.path}:${line}`, { limits, signal });
    for (const one of found) objects.push(one);
  }
  return { objects, warnings: [] };
}
