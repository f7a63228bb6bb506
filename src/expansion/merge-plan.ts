import type { Expansion } from './format.ts';
import type { Wanted } from './merge.ts';

/** A file of the package that goes into the installer's data folder, both paths from the top. */
export interface Placement {
  from: string;
  to: string;
  isTemplate: boolean;
  isExecutable: boolean;
}

const TEMPLATE = /\.tmpl$/;

/** Every material that is placed: `files/`, `hooks/` and `provider/` of the package, by the same names. */
export function placementsOf(expansion: Expansion): Placement[] {
  return (['files', 'hooks', 'provider'] as const).flatMap((folder) =>
    expansion[folder].map((name) => ({
      from: `${folder}/${name}`,
      to: `${folder}/${name.replace(TEMPLATE, '')}`,
      isTemplate: TEMPLATE.test(name),
      isExecutable: folder === 'hooks',
    })),
  );
}

/** What the installer's file is to say: a file for the nodes comes out of the data folder, and goes to its path from the root. */
export function wantedOf(expansion: Expansion, dataDir: string): Wanted {
  const files = expansion.files.map((name) => name.replace(TEMPLATE, ''));
  return {
    skipSteps: expansion.installer_skip_steps,
    skipConditions: expansion.create_cluster_skip_conditions,
    delegateConditions: expansion.create_cluster_delegate_conditions,
    files: files.map((name) => ({ src: `${dataDir.replace(/\/$/, '')}/files/${name}`, dst: `/${name}` })),
  };
}

/** Where the file that a package overrides is kept. Beside the original a hook's backup could be taken for a hook. */
export function backupOf({ expansion_name = 'expansion', expansion_version }: Expansion, to: string): string {
  const name = expansion_version === undefined ? expansion_name : `${expansion_name}-${expansion_version}`;
  return `backup/${name}/${to}`;
}
