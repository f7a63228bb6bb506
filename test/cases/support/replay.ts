import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

interface Answer {
  status: number;
  type: string;
  body: Buffer;
}

/**
 * Stands in front of a server that answers the same question always the same, and asks it once: a Git server that nobody
 * pushes to starts two programs for each poll, which a test of a thousand polls has no time for.
 */
export async function startReplay(
  t: Pick<TestContext, 'after'>,
  url: string,
): Promise<{ url: string; asked(): number }> {
  const target = new URL(url);
  const answers = new Map<string, Promise<Answer>>();
  let asked = 0;
  const server = createServer(async (incoming, outgoing) => {
    asked++;
    const body = await buffer(incoming);
    const question = [incoming.method, incoming.url, incoming.headers['git-protocol'], body.toString('latin1')].join(
      '\n',
    );
    const answer = answers.get(question) ?? ask(target, incoming, body);
    answers.set(question, answer);
    const { status, type, body: said } = await answer;
    outgoing.writeHead(status, { 'content-type': type }).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${target.pathname}`, asked: () => asked };
}

function ask(target: URL, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, url = '/', headers } = incoming;
    const sent = request(
      new URL(url, target),
      { method, headers: { ...headers, host: target.host } },
      async (answer) => {
        const type = answer.headers['content-type'] ?? '';
        resolve({ status: answer.statusCode ?? 0, type, body: await buffer(answer) });
      },
    );
    sent.on('error', reject).end(body);
  });
}
