import type { Command } from 'commander';
import { EspalierError } from '../api/errors.ts';
import type { TarMember } from '../charts/tar-read.ts';
import { addName } from './collect.ts';
import type { WireFlags } from './mirror-tools.ts';

/** How a package in a registry is reached: the same for every command that reads one. */
export function withRegistry(command: Command): Command {
  return command
    .option('--ca-file <path>', 'certificates to trust besides the usual ones, in PEM')
    .option('--insecure-registry <host[:port]>', 'a registry that speaks plain http; repeatable', addName);
}

export const PACKAGE_ARGUMENT = 'a folder, a .tgz, or oci://registry/path:version';

export function isInRegistry(location: string): boolean {
  return /^oci:/i.test(location);
}

/** Opens a package wherever it is. `members` begins anew each time that it is called. */
export async function withMembers<T>(
  location: string,
  flags: WireFlags,
  use: (members: () => AsyncIterable<TarMember>) => Promise<T>,
): Promise<T> {
  if (!isInRegistry(location)) {
    const { membersOf } = await import('../expansion/members.ts');
    return await use(() => membersOf(location));
  }
  const [{ ociMembers, parsePackageUrl }, { wireFor }, { openRegistry }] = await Promise.all([
    import('../expansion/oci-package.ts'),
    import('./mirror-tools.ts'),
    import('../registry/registry.ts'),
  ]);
  const { place, reference } = parsePackageUrl(location) ?? {};
  if (place === undefined || reference === undefined)
    throw new EspalierError(
      'InvalidConfiguration',
      `${location} names no package of a registry: write oci://registry.example.com/path:version`,
      { retry: false },
    );
  const registry = openRegistry(await wireFor(flags));
  try {
    return await use(() => ociMembers({ place, reference }, registry));
  } finally {
    await registry.close();
  }
}
