import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Enough to read a page by. */
const STYLE = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 0 auto; padding: 0 1rem; color: #222; }
a { color: #06c; } svg { max-width: 16px; max-height: 16px; } img { max-width: 48px; max-height: 48px; }
pre, code { font: 13px/1.4 ui-monospace, monospace; background: #f4f4f4; } pre { padding: .6rem; overflow: auto; }
table { border-collapse: collapse; } th, td { padding: .2rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #eee; }
details { margin: .4rem 0; } summary { cursor: pointer; }
.comment { border: 1px solid #ddd; border-radius: 6px; padding: .4rem 1rem; margin: .6rem 0; }
.tw-hidden, .hidden, .modal, .only-mobile, .menu.transition { display: none; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #6af; } pre, code { background: #222; } }
`;

const FILES: Readonly<Record<string, string>> = {
  'js/iife.js': '',
  'js/index.js': '',
  'css/index.css': STYLE,
  'css/theme-gitea-auto.css': '',
};

/**
 * A Gitea that was built from its module has no scripts and styles, and each of its pages would complain about that in
 * a dialog. Empty scripts and a small style sheet stand in: pages can be read and forms sent, but for what needs scripts.
 */
export async function lendLooks(root: string, statics: string): Promise<void> {
  const hasOwn = await access(join(statics, 'public', 'assets', 'js')).then(
    () => true,
    () => false,
  );
  if (hasOwn) return;
  for (const [name, text] of Object.entries(FILES)) {
    const file = join(root, 'custom', 'public', 'assets', name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}
