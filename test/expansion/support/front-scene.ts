import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach } from 'node:test';
import { type Registry, startRegistry } from '../../charts/support/registry.ts';
import { type Front, startFront } from '../../mirror/support/front.ts';

/** A real registry for the tests of a file, and what counts requests in front of it: from zero in each test. */
export function frontScene(): { readonly registry: Registry; readonly front: Front } {
  const scene: { folder?: string; registry?: Registry; front?: Front } = {};
  before(async () => {
    scene.folder = await mkdtemp(join(tmpdir(), 'espalier-test-'));
    scene.registry = await startRegistry(scene.folder);
    scene.front = await startFront(scene.registry.host);
  });
  after(async () => {
    await scene.front?.close();
    await scene.registry?.stop();
    await rm(scene.folder ?? '', { recursive: true, force: true });
  });
  beforeEach(() => {
    if (scene.front === undefined) return;
    scene.front.meddle = undefined;
    scene.front.requests.length = 0;
  });
  return scene as { registry: Registry; front: Front };
}
