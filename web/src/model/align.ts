// Align and distribute what is selected.

import type { Position } from "./document";
import type { ItemId } from "./items";

export type Alignment = "left" | "right" | "top" | "bottom" | "across" | "down";

export interface Placed extends Position {
  id: ItemId;
  width: number;
  height: number;
}

export const GRID = 8;

export function snapped({ x, y }: Position): Position {
  return { x: Math.round(x / GRID) * GRID, y: Math.round(y / GRID) * GRID };
}

/** Where items go; "across" and "down" spread them evenly between the outermost two. */
export function aligned(items: Placed[], how: Alignment): Record<ItemId, Position> {
  if (items.length < 2) return {};
  switch (how) {
    case "left": {
      const x = Math.min(...items.map((item) => item.x));
      return positions(items, (item) => ({ x, y: item.y }));
    }
    case "right": {
      const x = Math.max(...items.map((item) => item.x + item.width));
      return positions(items, (item) => ({ x: x - item.width, y: item.y }));
    }
    case "top": {
      const y = Math.min(...items.map((item) => item.y));
      return positions(items, (item) => ({ x: item.x, y }));
    }
    case "bottom": {
      const y = Math.max(...items.map((item) => item.y + item.height));
      return positions(items, (item) => ({ x: item.x, y: y - item.height }));
    }
    case "across":
      return spread(items, "x", "width");
    case "down":
      return spread(items, "y", "height");
  }
}

function positions(items: Placed[], place: (item: Placed) => Position): Record<ItemId, Position> {
  return Object.fromEntries(items.map((item) => [item.id, place(item)]));
}

function spread(items: Placed[], axis: "x" | "y", size: "width" | "height"): Record<ItemId, Position> {
  const sorted = [...items].sort((one, other) => one[axis] - other[axis]);
  const first = sorted[0]!;
  const last = sorted.at(-1)!;
  const taken = sorted.reduce((sum, item) => sum + item[size], 0);
  const gap = (last[axis] + last[size] - first[axis] - taken) / (sorted.length - 1);
  let next = first[axis];
  return positions(sorted, (item) => {
    const at = Math.round(next);
    next += item[size] + gap;
    return { x: item.x, y: item.y, [axis]: at } as Position;
  });
}
