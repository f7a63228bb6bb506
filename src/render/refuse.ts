import { EspalierError } from '../api/index.ts';

/** The repository asks for something that is never done, or not in this way. Trying again can't help. */
export function refused(file: string, why: string): EspalierError {
  return new EspalierError('RenderRefused', `${file === '' ? 'The repository' : file} ${why}`, {
    data: { file },
    retry: false,
  });
}
