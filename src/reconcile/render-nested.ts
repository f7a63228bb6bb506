import { EspalierError, isKind, type KubeObject, type Plugin, readAs, validateObject } from '../api/index.ts';
import { settleAll } from '../converge/limit.ts';
import { childrenOf, DEEPEST_NESTING } from './nesting.ts';
import { renderCandidate } from './render-candidate.ts';
import {
  PARALLEL_PLUGINS,
  type RenderedRevision,
  type Rendering,
  type RenderRevisionInput,
  type RevisionPlugin,
  take,
} from './render-revision.ts';
import { keyOf } from './store.ts';

interface Found {
  object: KubeObject;
  parent: RevisionPlugin;
}

/** Renders the Plugins that Plugins of a revision render, level by level, as they would be in the cluster. */
export async function renderNested(
  input: RenderRevisionInput,
  top: readonly Rendering[],
  revision: RenderedRevision,
): Promise<Rendering[]> {
  const all: Rendering[] = [];
  for (let level = top; level.length > 0; ) {
    const found = level.flatMap(({ plugin }) => nestedOf(input, plugin)).filter(isFirst(revision.nested));
    const next: Rendering[] = [];
    const results = await settleAll(found, PARALLEL_PLUGINS, (one) => renderOne(input, one));
    take(
      revision,
      found.map(({ object }) => keyOf(object)),
      results,
      next,
    );
    all.push(...next);
    level = next;
  }
  return all;
}

/** What a Plugin renders, or, where it is as before, what is in the cluster of it. */
function nestedOf({ live }: RenderRevisionInput, parent: RevisionPlugin): Found[] {
  const objects: readonly KubeObject[] =
    parent.asBefore === true ? childrenOf(parent.key, live.values()) : (parent.rendered?.objects ?? []);
  return objects.filter((object) => isKind(object, 'Plugin')).map((object) => ({ object, parent }));
}

/** Two that render one Plugin are told in their plans; it is rendered once. */
function isFirst(seen: Set<string>): (found: Found) => boolean {
  return ({ object }) => seen.size < seen.add(keyOf(object)).size;
}

async function renderOne(input: RenderRevisionInput, { object, parent }: Found) {
  const parents = [parent.plugin, ...parent.parents];
  const key = keyOf(object);
  if (input.compiled.plugins?.has(key) === true) {
    const message = `Plugin ${parent.key} renders it, and the repository declares it too: leave it out in one of the two`;
    throw new EspalierError('RenderRefused', message, { retry: false });
  }
  if (parents.length > DEEPEST_NESTING) {
    const way = [...parents.map(keyOf).toReversed(), key].join(' renders ');
    throw new EspalierError('RenderRefused', `it is nested more than ${DEEPEST_NESTING} deep: ${way}`, {
      retry: false,
    });
  }
  const live = input.live.get(key);
  const plugin = parent.asBefore === true && live !== undefined ? live : await standing(input, object, live, parent);
  const beside = parent.rendered?.objects ?? [];
  return await renderCandidate(input, { plugin, live, parents, beside });
}

async function standing(
  { standingNested }: RenderRevisionInput,
  object: KubeObject,
  live: Plugin | undefined,
  { key, facts }: RevisionPlugin,
): Promise<Plugin> {
  const [violation] = validateObject(object);
  if (violation !== undefined) {
    const message = `as Plugin ${key} renders it: ${violation.path}: ${violation.message}`;
    throw new EspalierError('InvalidDeclaration', message, { retry: false });
  }
  if (standingNested !== undefined) return await standingNested(object, live, facts.account);
  return readAs({ ...object, ...(live?.status === undefined ? {} : { status: live.status }) }, 'Plugin');
}
