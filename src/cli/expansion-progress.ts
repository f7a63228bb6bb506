import type { TarMember } from '../charts/tar-read.ts';
import type { Push } from '../expansion/push.ts';
import { showProgress } from '../tools/show-progress.ts';

/** The same members, as long as nobody interrupts. */
export async function* watched(
  members: AsyncIterable<TarMember>,
  signal: AbortSignal,
  onBytes: (count: number) => void,
): AsyncGenerator<TarMember> {
  for await (const member of members)
    yield {
      ...member,
      async *content() {
        for await (const part of member.content()) {
          signal.throwIfAborted();
          onBytes(part.length);
          yield part;
        }
      },
    };
}

/** A bar on a terminal, and elsewhere a line every few seconds. */
export async function withProgress<T>(
  subject: string,
  step: 'checking' | 'sending',
  run: (onTotal: Push['onTotal'], onBytes: Push['onBytes']) => Promise<T>,
): Promise<T> {
  const show = showProgress(process.stderr);
  let done = 0;
  let total: number | undefined;
  const tellHow = (): void => show({ subject, step, done, total, unit: 'bytes' });
  const onTotal = (bytes: number): void => {
    total = bytes;
    tellHow();
  };
  const onBytes = (bytes: number): void => {
    done += bytes;
    tellHow();
  };
  try {
    const result = await run(onTotal, onBytes);
    show({ subject, step: 'done', done, total, unit: 'bytes' });
    return result;
  } catch (error) {
    show({ subject, step: 'failed' });
    throw error;
  }
}
