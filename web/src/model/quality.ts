// QoS graphs as lists of points: what dragging, keys and exact entry do to them, and what they are worth where.

import type { Point } from "./form";

export type GraphKind = "delay" | "loss" | "value";

export interface Limits {
  least: number;
  most: number;
  /** Utility may only fall along the graph, only rise, or both. */
  slope: "falls" | "rises" | "any";
}

export const LIMITS: Record<GraphKind, Limits> = {
  delay: { least: 0, most: Number.MAX_VALUE, slope: "falls" },
  loss: { least: 0, most: 1, slope: "rises" },
  value: { least: -Number.MAX_VALUE, most: Number.MAX_VALUE, slope: "any" },
};

export const FIRST: Record<GraphKind, Point[]> = {
  delay: [
    [0, 1],
    [2, 1],
    [10, 0],
  ],
  loss: [
    [0, 0],
    [1, 1],
  ],
  value: [
    [0, 0],
    [100, 1],
  ],
};

/** The graph with a point somewhere else: between its neighbours, and as the slope allows. */
export function movedPoint(points: Point[], index: number, to: Point, kind: GraphKind): Point[] {
  const before = points[index - 1];
  const after = points[index + 1];
  const { least, most, slope } = LIMITS[kind];
  const x = clamp(to[0], before ? before[0] : least, after ? after[0] : most);
  const above = slope === "falls" ? (before?.[1] ?? 1) : slope === "rises" ? (after?.[1] ?? 1) : 1;
  const below = slope === "falls" ? (after?.[1] ?? 0) : slope === "rises" ? (before?.[1] ?? 0) : 0;
  const moved: Point = [tidyNumber(x), tidyNumber(clamp(to[1], below, above))];
  return points.map((point, each) => (each === index ? moved : point));
}

/** The graph with one more point on its line, and the index of that. */
export function insertedPoint(points: Point[], x: number, kind: GraphKind): [Point[], number] {
  const at = clamp(x, LIMITS[kind].least, LIMITS[kind].most);
  const index = points.findIndex((point) => point[0] > at);
  const place = index < 0 ? points.length : index;
  const point: Point = [tidyNumber(at), tidyNumber(utilityAt(points, at))];
  return [[...points.slice(0, place), point, ...points.slice(place)], place];
}

/** The graph without a point; a graph keeps its last one. */
export function removedPoint(points: Point[], index: number): Point[] {
  return points.length > 1 ? points.filter((_, each) => each !== index) : points;
}

/** The utility at a position: straight between points, level outside them. */
export function utilityAt(points: Point[], x: number): number {
  const first = points[0];
  if (!first) return 1;
  if (x <= first[0]) return first[1];
  for (let index = 1; index < points.length; index += 1) {
    const [right, high] = points[index]!;
    const [left, low] = points[index - 1]!;
    if (x <= right) return right === left ? high : low + ((high - low) * (x - left)) / (right - left);
  }
  return points.at(-1)![1];
}

/** Steps of 1, 2 or 5 by a power of ten, about `count` of them in a range. */
export function niceStep(range: number, count = 5): number {
  const raw = Math.max(range, 1e-12) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const factor = raw / power;
  return (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10) * power;
}

export function snappedTo(value: number, step: number): number {
  return tidyNumber(Math.round(value / step) * step);
}

/** Without the digits that sums of fractions leave. */
export function tidyNumber(value: number): number {
  return Number(value.toPrecision(10));
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
