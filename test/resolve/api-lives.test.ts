import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { livesIn, livesText } from '../../scripts/api-lives/read.ts';
import { GENERATED_LIVES, LIVES_KNOWN_UNTIL } from '../../src/resolve/api-lives.generated.ts';
import { cacheFor } from '../../src/tools/cache.ts';

const sources = join(cacheFor(process.env).root, 'go', 'mod');
const root = join(import.meta.dirname, '..', '..');
const isThere = (await livesIn(sources, root).catch(() => undefined)) !== undefined;
const needed = isThere ? {} : { skip: 'the Kubernetes sources are not in the cache' };

test('the table of API versions says what the Kubernetes sources say', needed, async () => {
  const until = `1.${LIVES_KNOWN_UNTIL}`;
  assert.equal(livesText(GENERATED_LIVES, until), livesText(await livesIn(sources, root), until));
});
