import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/**
 * Reads `+ <group>` and `- <group>` from its input. The kernel closes that pipe when our process ends in any way,
 * SIGKILL included: then every group still listed is told to end, and killed after two seconds.
 */
const WATCHER = `
groups=' '
while read -r change group; do
  case $change in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%% $group *} \${groups#* $group }" ;; esac ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  alive=
  for group in $groups; do kill -s 0 -- "-$group" 2>/dev/null && alive=yes; done
  [ "$alive" ] || exit 0
  sleep 0.1
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

const guarded = new Set<number>();
let watcher: ChildProcess | undefined;

/**
 * Promises that a process group ends when this process does, even by SIGKILL. One small watcher serves all groups of
 * a process. Call the answer once the group is gone: its number may then belong to somebody else.
 */
export function guardGroup(group: number): () => void {
  guarded.add(group);
  tell(`+ ${group}\n`);
  return () => {
    if (guarded.delete(group)) tell(`- ${group}\n`);
  };
}

/** Starts the watcher before there is a group to watch, so that a new group is never without it for long. */
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
    for (const group of guarded) tell(`+ ${group}\n`);
  });
  child.unref();
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}
