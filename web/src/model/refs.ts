// Streams are named after their origin: an input, a box, or `box.1` for its further output ports.

import type { Box } from "./form";

export interface Ref {
  id: string;
  port: number;
}

const PORT = /^[0-9]{1,9}$/;

export function parseRef(text: string): Ref {
  const dot = text.lastIndexOf(".");
  const tail = text.slice(dot + 1);
  return dot > 0 && PORT.test(tail) ? { id: text.slice(0, dot), port: Number(tail) } : { id: text, port: 0 };
}

export function refText(id: string, port: number): string {
  return port ? `${id}.${port}` : id;
}

/** The streams that a box reads, port by port; "" where nothing is connected. */
export function sourcesOf(box: Box): string[] {
  if (box.from === undefined) return [];
  return typeof box.from === "string" ? [box.from] : box.from;
}

/** A box that reads other streams; it is written as the node writes it. */
export function withSources(box: Box, sources: string[]): Box {
  const { box: kind, from: _, ...rest } = box;
  if (sources.length === 0) return { box: kind, ...rest };
  return { box: kind, from: sources.length === 1 ? sources[0]! : sources, ...rest };
}
