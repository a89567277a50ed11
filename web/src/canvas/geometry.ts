// How large nodes are, and where their ports are: the same for what React draws, for the far view and for layouts.

import type { EditorDocument, NodeId, Position, View, ViewNode } from "../model";

export const WIDTH = 172;
export const ROW = 18;
export const HEIGHT = 56;
const COLUMN = 236;
const LINE = 96;

export function heightOf(node: Pick<ViewNode, "inputs" | "outputs">): number {
  return Math.max(HEIGHT, 20 + ROW * Math.max(node.inputs, node.outputs.length));
}

export function widthOf(node: Pick<ViewNode, "kind">): number {
  return node.kind === "from" || node.kind === "to" ? 136 : WIDTH;
}

/** How far below the top of a node a port is. */
export function portY(index: number, ports: number, height: number): number {
  return ((index + 1) * height) / (ports + 1);
}

export interface Rect extends Position {
  width: number;
  height: number;
}

/** Where each node is: as the layout says, else in columns by the longest way from an input. */
export function placements(document: EditorDocument, view: View): Map<NodeId, Rect> {
  const placed = new Map<NodeId, Rect>();
  const loose: ViewNode[] = [];
  const layout = document.layout as Record<string, Position>;
  for (const node of view.nodes) {
    const spot = layout[node.id];
    if (spot) placed.set(node.id, { ...spot, width: widthOf(node), height: heightOf(node) });
    else loose.push(node);
  }
  if (loose.length === 0) return placed;
  const ends = loose.filter((node) => node.kind === "from" || node.kind === "to");
  if (placed.size > 0 && ends.length === loose.length) return besides(placed, loose);
  const depths = depthsOf(view);
  const below =
    placed.size > 0 ? Math.max(...[...placed.values()].map((rect) => rect.y + rect.height)) + 80 : 0;
  const lines = new Map<number, number>();
  for (const node of loose) {
    const depth = depths.get(node.id) ?? 0;
    const y = lines.get(depth) ?? below;
    const height = heightOf(node);
    lines.set(depth, y + Math.max(LINE, height + 40));
    placed.set(node.id, { x: depth * COLUMN, y, width: widthOf(node), height });
  }
  return placed;
}

/** What crosses the border of a group is drawn left and right of what is in it. */
function besides(placed: Map<NodeId, Rect>, loose: ViewNode[]): Map<NodeId, Rect> {
  const rects = [...placed.values()];
  const left = Math.min(...rects.map((rect) => rect.x)) - 200;
  const right = Math.max(...rects.map((rect) => rect.x + rect.width)) + 64;
  const top = Math.min(...rects.map((rect) => rect.y));
  const lines = { from: top, to: top };
  for (const node of loose) {
    const side = node.kind === "from" ? "from" : "to";
    const height = heightOf(node);
    placed.set(node.id, { x: side === "from" ? left : right, y: lines[side], width: widthOf(node), height });
    lines[side] += height + 32;
  }
  return placed;
}

function depthsOf(view: View): Map<NodeId, number> {
  const readers = new Map<NodeId, NodeId[]>();
  const open = new Map<NodeId, number>(view.nodes.map((node) => [node.id, 0]));
  for (const edge of view.edges) {
    readers.set(edge.from, [...(readers.get(edge.from) ?? []), edge.to]);
    open.set(edge.to, (open.get(edge.to) ?? 0) + 1);
  }
  const depths = new Map<NodeId, number>();
  const ready = view.nodes.filter((node) => open.get(node.id) === 0).map((node) => node.id);
  for (const id of ready) depths.set(id, 0);
  while (ready.length > 0) {
    const id = ready.shift()!;
    for (const reader of readers.get(id) ?? []) {
      depths.set(reader, Math.max(depths.get(reader) ?? 0, (depths.get(id) ?? 0) + 1));
      open.set(reader, open.get(reader)! - 1);
      if (open.get(reader) === 0) ready.push(reader);
    }
  }
  return depths;
}

export function boundsOf(rects: Iterable<Rect>): Rect {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const rect of rects) {
    left = Math.min(left, rect.x);
    top = Math.min(top, rect.y);
    right = Math.max(right, rect.x + rect.width);
    bottom = Math.max(bottom, rect.y + rect.height);
  }
  return left === Infinity
    ? { x: 0, y: 0, width: 1, height: 1 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}
