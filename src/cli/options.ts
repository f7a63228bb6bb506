import { type Command, Option } from 'commander';

export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
}

export interface ScopeOptions {
  namespace?: string;
  allNamespaces?: boolean;
}

export interface OutputOptions {
  output?: 'json' | 'yaml' | 'wide' | 'name' | 'markdown';
  color: boolean;
}

export function withCluster(command: Command): Command {
  return command
    .option('--kubeconfig <path>', 'kubeconfig file (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig to use');
}

export function withScope(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('-A, --all-namespaces', 'every namespace');
}

export function withOutput(command: Command, formats: readonly string[]): Command {
  return withColor(command.addOption(new Option('-o, --output <format>', 'output format').choices(formats)));
}

/** What every command has. */
export function withColor(command: Command): Command {
  return command
    .option('--no-color', 'plain text (also: NO_COLOR, or no terminal)')
    .option('--verbose', 'show the whole error when something fails');
}

/** Colour only where a person reads it. */
export function wantsColor(options: { color?: boolean }): boolean {
  return options.color !== false && (process.env.NO_COLOR ?? '') === '' && process.stdout.isTTY === true;
}
