import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, visit } from 'yaml';

/**
 * What each alias stands for: the last anchor of its name before it. Found for all at once, because the library looks
 * through the whole document for each.
 */
export function aliasTargets(document: Document.Parsed): ReadonlyMap<Alias, Node> {
  const targets = new Map<Alias, Node>();
  const anchors = new Map<string, Node>();
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
      } else if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) {
        anchors.set(node.anchor, node);
      }
    },
  });
  return targets;
}
