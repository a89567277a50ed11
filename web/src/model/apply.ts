// The meaning of commands: a document and a command make a document. Nothing is changed in place.
//
// A command that makes no sense for the document, such as to rename what is not there, leaves it as it is.

import { arity } from "./catalogue";
import type { Command } from "./commands";
import {
  boxesOf,
  type EditorDocument,
  groupPaths,
  groupsOf,
  inputsOf,
  isTaken,
  outputsOf,
  pointsOf,
} from "./document";
import { type Fields, type Json, NAME, type Network, PATH } from "./form";
import { inGroup, ungrouped } from "./groups";
import { type ItemId, isInside, itemId, itemKey, itemKind } from "./items";
import { movedPaths } from "./moving";
import { pasted } from "./paste";
import { sourcesOf, withSources } from "./refs";
import { mapKeys, omit, renamed, without } from "./rewire";

export function apply(document: EditorDocument, command: Command): EditorDocument {
  switch (command.type) {
    case "add_input":
      if (!NAME.test(command.name) || isTaken(document.network, command.name)) return document;
      return added(document, "inputs", itemId("input", command.name), command.input, command.at);
    case "add_box":
      if (!PATH.test(command.id) || isTaken(document.network, command.id)) return document;
      return added(document, "boxes", itemId("box", command.id), command.box, command.at);
    case "add_output":
      if (!NAME.test(command.name) || command.name in outputsOf(document.network)) return document;
      return added(document, "outputs", itemId("output", command.name), command.output, command.at);
    case "remove":
      return removed(document, command.items);
    case "rename":
      return renamedItem(document, command.item, command.to);
    case "set":
      return withPart(
        document,
        command.item,
        (part) => assigned(part, command.path, command.value) as Fields,
      );
    case "set_network":
      return withNetwork(document, textSet(document.network, command.field, command.value));
    case "set_point":
      return withNetwork(document, pointSet(document.network, command.name, command.point));
    case "rename_point": {
      const points = pointsOf(document.network);
      if (!(command.name in points) || command.to in points || !NAME.test(command.to)) return document;
      const named = mapKeys(points, (key) => (key === command.name ? command.to : key));
      return withNetwork(document, { ...document.network, connection_points: named });
    }
    case "connect":
      return connected(document, command.to, command.port, command.from);
    case "disconnect":
      return connected(document, command.to, command.port, "");
    case "move":
      return { ...document, layout: { ...document.layout, ...command.positions } };
    case "regroup":
      return inGroup(document, command.boxes, command.group);
    case "ungroup":
      return ungrouped(document, command.group);
    case "paste":
      return pasted(document, command.fragment, command.group, command.by);
    case "bookmark": {
      const rest = omit(document.bookmarks, new Set([command.name]));
      return {
        ...document,
        bookmarks: command.bookmark ? { ...rest, [command.name]: command.bookmark } : rest,
      };
    }
    case "replace":
      return {
        network: command.network,
        layout: command.layout ?? document.layout,
        bookmarks: document.bookmarks,
      };
    case "several":
      return command.commands.reduce(apply, document);
  }
}

const SECTION = { input: "inputs", box: "boxes", output: "outputs", group: "groups" } as const;

function withNetwork(document: EditorDocument, network: Network): EditorDocument {
  return network === document.network ? document : { ...document, network };
}

function added(
  document: EditorDocument,
  section: "inputs" | "boxes" | "outputs",
  item: ItemId,
  value: unknown,
  at: { x: number; y: number },
): EditorDocument {
  const items = { ...document.network[section], [itemKey(item)]: value };
  const network = { ...document.network, [section]: items } as Network;
  return { ...document, network, layout: { ...document.layout, [item]: at } };
}

function removed(document: EditorDocument, items: ItemId[]): EditorDocument {
  const groups = items.filter((item) => itemKind(item) === "group").map(itemKey);
  const inGone = (path: string) => groups.some((group) => path === group || isInside(path, group));
  const keys = (kind: string) => items.filter((item) => itemKind(item) === kind).map(itemKey);
  const boxes = new Set([...keys("box"), ...Object.keys(boxesOf(document.network)).filter(inGone)]);
  const inputs = new Set(keys("input"));
  const outputs = new Set(keys("output"));
  const sections = {
    inputs: omit(inputsOf(document.network), inputs),
    boxes: omit(boxesOf(document.network), boxes),
    outputs: omit(outputsOf(document.network), outputs),
    groups: omit(groupsOf(document.network), new Set(Object.keys(groupsOf(document.network)).filter(inGone))),
  };
  const network = without({ ...document.network, ...sections }, new Set([...boxes, ...inputs]));
  const gone = new Set<string>([
    ...items,
    ...[...boxes].map((id) => itemId("box", id)),
    ...groupPaths(document.network)
      .filter(inGone)
      .map((path) => itemId("group", path)),
  ]);
  return { ...document, network, layout: omit(document.layout, gone) };
}

function renamedItem(document: EditorDocument, item: ItemId, to: string): EditorDocument {
  const from = itemKey(item);
  const kind = itemKind(item);
  if (from === to || !(kind === "box" || kind === "group" ? PATH : NAME).test(to)) return document;
  if (kind === "group") {
    if (groupPaths(document.network).includes(to) || isInside(to, from) || isTaken(document.network, to))
      return document;
    const moved = (path: string) =>
      path === from || isInside(path, from) ? to + path.slice(from.length) : path;
    return movedPaths(document, moved);
  }
  const section = SECTION[kind];
  if (!(from in (document.network[section] ?? {}))) return document;
  const taken = kind === "output" ? to in outputsOf(document.network) : isTaken(document.network, to);
  if (taken) return document;
  const items = mapKeys(document.network[section] as Record<string, unknown>, (key) =>
    key === from ? to : key,
  );
  const network = { ...document.network, [section]: items } as Network;
  const known = kind === "output" ? network : renamed(network, new Map([[from, to]]));
  const layout = mapKeys(document.layout, (key) => (key === item ? itemId(kind, to) : key));
  return { ...document, network: known, layout };
}

function withPart(document: EditorDocument, item: ItemId, change: (part: Fields) => Fields): EditorDocument {
  const section = SECTION[itemKind(item)];
  const key = itemKey(item);
  const items = (document.network[section] ?? {}) as unknown as Record<string, Fields>;
  const part = items[key];
  // A group need not be described; any other part has to be there.
  if (part === undefined && section !== "groups") return document;
  const made = change(part ?? {});
  if (made === part) return document;
  const changed = { ...items, [key]: made };
  return withNetwork(document, { ...document.network, [section]: changed } as Network);
}

/** A value with another one at a path inside it; `undefined` removes what is there. */
export function assigned(
  value: Json | Fields | undefined,
  path: string[],
  to: Json | undefined,
): Json | Fields {
  const [head, ...rest] = path;
  if (head === undefined) return to as Json;
  if (Array.isArray(value)) {
    const index = Number(head);
    if (rest.length === 0 && to === undefined) return value.filter((_, each) => each !== index);
    const copy = [...value];
    copy[index] = assigned(value[index], rest, to) as Json;
    return copy;
  }
  const fields: Fields = typeof value === "object" && value !== null ? { ...value } : {};
  if (rest.length === 0 && to === undefined) delete fields[head];
  else fields[head] = assigned(fields[head] as Json, rest, to) as Json;
  return fields;
}

function textSet(network: Network, field: "name" | "description" | "timezone", value: string): Network {
  if (field === "name") return NAME.test(value) ? { ...network, name: value } : network;
  const { [field]: _, ...rest } = network;
  return value ? { ...rest, [field]: value } : rest;
}

function pointSet(
  network: Network,
  name: string,
  point: NonNullable<Network["connection_points"]>[string] | null,
) {
  if (!NAME.test(name)) return network;
  const points = point ? { ...pointsOf(network), [name]: point } : omit(pointsOf(network), new Set([name]));
  return { ...network, connection_points: points };
}

function connected(document: EditorDocument, to: ItemId, port: number, from: string): EditorDocument {
  return withPart(document, to, (part) => {
    if (itemKind(to) === "output") return { ...part, from };
    if (itemKind(to) !== "box") return part;
    const box = part as NonNullable<Network["boxes"]>[string];
    const [least, most] = arity(box.box);
    if (most !== null && port >= most) return part;
    const sources = [...sourcesOf(box)];
    while (sources.length < Math.max(least, port + 1)) sources.push("");
    sources[port] = from;
    // Where any number may be connected, a free port is no port.
    const kept = most === null ? sources.filter((ref, index) => ref !== "" || index < least) : sources;
    return withSources(box, kept);
  });
}
