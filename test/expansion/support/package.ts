import { join } from 'node:path';
import { runProgram } from '../../../src/tools/run.ts';
import { toolPath } from '../../../src/tools/tool.ts';
import { chartTgz, tgz } from '../../charts/support/archives.ts';
import { writeFiles } from '../../mirror/support/platform.ts';
import { dockerMembers } from './image-archives.ts';

/** A package with a chart, two images that share a layer, a file that is empty, and a hook. */
export async function demoPackage(folder: string, more: Record<string, string | Uint8Array> = {}): Promise<string> {
  return await writeFiles(join(folder, 'demo'), {
    'expansion.yaml': [
      'expansion_name: demo',
      'expansion_version: v1.0',
      'values: {mirror: harbor.local}',
      'charts: [demo-0.1.0.tgz]',
      'images: ["demo/alpine:3.10", "quay.io/team/db:2"]',
      'files: [etc/empty.conf]',
      'hooks: [post-install.tmpl]',
    ].join('\n'),
    'charts/demo-0.1.0.tgz': chartTgz('demo', '0.1.0'),
    'images.tar.gz': tgz(dockerMembers(['demo/alpine:3.10', 'same'], ['quay.io/team/db:2', 'same'])),
    'files/etc/empty.conf': '',
    'hooks/post-install.tmpl': '#!/bin/sh\necho {{ .mirror }}\n',
    ...more,
  });
}

export async function crane(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(await toolPath('crane'), { args, timeoutMs: 60_000 });
  if (code !== 0) throw new Error(`crane ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout;
}
