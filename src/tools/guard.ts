import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { isAbsolute } from 'node:path';

/**
 * Reads `+ <group or folder>` and `- <group or folder>` from its input. The kernel closes that pipe when our process ends
 * in any way, SIGKILL included: then every group still listed is told to end, and killed after two seconds; what they
 * wrote into is removed last.
 */
const WATCHER = `
groups=' '
while read -r change what; do
  case $change$what in
    +/*) set -- "$@" "$what" ;;
    -/*) for folder do shift; [ "$folder" = "$what" ] || set -- "$@" "$folder"; done ;;
    +*) groups="$groups$what " ;;
    -*) case $groups in *" $what "*) groups="\${groups%% $what *} \${groups#* $what }" ;; esac ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  alive=
  for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && alive=yes; done
  [ "$alive" ] || break
  sleep 0.1
done
[ "$alive" ] && for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
[ $# = 0 ] || rm -rf -- "$@"
`;

const guarded = new Set<string>();
let watcher: ChildProcess | undefined;

/**
 * Promises that a process group ends when this process does, even by SIGKILL. One small watcher serves all groups of
 * a process. Call the answer once the group is gone: its number may then belong to somebody else.
 */
export function guardGroup(group: number): () => void {
  return guard(String(group));
}

/** Promises that a folder goes with this process in the same way, when all groups have ended. Call the answer once it is gone. */
export function guardFolder(path: string): () => void {
  // The watcher reads lines, without spaces at their end: what it would misread is another folder.
  if (!isAbsolute(path) || /\n|\s$/.test(path)) return () => undefined;
  return guard(path);
}

function guard(what: string): () => void {
  guarded.add(what);
  tell(`+ ${what}\n`);
  return () => {
    if (guarded.delete(what)) tell(`- ${what}\n`);
  };
}

/** Starts the watcher before there is anything to watch, so that nothing new is without it for long. */
export function prepareGuard(): void {
  watcher ??= startWatcher();
}

function tell(line: string): void {
  prepareGuard();
  watcher?.stdin?.write(line);
}

function startWatcher(): ChildProcess {
  const child = spawn('/bin/sh', ['-c', WATCHER, 'espalier-guard'], {
    detached: true,
    env: { PATH: '/usr/bin:/bin' },
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {});
  child.stdin.on('error', () => {});
  child.on('exit', () => {
    if (watcher !== child) return;
    watcher = undefined;
    for (const what of guarded) tell(`+ ${what}\n`);
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}
