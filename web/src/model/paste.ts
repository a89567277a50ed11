// Copy, paste and duplicate: a fragment keeps the arcs between its parts, and those from parts that are still there.

import type { Fragment } from "./commands";
import { boxesOf, type EditorDocument, groupsOf, inputsOf, outputsOf, type Position } from "./document";
import { type ItemId, isInside, itemId, itemKey, itemKind, joined, parentOf } from "./items";
import { parseRef, refText, sourcesOf, withSources } from "./refs";
import { mapValues } from "./rewire";

export function copied(document: EditorDocument, items: ItemId[], group: string): Fragment {
  const chosen = new Set<string>(items);
  const groups = items.filter((item) => itemKind(item) === "group").map(itemKey);
  const has = (kind: "input" | "box" | "output") => (key: string) =>
    chosen.has(itemId(kind, key)) || (kind === "box" && groups.some((each) => isInside(key, each)));
  const pick = <T>(all: Record<string, T>, test: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => test(key)));
  const inGroups = (path: string) => groups.some((each) => path === each || isInside(path, each));
  const boxes = pick(boxesOf(document.network), has("box"));
  const kept = (id: ItemId) =>
    chosen.has(id) ||
    (itemKind(id) === "box" && itemKey(id) in boxes) ||
    (itemKind(id) === "group" && inGroups(itemKey(id)));
  const layout = Object.fromEntries(Object.entries(document.layout).filter(([id]) => kept(id as ItemId)));
  return {
    inputs: pick(inputsOf(document.network), has("input")),
    boxes,
    outputs: pick(outputsOf(document.network), has("output")),
    groups: pick(groupsOf(document.network), inGroups),
    layout,
    group,
  };
}

export function isEmpty(fragment: Fragment): boolean {
  return [fragment.inputs, fragment.boxes, fragment.outputs].every(
    (items) => Object.keys(items).length === 0,
  );
}

export function pasted(
  document: EditorDocument,
  fragment: Fragment,
  group: string,
  by: Position,
): EditorDocument {
  const names = newNames(document, fragment, group);
  const network = document.network;
  const known = new Set([...Object.keys(inputsOf(network)), ...Object.keys(boxesOf(network))]);
  const ref = (text: string): string => {
    const { id, port } = parseRef(text);
    const to = names.streams.get(id) ?? (known.has(id) ? id : "");
    return to && refText(to, port);
  };
  const inputs = entries(fragment.inputs, (key) => names.streams.get(key)!);
  const boxes = entries(
    mapValues(fragment.boxes, (box) => withSources(box, sourcesOf(box).map(ref))),
    (key) => names.streams.get(key)!,
  );
  const outputs = entries(
    mapValues(fragment.outputs, (output) => ({ ...output, from: ref(output.from) })),
    (key) => names.outputs.get(key)!,
  );
  const groups = entries(fragment.groups, (key) => names.group(key));
  const layout = Object.fromEntries(
    Object.entries(fragment.layout).map(([key, spot]) => {
      const id = key as ItemId;
      return [names.item(id), { x: spot.x + by.x, y: spot.y + by.y }];
    }),
  );
  return {
    ...document,
    network: {
      ...network,
      ...merged("inputs", inputsOf(network), inputs),
      ...merged("boxes", boxesOf(network), boxes),
      ...merged("outputs", outputsOf(network), outputs),
      ...merged("groups", groupsOf(network), groups),
    },
    layout: { ...document.layout, ...layout },
  };
}

/** What a fragment's parts are called where they are pasted. */
export function newNames(document: EditorDocument, fragment: Fragment, group: string) {
  const network = document.network;
  const taken = new Set([...Object.keys(inputsOf(network)), ...Object.keys(boxesOf(network))]);
  const takenOutputs = new Set(Object.keys(outputsOf(network)));
  const streams = new Map<string, string>();
  const roots = new Map<string, string>();
  for (const key of Object.keys(fragment.inputs)) streams.set(key, claim(key, taken));
  for (const key of Object.keys(fragment.boxes)) {
    const inner =
      fragment.group && isInside(key, fragment.group) ? key.slice(fragment.group.length + 1) : key;
    const [head, ...tail] = inner.split(".");
    if (tail.length === 0) streams.set(key, claim(joined(group, inner), taken));
    else {
      // A copied group is a group of its own: its boxes stay together under a new name.
      if (!roots.has(head!)) roots.set(head!, freeGroup(joined(group, head!), document));
      streams.set(key, claim(joined(roots.get(head!)!, tail.join(".")), taken));
    }
  }
  const outputs = new Map(Object.keys(fragment.outputs).map((key) => [key, claim(key, takenOutputs)]));
  const groupPath = (path: string): string => {
    const inner =
      fragment.group && isInside(path, fragment.group) ? path.slice(fragment.group.length + 1) : path;
    const [head, ...tail] = inner.split(".");
    return [roots.get(head!) ?? joined(group, head!), ...tail].join(".");
  };
  const item = (id: ItemId): ItemId => {
    const key = itemKey(id);
    if (itemKind(id) === "group") return itemId("group", groupPath(key));
    if (itemKind(id) === "output") return itemId("output", outputs.get(key) ?? key);
    return itemId(itemKind(id), streams.get(key) ?? key);
  };
  return { streams, outputs, group: groupPath, item };
}

function claim(wanted: string, taken: Set<string>): string {
  const stem = wanted.replace(/[0-9]+$/, "");
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${stem}${number}`;
  taken.add(name);
  return name;
}

function freeGroup(wanted: string, document: EditorDocument): string {
  const paths = [
    ...Object.keys(boxesOf(document.network)),
    ...Object.keys(inputsOf(document.network)),
    ...Object.keys(groupsOf(document.network)),
  ];
  const isTaken = (name: string) => paths.some((path) => path === name || isInside(path, name));
  let name = wanted;
  for (let number = 2; isTaken(name); number += 1) name = `${wanted}${number}`;
  return name;
}

function entries<T>(items: Record<string, T>, name: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(items).map(([key, item]) => [name(key), item]));
}

function merged<T>(section: string, before: Record<string, T>, more: Record<string, T>) {
  return Object.keys(more).length > 0 ? { [section]: { ...before, ...more } } : {};
}

/** A box in the same group as another, for placing a copy. */
export function groupOfItems(items: ItemId[]): string {
  const box = items.find((item) => itemKind(item) === "box");
  return box ? parentOf(itemKey(box)) : "";
}
