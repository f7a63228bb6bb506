import { after, before } from 'node:test';
import { type GitServer, startGitServer } from './gitserver.ts';
import { makeFolder, makeOrigin, type Origin } from './origin.ts';

/** A folder of repositories that a server of this file's own serves, for as long as its tests run. */
export interface Served {
  /** Once the tests run. */
  readonly server: GitServer;
  readonly folder: string;
  /** A new repository that nobody else uses. */
  fresh(): Promise<{ origin: Origin; name: string }>;
}

export function servedOrigins(): Served {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let server: GitServer;
  let names = 0;
  before(async () => {
    folder = await makeFolder();
    server = await startGitServer({ root: folder.path });
  });
  after(async () => {
    await server.close();
    await folder.remove();
  });
  return {
    get server() {
      return server;
    },
    get folder() {
      return folder.path;
    },
    async fresh() {
      const name = `r${names++}.git`;
      return { origin: await makeOrigin(folder.path, name), name };
    },
  };
}
