import type { PlaygroundForge } from './forge/serve.ts';
import type { Playground } from './playground.ts';

/** One line for scripts. */
export function describeForScripts(playground: Playground, pid: number): string {
  const { kubeconfig, git, http, logs } = playground;
  const forge = playground.forge && forgeFacts(playground.forge);
  return JSON.stringify({ kubeconfig, git, forge, http, logs, pid });
}

function forgeFacts({ kind, url, page, user, password }: PlaygroundForge) {
  return { kind, url, page, user, password };
}

/** What is running, where, and three things to try, for people. */
export function describeForPeople(playground: Playground): string {
  const { kubeconfig, git, forge, charts, http, logs } = playground;
  const facts: [string, string][] = [
    ['Cluster', playground.cluster],
    ['kubeconfig', kubeconfig],
    ['Git', `${git.url}  (user ${git.user}, password ${git.password})`],
    ...(forge === null
      ? []
      : [['Gitea', `${forge.page}  (user ${forge.user}, password ${forge.password})`] satisfies [string, string]]),
    ['Charts', `${charts.repository} and ${charts.registry}  (helm search repo, helm pull --plain-http)`],
    ['Agent', playground.hasAgent ? 'follows the branch main of that repository' : 'not running'],
    ...(http === null ? [] : [['HTTP', `${http}  (/healthz, /metrics, /hooks)`] satisfies [string, string]]),
    ['Logs', logs],
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    'The playground is running.',
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    '',
    'Three things to try, in another terminal:',
    ...threeThings(playground).flatMap(([what, command], index) => ['', `  ${index + 1}. ${what}`, `     ${command}`]),
    '',
    playground.ownsCluster
      ? 'Ctrl-C ends all of it and removes its files.'
      : 'Ctrl-C ends what serves the repository, and the agent. Our kinds, the Sync and what it installed stay in the cluster.',
    '',
  ].join('\n');
}

function threeThings({ kubeconfig, git, hasAgent }: Playground): [string, string][] {
  const clone = git.url.replace('://', `://${git.user}:${git.password}@`);
  const change = `git clone ${clone} && cd platform   # edit, commit, git push`;
  const environment = `export KUBECONFIG=${kubeconfig}`;
  if (!hasAgent) {
    return [
      ['Look at the cluster:', `${environment}; kubectl get nodes,syncs -A`],
      ['Change the repository:', change],
      ['Run the agent yourself:', `${environment}; bin/espalier agent`],
    ];
  }
  return [
    ['See what the repository declares and how it is:', `${environment}; bin/espalier tree -A`],
    ['Change something and watch it arrive:', change],
    ['Break something and see it come back:', `${environment}; kubectl delete deployment --all -A`],
  ];
}
