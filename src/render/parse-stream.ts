import { setImmediate as nextTurn } from 'node:timers/promises';
import { EspalierError, type KubeObject } from '../api/index.ts';
import { DEFAULT_RENDER_LIMITS, type RenderLimits } from './limits.ts';
import { type Rendered, toObjects } from './rendered.ts';
import { parseYaml } from './yaml.ts';

/** What is parsed in one go: at 10 MB a second a few hundredths of a second. */
const CHUNK = 256 * 1024;

/**
 * Objects from a text of many documents. Large texts are read piece by piece, with a pause in between for whatever
 * else this process has to do: one large plugin must not delay the others.
 */
export async function parseObjects(
  text: string,
  file: string,
  originOf: (line: number) => string,
  { limits, signal }: { limits: RenderLimits; signal?: AbortSignal | undefined },
): Promise<Rendered[]> {
  const objects: Rendered[] = [];
  for (const { chunk, line } of chunksOf(text)) {
    signal?.throwIfAborted();
    if (chunk.length > limits.documentBytes) {
      const why = `a document of more than ${limits.documentBytes} bytes is larger than any object can be`;
      throw new EspalierError('RenderRefused', `${file}:${line}: ${why}`, { retry: false });
    }
    objects.push(...toObjects(parseYaml(chunk, file, line), originOf));
    if (objects.length > limits.objects) {
      throw new EspalierError(
        'RenderRefused',
        `${file}: more than ${limits.objects} objects are too many for one plugin`,
        {
          retry: false,
        },
      );
    }
    if (text.length > CHUNK) await nextTurn();
  }
  return objects;
}

/** The objects of a text that is known as a whole by one name. */
export async function parseText(text: string, title: string, signal?: AbortSignal): Promise<KubeObject[]> {
  const found = await parseObjects(text, title, () => title, { limits: DEFAULT_RENDER_LIMITS, signal });
  return found.map(({ object }) => object);
}

/** Cuts between documents: a line that begins with `---` can be nothing else. Directives would be lost by a cut. */
function* chunksOf(text: string): Generator<{ chunk: string; line: number }> {
  if (text.length <= CHUNK || /^%/m.test(text)) {
    yield { chunk: text, line: 1 };
    return;
  }
  let [start, line] = [0, 1];
  while (start < text.length) {
    const cut = nextSeparator(text, start + CHUNK);
    const chunk = text.slice(start, cut);
    yield { chunk, line };
    line += chunk.split('\n').length - 1;
    start = cut;
  }
}

function nextSeparator(text: string, from: number): number {
  const separator = /\n---(?=\s)/g;
  separator.lastIndex = from;
  const found = separator.exec(text);
  return found === null ? text.length : found.index + 1;
}
