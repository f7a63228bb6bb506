import type { NewFile } from '../gitcommit.ts';

export interface TourChange {
  files: Record<string, NewFile>;
  /** One line each, for people. */
  what: string[];
}

const CACHE = 'plugins/session-cache.yaml';
const PLANS = 'apps/backup-plans/plans.yaml';

const PLUGIN = `apiVersion: espalier.dev/v1alpha1
kind: Plugin
metadata:
  name: notice-board
spec:
  kind: manifests
  source:
    git: {path: apps/notice-board}
  namespace: {name: notice-board, create: true}
  dependsOn:
    - name: web
`;

const NOTICE_BOARD = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: notice-board
spec:
  replicas: 1
  selector:
    matchLabels: {app: notice-board}
  template:
    metadata:
      labels: {app: notice-board}
    spec:
      containers:
        - name: notice-board
          image: docker.io/library/busybox:1.37.0
          command: [sleep, infinity]
`;

/**
 * A change that shows what a plan can say: something new that waits for something else, a value of a Helm release, an
 * object that goes. Of a repository that is not the example only the new thing is left.
 */
export async function tourChange(read: (path: string) => Promise<string | undefined>): Promise<TourChange> {
  const [cache, plans] = [await read(CACHE), await read(PLANS)];
  const change: TourChange = {
    files: { 'plugins/notice-board.yaml': PLUGIN, 'apps/notice-board/deployment.yaml': NOTICE_BOARD },
    what: ['a new plugin, notice-board, which waits for web'],
  };
  const larger = cache?.replace(/^( *replicas: )2$/m, '$13');
  if (larger !== undefined && larger !== cache) {
    change.files[CACHE] = larger;
    change.what.push('session-cache, a Helm release: 3 replicas instead of 2');
  }
  const documents = plans?.split(/^---\n/m) ?? [];
  const kept = documents.filter((document) => !/^ {2}name: hourly-web$/m.test(document));
  if (kept.length > 0 && kept.length < documents.length) {
    change.files[PLANS] = kept.join('---\n');
    change.what.push('the backup plan hourly-web goes');
  }
  return change;
}
