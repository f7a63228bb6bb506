import type { Command } from 'commander';

export interface CommandEntry {
  name: string;
  summary: string;
  load(): Promise<Command>;
}

/** Every command, one file each. The code behind one is loaded only when it is named. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'plan',
    summary: 'show what a folder, a Git ref or a pull request would change in the cluster',
    load: async () => (await import('./plan.ts')).planCommand(),
  },
  {
    name: 'diff',
    summary: 'like plan, with the exit codes of kubectl diff',
    load: async () => (await import('./plan.ts')).diffCommand(),
  },
  {
    name: 'render',
    summary: 'print the objects that a plugin renders to',
    load: async () => (await import('./render.ts')).renderCommand(),
  },
  {
    name: 'images',
    summary: 'list the images of every Plugin, and mirror them',
    load: async () => (await import('./images.ts')).imagesCommand(),
  },
  {
    name: 'expansion',
    summary: 'make, check, build, show and merge expansion packages',
    load: async () => (await import('./expansion.ts')).expansionCommand(),
  },
  {
    name: 'addon',
    summary: 'check and show manifest add-ons, and port them to Helm charts',
    load: async () => (await import('./addon.ts')).addonCommand(),
  },
  {
    name: 'charts',
    summary: 'lint, package and push the charts of a tree',
    load: async () => (await import('./charts.ts')).chartsCommand(),
  },
  {
    name: 'validate',
    summary: 'check a repository without a cluster',
    load: async () => (await import('./validate.ts')).validateCommand(),
  },
  {
    name: 'check',
    summary: 'tell what an upgrade of Kubernetes would break',
    load: async () => (await import('./check.ts')).checkCommand(),
  },
  { name: 'get', summary: 'list Syncs and Plugins', load: async () => (await import('./get.ts')).getCommand() },
  {
    name: 'tree',
    summary: 'show Sync → Plugins → objects with their health',
    load: async () => (await import('./tree.ts')).treeCommand(),
  },
  {
    name: 'reconcile',
    summary: 'make the agent look now',
    load: async () => (await import('./reconcile.ts')).reconcileCommand(),
  },
  {
    name: 'suspend',
    summary: 'stop following a Sync or Plugin',
    load: async () => (await import('./suspend.ts')).suspendCommand(),
  },
  { name: 'resume', summary: 'follow it again', load: async () => (await import('./suspend.ts')).resumeCommand() },
  {
    name: 'approve',
    summary: 'consent to removals or upgrades that are held',
    load: async () => (await import('./approve.ts')).approveCommand(),
  },
  {
    name: 'history',
    summary: 'list the revisions of a Plugin',
    load: async () => (await import('./history.ts')).historyCommand(),
  },
  {
    name: 'rollback',
    summary: 'suspend a Plugin, and take its Helm release back to a revision',
    load: async () => (await import('./rollback.ts')).rollbackCommand(),
  },
  {
    name: 'extensions',
    summary: 'list, install, upgrade and uninstall extensions',
    load: async () => (await import('./extensions.ts')).extensionsCommand(),
  },
  {
    name: 'test',
    summary: "run the tests of a Plugin's chart",
    load: async () => (await import('./test-release.ts')).testCommand(),
  },
  {
    name: 'import',
    summary: 'write a repository of Plugins out of what another tool runs',
    load: async () => (await import('./import.ts')).importCommand(),
  },
  {
    name: 'webhook',
    summary: 'have the forge tell the agent of pushes and pull requests',
    load: async () => (await import('./webhook.ts')).webhookCommand(),
  },
  { name: 'agent', summary: 'run the agent', load: async () => (await import('./agent.ts')).agentCommand() },
  { name: 'playground', summary: 'start a private control plane, a Git server and the agent', load: playground },
  {
    name: 'tools',
    summary: 'list or install the external programs',
    load: async () => (await import('./tools.ts')).toolsCommand(),
  },
];

async function playground(): Promise<Command> {
  const [{ playgroundCommand }, { startPlaygroundAgent }] = await Promise.all([
    import('./playground.ts'),
    import('./playground-agent.ts'),
  ]);
  return playgroundCommand(startPlaygroundAgent);
}
