import { createServer } from 'node:http';
import { join } from 'node:path';
import { messageOf } from '../../src/api/index.ts';
import { createPrivateFolder, removeFolder, sweepFolders } from '../../src/playground/folder.ts';
import { type Gitea, startGitea } from '../../src/playground/forge/gitea.ts';
import type { GiteaAddress } from './gitea.ts';

export interface GiteaKeeper {
  /** Answers where Gitea is, and starts it for who asks first. */
  socketPath: string;
  stop(): Promise<void>;
}

/** Most test files need no forge: a second of the processor and 150 MB are spent when one does, and once for a run. */
export async function keepGitea(root: string): Promise<GiteaKeeper> {
  // A run that is cut off leaves its folder; the next one removes it.
  await sweepFolders(root);
  const folder = await createPrivateFolder(root);
  const socketPath = join(folder, 'web.sock');
  let starting: Promise<Gitea> | undefined;
  const server = createServer((_, response) => {
    starting ??= startGitea({ root: join(folder, 'gitea') });
    starting.then(
      ({ url, root, admin: { name, password, token } }) => {
        const address: GiteaAddress = { url, root, admin: { name, password, token } };
        response.end(JSON.stringify(address));
      },
      (error: unknown) => response.writeHead(500).end(messageOf(error)),
    );
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socketPath, resolve));
  server.unref();
  return {
    socketPath,
    async stop() {
      server.close();
      server.closeAllConnections();
      const gitea = await starting?.catch(() => undefined);
      await gitea?.stop();
      await removeFolder(folder);
    },
  };
}
