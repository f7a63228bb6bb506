import { besideItsSum, githubRelease, type Offer } from './releases.ts';

/** How to make a program from the Go module in `tools/<module>`, whose go.sum proves every source. */
export interface Recipe {
  module: string;
  package: string;
  tags?: readonly string[];
  cgo?: boolean;
  /** Go variables that tell the program its version. */
  stamp?: (version: string) => Record<string, string>;
  /** The same sources may be linked as another version. */
  relinkable?: boolean;
  /** Folders of the package's module that the program reads at run time; they are installed beside it. */
  folders?: readonly string[];
}

export interface Tool {
  name: string;
  version: string;
  purpose: string;
  /** The command that tells the version, and where in its answer. */
  ask: { args: readonly string[]; answer: RegExp };
  offer: Offer;
  recipe: Recipe;
}

/** Whole: `1.36.3` must not be found in `1.36.3-gke.1`. Build metadata may follow. */
const VERSION = String.raw`(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?![0-9A-Za-z.-])`;
const KUBERNETES = '1.36.3';
const AGE = '1.3.2';

/** Every program that Espalier uses or tests with. The versions are those that `tools/<module>/go.mod` requires. */
export const TOOLS = {
  etcd: {
    name: 'etcd',
    version: '3.6.8',
    purpose: 'stores the state of the playground cluster',
    ask: { args: ['--version'], answer: new RegExp(`^etcd Version: ${VERSION}`) },
    offer: {
      systems: ['linux'],
      at: ({ os, arch }, version) => {
        const folder = `etcd-v${version}-${os}-${arch}`;
        const file = `${folder}.tar.gz`;
        return githubRelease({
          repository: 'etcd-io/etcd',
          tag: `v${version}`,
          file,
          sums: 'SHA256SUMS',
          member: `${folder}/etcd`,
        });
      },
    },
    recipe: { module: 'etcd', package: 'go.etcd.io/etcd/server/v3' },
  },
  'kube-apiserver': kubernetes('kube-apiserver', 'the API server of the playground cluster'),
  'kube-controller-manager': kubernetes('kube-controller-manager', 'runs Deployments, Jobs and garbage collection'),
  'kube-scheduler': kubernetes('kube-scheduler', 'gives pods of the playground cluster a node'),
  kwok: {
    name: 'kwok',
    version: '0.7.0',
    purpose: 'makes nodes and pods ready without machines',
    ask: { args: ['--version'], answer: new RegExp(`^kwok version v${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) =>
        githubRelease({ repository: 'kubernetes-sigs/kwok', tag: `v${version}`, file: `kwok-${os}-${arch}` }),
    },
    recipe: { module: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
  },
  helm: {
    name: 'helm',
    version: '4.3.1',
    purpose: 'installs charts and renders templates',
    ask: { args: ['version', '--template', '{{.Version}}'], answer: new RegExp(`^v${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) =>
        besideItsSum(`https://get.helm.sh/helm-v${version}-${os}-${arch}.tar.gz`, '.sha256sum', `${os}-${arch}/helm`),
    },
    recipe: {
      module: 'helm',
      package: 'helm.sh/helm/v4/cmd/helm',
      stamp: (version) => ({ 'helm.sh/helm/v4/internal/version.version': `v${version}` }),
    },
  },
  kustomize: {
    name: 'kustomize',
    version: '5.8.1',
    purpose: 'renders kustomizations',
    ask: { args: ['version'], answer: new RegExp(`^v${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) => {
        const file = `kustomize_v${version}_${os}_${arch}.tar.gz`;
        const tag = `kustomize/v${version}`;
        return githubRelease({
          repository: 'kubernetes-sigs/kustomize',
          tag,
          file,
          sums: 'checksums.txt',
          member: 'kustomize',
        });
      },
      pinned: { 'linux/amd64': '029a7f0f4e1932c52a0476cf02a0fd855c0bb85694b82c338fc648dcb53a819d' },
    },
    recipe: { module: 'kustomize', package: 'sigs.k8s.io/kustomize/kustomize/v5' },
  },
  kubectl: {
    ...kubernetes('kubectl', 'the command line to compare with'),
    ask: { args: ['version', '--client'], answer: new RegExp(`^Client Version: v${VERSION}`) },
  },
  crane: {
    name: 'crane',
    version: '0.22.1',
    purpose: 'copies images between registries',
    ask: { args: ['version'], answer: new RegExp(`^v?${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) => {
        const file = `go-containerregistry_${os === 'linux' ? 'Linux' : 'Darwin'}_${arch === 'amd64' ? 'x86_64' : arch}.tar.gz`;
        return githubRelease({
          repository: 'google/go-containerregistry',
          tag: `v${version}`,
          file,
          sums: 'checksums.txt',
          member: 'crane',
        });
      },
    },
    recipe: { module: 'crane', package: 'github.com/google/go-containerregistry/cmd/crane' },
  },
  registry: {
    name: 'registry',
    version: '3.1.2',
    purpose: 'serves images and charts over OCI',
    ask: { args: ['--version'], answer: new RegExp(` v${VERSION}`) },
    offer: {
      systems: ['linux'],
      at: ({ os, arch }, version) => {
        const file = `registry_${version}_${os}_${arch}.tar.gz`;
        return githubRelease({
          repository: 'distribution/distribution',
          tag: `v${version}`,
          file,
          sums: `${file}.sha256`,
          member: 'registry',
        });
      },
    },
    recipe: {
      module: 'registry',
      package: 'github.com/distribution/distribution/v3/cmd/registry',
      stamp: (version) => ({ 'github.com/distribution/distribution/v3/version.version': `v${version}` }),
    },
  },
  age: age('age', 'encrypts files'),
  'age-keygen': age('age-keygen', 'makes keys for age'),
  sops: {
    name: 'sops',
    version: '3.13.3',
    purpose: 'decrypts values',
    ask: { args: ['--version', '--disable-version-check'], answer: new RegExp(`^sops ${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) => {
        const sums = `sops-v${version}.checksums.txt`;
        return githubRelease({
          repository: 'getsops/sops',
          tag: `v${version}`,
          file: `sops-v${version}.${os}.${arch}`,
          sums,
        });
      },
      pinned: {
        'linux/amd64': 'e5bec3346a873ae91d871550f3e698c1aad962aff462a080e40f25fde17fef6b',
        'linux/arm64': '53b0abacd38ef1b12a66d6c100956691b9cefce018d91f81e73ddf7438b94d77',
      },
    },
    recipe: { module: 'sops', package: 'github.com/getsops/sops/v3/cmd/sops' },
  },
  gitea: {
    name: 'gitea',
    version: '1.26.2',
    purpose: 'a real forge',
    ask: { args: ['--version'], answer: new RegExp(`version ${VERSION}`) },
    offer: {
      systems: ['linux'],
      at: ({ os, arch }, version) =>
        besideItsSum(`https://dl.gitea.com/gitea/${version}/gitea-${version}-${os}-${arch}`, '.sha256'),
    },
    recipe: {
      module: 'gitea',
      package: 'code.gitea.io/gitea',
      cgo: true,
      tags: ['sqlite', 'sqlite_unlock_notify'],
      stamp: (version) => ({ 'main.Version': version }),
      folders: ['options', 'templates', 'public'],
    },
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof TOOLS;

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}

export function toolNames(): ToolName[] {
  return Object.keys(TOOLS).filter(isToolName);
}

function kubernetes(name: string, purpose: string): Tool {
  const variable = 'k8s.io/component-base/version';
  return {
    name,
    version: KUBERNETES,
    purpose,
    ask: { args: ['--version'], answer: new RegExp(`^Kubernetes v${VERSION}`) },
    offer: {
      systems: name === 'kubectl' ? ['linux', 'darwin'] : ['linux'],
      at: ({ os, arch }, version) =>
        besideItsSum(`https://dl.k8s.io/release/v${version}/bin/${os}/${arch}/${name}`, '.sha256'),
    },
    recipe: {
      module: 'kubernetes',
      package: `k8s.io/kubernetes/cmd/${name}`,
      relinkable: true,
      stamp: (version) => {
        const [major = '', minor = ''] = version.split('.');
        return {
          [`${variable}.gitVersion`]: `v${version}`,
          [`${variable}.gitMajor`]: major,
          [`${variable}.gitMinor`]: minor,
        };
      },
    },
  };
}

function age(name: string, purpose: string): Tool {
  return {
    name,
    version: AGE,
    purpose,
    ask: { args: ['--version'], answer: new RegExp(`^v?${VERSION}`) },
    offer: {
      systems: ['linux', 'darwin'],
      at: ({ os, arch }, version) =>
        githubRelease({
          repository: 'FiloSottile/age',
          tag: `v${version}`,
          file: `age-v${version}-${os}-${arch}.tar.gz`,
          member: `age/${name}`,
        }),
      pinned: {
        'linux/amd64': 'cbe24006683f8eb669266162894b9a522a1af52f2665fbc63a4bb032ed26ac10',
        'linux/arm64': '6b8dc4333c53a5a57c9e5834e3a48f92605d7154014cd07269ff3327db5d37f4',
      },
    },
    recipe: { module: 'age', package: `filippo.io/age/cmd/${name}` },
  };
}
