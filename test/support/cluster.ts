import { dirname } from 'node:path';
import { after, type TestContext } from 'node:test';
import { API_VERSION, refOf } from '../../src/api/index.ts';
import { type ClientOptions, createClient, type KubeClient } from '../../src/cluster/client.ts';
import { type User, writeUserKubeconfig } from '../../src/playground/credentials.ts';
import { runProgram } from '../../src/tools/run.ts';
import { toolPath } from '../../src/tools/tool.ts';

import { uniqueName } from './names.ts';

const KUBECTL_TIMEOUT_MS = 60_000;

let shared: KubeClient | undefined;
// Here, not where it is made: inside a test `after` would belong to that test alone.
after(() => shared?.close());

/** Path of the administrator's kubeconfig for the control plane that all test files share. */
export function testKubeconfig(): string {
  const path = process.env.ESPALIER_TEST_KUBECONFIG;
  if (path === undefined) {
    throw new Error(
      'ESPALIER_TEST_KUBECONFIG is not set: run the tests with npm test, or start `node test/support/keep.ts`',
    );
  }
  return path;
}

/** A client of the shared control plane with every right. Without options one client serves the whole test file; with options it is closed when the test that calls this ends. */
export function testClient(options?: ClientOptions): KubeClient {
  if (options !== undefined) {
    const client = createClient({ kubeconfig: testKubeconfig(), ...options });
    after(() => client.close());
    return client;
  }
  shared ??= createClient({ kubeconfig: testKubeconfig() });
  return shared;
}

/** Whether the control plane ends with the run, so that nobody need clean it up. */
export function isDisposable(): boolean {
  return process.env.ESPALIER_TEST_DISPOSABLE !== undefined;
}

/**
 * A new namespace of the test's own, whose name it returns. It is deleted when the test ends, and nobody waits for that;
 * where the control plane ends with the run it just stays: to delete one costs more than most tests.
 */
export async function testNamespace(
  t: Pick<TestContext, 'after'>,
  options: { prefix?: string; labels?: Record<string, string> } = {},
): Promise<string> {
  const name = uniqueName(options.prefix ?? 'test');
  const client = testClient();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: options.labels ?? {} } };
  await client.create(namespace);
  if (isDisposable()) return name;
  t.after(async () => {
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', name });
    await letGo(client, name);
  });
  return name;
}

/** The agent that looked after them ends with the test: without it they would wait for it for ever, and their namespace too. */
async function letGo(client: KubeClient, namespace: string): Promise<void> {
  for (const kind of ['Plugin', 'Sync']) {
    // Where a test never installed the kinds there is nothing to let go.
    const { items } = await client.list({ apiVersion: API_VERSION, kind, namespace }).catch(() => ({ items: [] }));
    const body = { metadata: { finalizers: null } };
    for (const item of items) {
      await client.delete(refOf(item));
      await client.patch(refOf(item), body, { type: 'merge' }).catch(() => undefined);
    }
  }
}

/** Path of a kubeconfig for a user of the shared control plane: rights are what its name and groups are bound to. */
export function testUser(user: User): Promise<string> {
  return writeUserKubeconfig(dirname(testKubeconfig()), testClient().server, user);
}

/** Runs kubectl against the shared control plane and returns what it prints; throws what it complains about. */
export async function kubectl(...args: string[]): Promise<string> {
  const ran = await runProgram(await toolPath('kubectl'), {
    args: ['--kubeconfig', testKubeconfig(), ...args],
    timeoutMs: KUBECTL_TIMEOUT_MS,
  });
  if (ran.code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${ran.code}: ${ran.stderr}`);
  return ran.stdout;
}
