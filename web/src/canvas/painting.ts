// The simple drawing of far views, on one canvas: a rectangle for each box, a line for each arc.

import type { NodeId, View } from "../model";
import type { Sample } from "../service/types";
import { levelOf } from "./Arc";
import { portY, type Rect } from "./geometry";
import { toneOf } from "./glyphs";

export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

export interface Scene {
  view: View;
  rects: Map<NodeId, Rect>;
  kinds: Map<NodeId, string>;
  selection: ReadonlySet<string>;
  faulty: ReadonlySet<string>;
  sample: Sample | null;
}

const TITLES_FROM = 0.32;

export type Palette = Record<string, string>;

/** The colours of the theme, read once: a style per box and frame would be too slow. */
export function paletteOf(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const tones = ["route", "sort", "window", "earlier", "pair", "group", "end"].map((tone) => [
    tone,
    read(`tone-${tone}`),
  ]);
  return {
    ...Object.fromEntries(tones),
    ...Object.fromEntries(
      ["surface", "line", "text", "accent", "bad", "warm", "flow", "canvas"].map((n) => [n, read(n)]),
    ),
  };
}

export function paint(
  context: CanvasRenderingContext2D,
  size: Rect,
  camera: Camera,
  scene: Scene,
  colours: Palette,
  hasWords = true,
): void {
  const ratio = context.canvas.width / size.width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
  const left = -camera.x / camera.zoom;
  const top = -camera.y / camera.zoom;
  const right = left + size.width / camera.zoom;
  const bottom = top + size.height / camera.zoom;
  paintArcs(
    context,
    scene,
    colours,
    camera.zoom,
    (one, other) =>
      Math.max(one.x, other.x) + 200 < left ||
      Math.min(one.x, other.x) > right ||
      Math.max(one.y, other.y) + 100 < top ||
      Math.min(one.y, other.y) > bottom,
  );
  paintBoxes(
    context,
    scene,
    colours,
    camera.zoom,
    hasWords,
    (rect) => rect.x + rect.width < left || rect.x > right || rect.y + rect.height < top || rect.y > bottom,
  );
}

function paintArcs(
  context: CanvasRenderingContext2D,
  scene: Scene,
  colours: Palette,
  zoom: number,
  isOutside: (one: Rect, other: Rect) => boolean,
): void {
  // One path per colour: strokes cost more than segments.
  const paths = new Map<string, Path2D>();
  const nodes = nodesOf(scene.view);
  for (const edge of scene.view.edges) {
    const from = scene.rects.get(edge.from);
    const to = scene.rects.get(edge.to);
    if (!from || !to || isOutside(from, to)) continue;
    const level = scene.sample ? levelOf(edge.ref, scene.sample) : "calm";
    const colour =
      level === "hot"
        ? colours.bad!
        : level === "warm"
          ? colours.warm!
          : level === "flowing"
            ? colours.flow!
            : colours.line!;
    const path = paths.get(colour) ?? new Path2D();
    paths.set(colour, path);
    const x1 = from.x + from.width;
    const y1 =
      from.y + portY(edge.outputPort, Math.max(1, nodes.get(edge.from)!.outputs.length), from.height);
    const x2 = to.x;
    const y2 = to.y + portY(edge.inputPort, Math.max(1, nodes.get(edge.to)!.inputs), to.height);
    path.moveTo(x1, y1);
    path.lineTo(x2, y2);
  }
  context.lineWidth = Math.max(1.5, 1 / zoom);
  for (const [colour, path] of paths) {
    context.strokeStyle = colour;
    context.stroke(path);
  }
}

const known = new WeakMap<View, Map<NodeId, View["nodes"][number]>>();

/** The nodes of a level by their ids, made once and not for each frame. */
function nodesOf(view: View): Map<NodeId, View["nodes"][number]> {
  const found = known.get(view) ?? new Map(view.nodes.map((node) => [node.id, node]));
  known.set(view, found);
  return found;
}

function paintBoxes(
  context: CanvasRenderingContext2D,
  scene: Scene,
  colours: Palette,
  zoom: number,
  hasWords: boolean,
  isOutside: (rect: Rect) => boolean,
): void {
  const hasTitles = zoom >= TITLES_FROM;
  context.font = "600 15px system-ui, sans-serif";
  context.textBaseline = "middle";
  for (const node of scene.view.nodes) {
    const rect = scene.rects.get(node.id);
    if (!rect || isOutside(rect)) continue;
    const tone = colours[toneOf(scene.kinds.get(node.id) ?? node.kind)] ?? colours.end!;
    context.fillStyle = hasTitles ? colours.surface! : tone;
    context.fillRect(rect.x, rect.y, rect.width, rect.height);
    if (hasTitles) {
      context.fillStyle = tone;
      context.fillRect(rect.x, rect.y, 8, rect.height);
      context.fillStyle = colours.text!;
      if (hasWords) context.fillText(node.title.slice(0, 18), rect.x + 18, rect.y + rect.height / 2);
    }
    const isChosen = scene.selection.has(node.id);
    if (isChosen || scene.faulty.has(node.id) || hasTitles) {
      context.strokeStyle = isChosen
        ? colours.accent!
        : scene.faulty.has(node.id)
          ? colours.bad!
          : colours.line!;
      context.lineWidth = (isChosen ? 3 : 1) / zoom;
      context.strokeRect(rect.x, rect.y, rect.width, rect.height);
    }
  }
}

/** The node at a place of the drawing; the last one drawn is on top. */
export function nodeAt(scene: Scene, x: number, y: number): NodeId | null {
  for (const node of [...scene.view.nodes].reverse()) {
    const rect = scene.rects.get(node.id);
    if (rect && x >= rect.x && x <= rect.x + rect.width && y >= rect.y && y <= rect.y + rect.height)
      return node.id;
  }
  return null;
}

/** How many boxes a window shows. */
export function countInView(rects: Iterable<Rect>, camera: Camera, width: number, height: number): number {
  let count = 0;
  for (const rect of rects) {
    const x = rect.x * camera.zoom + camera.x;
    const y = rect.y * camera.zoom + camera.y;
    if (x + rect.width * camera.zoom > 0 && x < width && y + rect.height * camera.zoom > 0 && y < height)
      count += 1;
  }
  return count;
}
