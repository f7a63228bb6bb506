import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { livesIn, livesText } from '../../scripts/api-lives/read.ts';
import { GENERATED_LIVES, LIVES_KNOWN_UNTIL } from '../../src/resolve/api-lives.generated.ts';
import { cacheFor } from '../../src/tools/cache.ts';

const sources = join(cacheFor(process.env).root, 'go', 'mod');
const root = join(import.meta.dirname, '..', '..');

test('the table of API versions says what the Kubernetes sources say', async (t) => {
  const lives = await livesIn(sources, root).catch(() => undefined);
  if (lives === undefined) return t.skip('the Kubernetes sources are not in the cache');
  const until = `1.${LIVES_KNOWN_UNTIL}`;
  assert.equal(livesText(GENERATED_LIVES, until), livesText(lives, until));
});
