// Changes of many references at once: what a network looks like when streams get other names, or go.

import { boxesOf, outputsOf, pointsOf } from "./document";
import type { Network } from "./form";
import { parseRef, refText, sourcesOf, withSources } from "./refs";

/** The network with each reference rewritten; null removes it, and with it a connection point that it was. */
export function rewired(network: Network, rewrite: (ref: string) => string | null): Network {
  const boxes = mapValues(boxesOf(network), (box) => {
    const before = sourcesOf(box);
    const after = before.map((ref) => (ref === "" ? "" : (rewrite(ref) ?? "")));
    return before.every((ref, index) => ref === after[index]) ? box : withSources(box, after);
  });
  const outputs = mapValues(outputsOf(network), (output) => {
    const from = output.from === "" ? "" : (rewrite(output.from) ?? "");
    return from === output.from ? output : { ...output, from };
  });
  const points = Object.fromEntries(
    Object.entries(pointsOf(network)).flatMap(([name, point]) => {
      const at = rewrite(point.at);
      return at === null ? [] : [[name, at === point.at ? point : { ...point, at }]];
    }),
  );
  return {
    ...network,
    ...(network.boxes ? { boxes } : {}),
    ...(network.outputs ? { outputs } : {}),
    ...(network.connection_points ? { connection_points: points } : {}),
  };
}

/** References to boxes and inputs under their new names. */
export function renamed(network: Network, names: ReadonlyMap<string, string>): Network {
  return rewired(network, (text) => {
    const ref = parseRef(text);
    const to = names.get(ref.id);
    return to === undefined ? text : refText(to, ref.port);
  });
}

/** Without references to streams that went. */
export function without(network: Network, gone: ReadonlySet<string>): Network {
  return rewired(network, (text) => (gone.has(parseRef(text).id) ? null : text));
}

export function mapValues<T, U>(
  items: Record<string, T>,
  change: (item: T, key: string) => U,
): Record<string, U> {
  return Object.fromEntries(Object.entries(items).map(([key, item]) => [key, change(item, key)]));
}

/** The same items in the same order, some under other names. */
export function mapKeys<T>(items: Record<string, T>, name: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(items).map(([key, item]) => [name(key), item]));
}

export function omit<T>(items: Record<string, T>, gone: ReadonlySet<string>): Record<string, T> {
  return Object.fromEntries(Object.entries(items).filter(([key]) => !gone.has(key)));
}
