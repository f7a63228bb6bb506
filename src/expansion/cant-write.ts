import { EspalierError } from '../api/index.ts';

const WHYS: Readonly<Record<string, string>> = {
  ENOSPC: 'its disk is full; make room, and run it again',
  EDQUOT: 'its disk is full for you; make room, and run it again',
  EACCES: 'that is not allowed to you; name another place, or run it as who may',
  EPERM: 'that is not allowed to you; name another place, or run it as who may',
  EROFS: 'its disk is only for reading; name another place',
  ENOENT: 'its folder does not exist; make it, or name another place',
  ENOTDIR: 'a folder on its way is a file; move that away, or name another place',
  EEXIST: 'a folder on its way is a file; move that away, or name another place',
  EISDIR: 'it is a folder; name a file',
};

/** What the system says when a file can't be written, with the file and the cure; any other error is thrown as it is. */
export function cantWrite(file: string, error: unknown): never {
  const why = error instanceof Error && 'code' in error ? WHYS[String(error.code)] : undefined;
  if (why === undefined) throw error;
  throw new EspalierError('CommandRefused', `${file} can't be written: ${why}`, { retry: false, cause: error });
}
