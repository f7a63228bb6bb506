import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { KubeObject, PolicyRule } from '../../src/api/index.ts';
import { testClient, testKubeconfig } from '../support/cluster.ts';
import { tempDir } from '../support/tempdir.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** A service account with these rights in its namespace and no others. Returns the path of a kubeconfig with its token. */
export async function testAccount(
  t: Pick<TestContext, 'after'>,
  namespace: string,
  name: string,
  rules: readonly PolicyRule[],
): Promise<string> {
  const client = testClient();
  const metadata = { name, namespace };
  const role = { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules };
  const binding = {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: RBAC, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  };
  const account: KubeObject = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
  for (const object of [account, role, binding]) await client.create(object);
  const { body } = await client.raw({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
  });
  const { token } = (JSON.parse(body) as { status: { token: string } }).status;
  const config = JSON.parse(await readFile(testKubeconfig(), 'utf8')) as { users: { user: object }[] };
  for (const entry of config.users) entry.user = { token };
  const path = join(await tempDir(t), 'kubeconfig');
  await writeFile(path, JSON.stringify(config));
  return path;
}
