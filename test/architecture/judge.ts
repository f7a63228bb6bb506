import { posix } from 'node:path';
import { ENTRY, IMPURE, PACKAGES, PURE_BUILTINS, ROOMS, type Room, TEST_PACKAGES } from './rooms.ts';
import { type Import, type Scanned, scan } from './scan.ts';

export interface SourceFile {
  /** From the root of the checkout: `src/plan/diff.ts`. */
  path: string;
  source: string;
}

const BARREL = 'src/api/index.ts';

/** Every way in which a file of `src` breaks the rules of the rooms, as `file:line: what and what to do`. */
export function judge({ path, source }: SourceFile): string[] {
  const room = roomOf(path);
  const rules = ruleOf(room);
  if (rules === undefined) return [`${path}: src/${room} is not in the table of rooms; add it with what it may use`];
  const scanned = scan(source);
  const isTest = /\.(test|fixture)\.ts$/.test(path);
  return [
    ...scanned.imports.flatMap((found) => place(path, found.line, judgeImport(path, room, rules, isTest, found))),
    ...scanned.computed.flatMap((line) => place(path, line, 'imports a computed name, which nothing can check')),
    ...(path === BARREL ? [] : judgeBarrel(path, scanned)),
    ...(rules.pure && !isTest ? judgePurity(path, room, scanned) : []),
  ];
}

function judgeImport(path: string, room: string, rules: Room, isTest: boolean, found: Import): string | undefined {
  const { specifier } = found;
  if (specifier.startsWith('.')) return judgeFile(path, room, rules, isTest, specifier);
  if (specifier.startsWith('node:')) {
    if (!rules.pure || isTest || PURE_BUILTINS.includes(specifier)) return undefined;
    return `imports ${specifier}, but ${room} is pure`;
  }
  const name = packageOf(specifier);
  const owners = PACKAGES[name] ?? [];
  if (owners.includes(room) || (isTest && TEST_PACKAGES.includes(name))) return undefined;
  const owned = owners.length === 0 ? 'no room owns' : `belongs to ${owners.join(', ')}`;
  return `imports ${name}, which ${owned}`;
}

function judgeFile(path: string, room: string, rules: Room, isTest: boolean, specifier: string): string | undefined {
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  if (!target.startsWith('src/')) {
    const allowed = isTest ? target.startsWith('test/') : target === 'package.json';
    return allowed ? undefined : `imports ${target}, outside src`;
  }
  const other = roomOf(target);
  if (other === ENTRY) return `imports ${target}, an entry, which nobody may use`;
  if (other === room || other === 'api' || rules.uses.includes(other)) return undefined;
  return `imports ${target}, but ${room} may use ${['api', ...rules.uses].join(', ')} only`;
}

function judgeBarrel(path: string, { imports }: Scanned): string[] {
  const barrel = `re-exports another file; only ${BARREL} does`;
  if (posix.basename(path) === 'index.ts') return [`${path}:1: is named like a barrel; only ${BARREL} is one`];
  return imports.flatMap(({ form, typeOnly, line }) =>
    form === 'export' && !typeOnly ? place(path, line, barrel) : [],
  );
}

function judgePurity(path: string, room: string, { code }: Scanned): string[] {
  return code
    .split('\n')
    .flatMap((text, index) =>
      IMPURE.flatMap(({ word, what }) =>
        word.test(text) ? place(path, index + 1, `${what}, but ${room} is pure`) : [],
      ),
    );
}

function place(path: string, line: number, fault: string | undefined): string[] {
  return fault === undefined ? [] : [`${path}:${line}: ${fault}`];
}

function roomOf(path: string): string {
  const [, first = '', ...below] = path.split('/');
  return below.length === 0 ? ENTRY : first;
}

function ruleOf(room: string): Room | undefined {
  if (room === ENTRY) return { uses: Object.keys(ROOMS) };
  return Object.hasOwn(ROOMS, room) ? ROOMS[room] : undefined;
}

function packageOf(specifier: string): string {
  const [scope = '', name] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
