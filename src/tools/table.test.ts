import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { variableFor } from './find.ts';
import { releaseOf } from './releases.ts';
import { surroundingsOf } from './surroundings.ts';
import { TOOLS, type Tool, type ToolName, toolNames } from './table.ts';

const { modules } = surroundingsOf({});
const PLATFORMS = ['linux', 'darwin'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch })));

for (const name of toolNames()) {
  const tool: Tool = TOOLS[name];

  test(`${name} is listed under its own name, with the version that its Go module requires`, async () => {
    assert.equal(tool.name, name);
    const text = await readFile(join(modules, tool.recipe.module, 'go.mod'), 'utf8');
    const required = [...text.matchAll(/^\s*(?:require )?(\S+) v(\S+)/gm)].filter(([, path]) =>
      `${tool.recipe.package}/`.startsWith(`${path}/`),
    );
    const longest = required.sort((a, b) => (b[1]?.length ?? 0) - (a[1]?.length ?? 0))[0];
    assert.equal(longest?.[2], tool.version);
  });

  test(`${name} is downloaded over https alone, and with a proof from its publisher's own hosts`, () => {
    for (const platform of PLATFORMS) {
      const release = releaseOf(tool, platform, tool.version);
      if (release === undefined) continue;
      assert.match(release.url, /^https:\/\//);
      if (release.proof.kind === 'pinned') assert.match(release.proof.sha256, /^[0-9a-f]{64}$/);
      else assert.equal(domain(release.proof.url), domain(release.url));
    }
  });
}

test('a pinned sum is never used for another version or platform', () => {
  const proof = (version: string, arch: string) => releaseOf(TOOLS.age, { os: 'linux', arch }, version)?.proof.kind;
  assert.equal(proof(TOOLS.age.version, 'amd64'), 'pinned');
  assert.equal(proof('1.3.3', 'amd64'), 'github');
  assert.equal(releaseOf(TOOLS.age, { os: 'linux', arch: 'riscv64' }, TOOLS.age.version), undefined);
});

test('the variable that names a program is in capitals with underscores', () => {
  assert.equal(variableFor('kube-apiserver'), 'ESPALIER_TOOL_KUBE_APISERVER');
});

const ANSWERS: [ToolName, string, string | undefined][] = [
  ['etcd', 'etcd Version: 3.6.8\nGit SHA: e2f7b1c\nGo Version: go1.26.1', '3.6.8'],
  ['kube-apiserver', 'Kubernetes v1.36.3', '1.36.3'],
  ['kube-apiserver', 'Kubernetes v1.36.3-gke.100', '1.36.3-gke.100'],
  ['kube-scheduler', 'Kubernetes v1.36.3+k3s1', '1.36.3'],
  ['kubectl', 'Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0', '1.32.4-dispatcher'],
  ['kubectl', 'Client Version: v1.36.3\nKustomize Version: v5.8.1', '1.36.3'],
  ['kwok', 'kwok version v0.7.0 go1.26.1 (linux/amd64)', '0.7.0'],
  ['helm', 'v4.3.1', '4.3.1'],
  ['helm', 'v4.3', undefined],
  ['kustomize', 'v5.8.1', '5.8.1'],
  ['kustomize', '(devel)', undefined],
  ['crane', '0.22.1', '0.22.1'],
  ['registry', 'registry github.com/distribution/distribution/v3 v3.1.2', '3.1.2'],
  ['registry', '/usr/bin/registry github.com/distribution/distribution/v3 v3.1.2+unknown', '3.1.2'],
  ['age', 'v1.3.2', '1.3.2'],
  ['sops', 'sops 3.13.3', '3.13.3'],
  ['gitea', 'gitea version 1.26.2 built with GNU Make 4.3, go1.26.8 : bindata', '1.26.2'],
];

for (const [name, answer, version] of ANSWERS) {
  test(`${name} answering "${answer.split('\n')[0]}" is understood as ${version ?? 'no version'}`, () => {
    assert.equal(TOOLS[name].ask.answer.exec(answer)?.[1], version);
  });
}

function domain(url: string): string {
  return new URL(url).host.split('.').slice(-2).join('.');
}
