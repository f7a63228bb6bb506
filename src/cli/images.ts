import { Command } from 'commander';
import { listCommand } from './images-list.ts';
import { mirrorCommand } from './images-mirror.ts';

/** `espalier images list | mirror`. Data goes to stdout, progress to stderr. */
export function imagesCommand(): Command {
  return new Command('images')
    .description('list the images of every Plugin, and copy them to a registry or across an air gap')
    .addCommand(listCommand())
    .addCommand(mirrorCommand());
}
