import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

export interface Tunnel {
  url: string;
  /** `api.bitbucket.org:443`, in the order in which they were asked for. */
  asked: string[];
  close(): Promise<void>;
}

/** An HTTP proxy that leads every host to one local port: for forges whose address can't be chosen. */
export async function startTunnel(port: number): Promise<Tunnel> {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  const server = createServer((_incoming, outgoing) => outgoing.writeHead(405).end());
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
  });
  server.on('connect', (incoming, socket) => {
    asked.push(incoming.url ?? '');
    const onward = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      onward.pipe(socket);
      socket.pipe(onward);
    });
    sockets.add(onward);
    onward.on('error', () => socket.destroy());
    socket.on('error', () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
