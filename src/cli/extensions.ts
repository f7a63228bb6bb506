import { Command, Option } from 'commander';
import { addName } from './collect.ts';
import { withCluster, withColor, withOutput } from './options.ts';

const CLASSES = ['default', 'accessible', 'custom', 'system'];

const ABOUT = `
Without --repository they are about the cluster of the context. With it they are about what a repository declares: a folder
or the URL that a Sync follows, whose values, login and forge then count.

Examples:
  espalier extensions list
  espalier extensions show cert-manager
  espalier extensions install cert-manager -n team --set replicas=2 --dry-run
  espalier extensions install cert-manager --repository https://git.example.com/platform.git --pull-request
  espalier extensions upgrade cert-manager --version '~1.19' --repository .
  espalier extensions uninstall cert-manager --wait`;

/** `espalier extensions`: what can be installed, and installing it. */
export function extensionsCommand(): Command {
  const command = new Command('extensions').description('list, install, upgrade and uninstall extensions');
  command.addHelpText('after', ABOUT);
  for (const one of [listCommand(), showCommand(), installCommand(), upgradeCommand(), uninstallCommand()])
    command.addCommand(one);
  return command;
}

function listCommand(): Command {
  const command = looking(new Command('list').description('what can be installed, what fits, and where it is'))
    .addOption(new Option('--class <class>', 'only those of a class').choices(CLASSES))
    .option('--category <name>', 'only those of a category');
  return withOutput(command, ['table', 'wide', 'json', 'yaml', 'name']).action(async (flags) =>
    (await import('./extensions-list.ts')).listExtensions(flags),
  );
}

function showCommand(): Command {
  const command = looking(new Command('show').description('one extension: its versions, parameters and instances'));
  return withOutput(command.argument('<extension>', 'name of the extension'), ['text', 'json', 'yaml']).action(
    async (name, flags) => (await import('./extensions-show.ts')).showExtension(name, flags),
  );
}

function installCommand(): Command {
  const command = changing(new Command('install').description('install an extension: in Git, or in the cluster'))
    .argument('<extension>', 'name of the extension')
    .option('--name <name>', 'name of the instance (default: that of the extension)')
    .option('--version <version>', 'auto, a range such as "~1.18", or one version', 'auto')
    .option('--set <parameter=value>', 'a parameter, such as storage.size=10Gi; may be repeated', addName)
    .option('--values <file>', 'parameters from a YAML file; --set counts more')
    .option('--approval <how>', 'required: new versions wait for a person');
  return command.action(async (name, flags) => (await import('./extensions-install.ts')).installExtension(name, flags));
}

function upgradeCommand(): Command {
  const command = changing(new Command('upgrade').description('let an instance move to another version'))
    .argument('<instance>', 'name of the instance')
    .option('--version <version>', 'ask for auto, a range, or one version')
    .option('--approve <version>', 'consent to a version that waits for it (default: the one that does)');
  return command.action(async (name, flags) => (await import('./extensions-upgrade.ts')).upgradeInstance(name, flags));
}

function uninstallCommand(): Command {
  const command = changing(new Command('uninstall').description('remove an instance, unless others need it')).argument(
    '<instance>',
    'name of the instance',
  );
  return command.action(async (name, flags) =>
    (await import('./extensions-uninstall.ts')).uninstallInstance(name, flags),
  );
}

function looking(command: Command): Command {
  return withCluster(command)
    .option('-n, --namespace <name>', 'namespace (default: that of the context)')
    .option('--repository <source>', 'a folder or Git URL that declares the extensions (default: the cluster)')
    .option('--ref <ref>', 'branch, tag or commit of the URL (default: what its Sync follows)')
    .option('--path <path>', 'folder in it that holds the declarations (default: that of its Sync)')
    .option('--sync <name>', 'the Sync that follows the repository, also <namespace>/<name>')
    .option('--kubernetes <version>', 'fit this Kubernetes version, not that of the cluster');
}

function changing(command: Command): Command {
  return withColor(looking(command))
    .option('--branch <name>', 'commit to this branch, made where it is missing')
    .option('--pull-request', 'propose the commit instead of making it on the branch that is followed')
    .option('--message <text>', 'message of the commit, and title of the pull request')
    .option('--author <name>', 'author of the commit: "Ada <ada@example.com>" (default: who git says you are)')
    .option('--dry-run', 'write nothing, and show the plan')
    .option('--wait', 'wait until the agent is done with it')
    .option('--timeout <duration>', 'how long to wait', '5m');
}
