import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { EspalierError } from '../api/errors.ts';

const LARGEST_PROGRAM = 1024 * 1024 * 1024;

/** Writes one file of a tar archive, and nothing else of it. A link under that name is refused. */
export async function extractMember(archive: string, member: string, destination: string): Promise<void> {
  const { list } = await import('tar');
  let written: Promise<void> | undefined;
  await list({
    file: archive,
    strict: true,
    filter: (path) => path.replace(/^\.\//, '') === member,
    onReadEntry: (entry) => {
      const usable = written === undefined && entry.type === 'File' && entry.size <= LARGEST_PROGRAM;
      if (!usable) {
        entry.resume();
        return;
      }
      written = pipeline(entry, createWriteStream(destination, { flags: 'wx', mode: 0o700 }));
      written.catch(() => {}); // told below, once the rest of the archive is read
    },
  });
  if (written === undefined) throw new EspalierError('ToolMissing', `${archive} holds no file ${member}`);
  await written;
}
