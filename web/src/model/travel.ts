// The way of a train over a level: through which of its arcs it goes, one after the other.

import { isInside } from "./items";
import { parseRef } from "./refs";
import type { View, ViewNode } from "./view";

/** A train that ran: its boxes, and the streams that it read and wrote. */
export interface Journey {
  boxes: string[];
  reads: string[];
  writes: string[];
}

/** The arcs that a train goes along, each with how many it has passed before. */
export function hopsOf(view: View, { boxes, reads, writes }: Journey): Map<string, number> {
  const [own, read, written] = [new Set(boxes), new Set(reads), new Set(writes)];
  const takes = (node: ViewNode | undefined) =>
    node?.kind === "box"
      ? own.has(node.key)
      : node?.kind === "group" && boxes.some((box) => isInside(box, node.key));
  const nodes = new Map(view.nodes.map((node) => [node.id, node]));
  const way = view.edges.filter(
    ({ ref, to }) =>
      (takes(nodes.get(to)) && (read.has(ref) || own.has(parseRef(ref).id))) ||
      (written.has(ref) && own.has(parseRef(ref).id)),
  );
  const hops = new Map(way.map((edge) => [edge.id, 0]));
  // A network has no loops, so each round fixes at least one more arc.
  for (let isMoved = true; isMoved; ) {
    isMoved = false;
    for (const edge of way) {
      const before = way.filter((each) => each.to === edge.from && takes(nodes.get(edge.from)));
      const hop = Math.max(0, ...before.map((each) => hops.get(each.id)! + 1));
      if (hop > hops.get(edge.id)! && hop <= way.length) {
        hops.set(edge.id, hop);
        isMoved = true;
      }
    }
  }
  return hops;
}
