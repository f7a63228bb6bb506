import { Command } from 'commander';
import { expansionMergeCommand } from './expansion-merge.ts';

/** `espalier expansion …`: packages for an installer. */
export function expansionCommand(): Command {
  return new Command('expansion')
    .description("join an expansion package into an installer's files")
    .addCommand(expansionMergeCommand());
}
