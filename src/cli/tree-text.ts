import { describeRef } from '../api/objects.ts';
import { plain } from '../plan/plain.ts';
import type { Colour, Paint } from './paint.ts';
import type { TreeNode, TreeState } from './tree-node.ts';

const MARKS: Readonly<Record<TreeState, { mark: string; colour: Colour }>> = {
  healthy: { mark: '✓', colour: 'green' },
  progressing: { mark: '◌', colour: 'yellow' },
  waiting: { mark: '…', colour: 'yellow' },
  failed: { mark: '✗', colour: 'red' },
  held: { mark: '!', colour: 'cyan' },
  suspended: { mark: '‖', colour: 'cyan' },
  terminating: { mark: '-', colour: 'yellow' },
  missing: { mark: '✗', colour: 'red' },
  unknown: { mark: '?', colour: 'yellow' },
};

/** The tree as lines, with a mark for how each thing is. */
export function treeLines(roots: readonly TreeNode[], paint: Paint): string[] {
  return roots.flatMap((root) => [lineOf(root, undefined, paint), ...below(root, '', paint)]);
}

function below(parent: TreeNode, indent: string, paint: Paint): string[] {
  return parent.children.flatMap((child, index) => {
    const isLast = index === parent.children.length - 1;
    const line = `${paint('dim', `${indent}${isLast ? '└─' : '├─'}`)} ${lineOf(child, parent, paint)}`;
    const inside = `${indent}${isLast ? '   ' : '│  '}`;
    const logs = (child.logs ?? []).map((text) => paint('dim', `${inside}  | ${text}`));
    return [line, ...logs, ...below(child, inside, paint)];
  });
}

function lineOf(node: TreeNode, parent: TreeNode | undefined, paint: Paint): string {
  const { mark, colour } = MARKS[node.state];
  const { kind, name, namespace } = node;
  // Where it is in the same namespace as what it hangs on, that needn't be said again.
  const ref = namespace === undefined || namespace === parent?.namespace ? { kind, name } : { kind, name, namespace };
  const title = plain(describeRef(ref));
  const drift = node.drift === undefined ? '' : `drifted: ${node.drift.join(', ')}`;
  const note = [node.message, drift].filter((part) => part !== '').join('; ');
  const parts = [
    parent === undefined ? paint('bold', title) : title,
    ...(node.revision === undefined ? [] : [paint('dim', node.revision)]),
    ...(node.class === undefined ? [] : [paint('cyan', `[${node.class}]`)]),
    ...(note === '' ? [] : [paint(node.state === 'failed' || node.state === 'missing' ? 'red' : 'dim', note)]),
  ];
  return `${paint(colour, mark)} ${parts.join('  ')}`;
}
