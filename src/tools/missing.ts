import { EspalierError } from '../api/errors.ts';
import { variableFor } from './find.ts';
import type { Platform } from './platform.ts';
import { type Release, releaseOf } from './releases.ts';
import type { Tool } from './table.ts';

/** Why each way to a program led nowhere. */
export interface Attempts {
  passedOver: string[];
  download: { why: string; forged?: boolean };
  build: { why: string; requiredGo: string | undefined; failed?: boolean };
}

/** What is missing, why, and what to do: any one of the ways is enough. */
export function missingTool(tool: Tool, version: string, platform: Platform, attempts: Attempts): EspalierError {
  const { passedOver, download, build } = attempts;
  const release = releaseOf(tool, platform, version);
  const hosts = new Set(release === undefined ? [] : [release.url, proofUrl(release)].map((url) => new URL(url).host));
  const message = [
    `${tool.name} ${version} is missing, and there is no way to get it:`,
    ...passedOver.map((what) => `  - on the PATH: ${what}, which is not ${version}`),
    `  - download: ${download.why}`,
    `  - build: ${build.why}`,
    'Any one of these helps:',
    `  - install ${tool.name} ${version} on the PATH, or name it: ${variableFor(tool.name)}=/path/to/${tool.name}`,
    ...(hosts.size === 0 ? [] : [`  - allow https to ${[...hosts].join(' and ')}, or set HTTPS_PROXY`]),
    ...(build.requiredGo === undefined
      ? []
      : [
          `  - install Go ${build.requiredGo} or newer (https://go.dev/dl), with access to a Go module proxy (GOPROXY)`,
        ]),
  ].join('\n');
  const code =
    download.forged === true ? 'ToolChecksumMismatch' : build.failed === true ? 'ToolBuildFailed' : 'ToolMissing';
  return new EspalierError(code, message, { data: { tool: tool.name, version }, retry: build.failed === true });
}

function proofUrl({ url, proof }: Release): string {
  return proof.kind === 'pinned' ? url : proof.url;
}
