// Superboxes: boxes whose ids share a path. To group is to rename, so a group needs no list of its members.

import { boxesOf, type EditorDocument, groupsOf, isTaken } from "./document";
import { PATH } from "./form";
import { isInside, itemId, joined, lastPart, parentOf } from "./items";
import { movedPaths } from "./moving";
import { omit } from "./rewire";

/** The document with boxes in another group; "" takes them to the top. Names that are taken get a number. */
export function inGroup(document: EditorDocument, boxes: string[], group: string): EditorDocument {
  if (group !== "" && (!PATH.test(group) || isTaken(document.network, group))) return document;
  const there = boxes.filter((id) => id in boxesOf(document.network) && parentOf(id) !== group);
  if (there.length === 0) return document;
  const names = new Map<string, string>();
  const leaving = new Set(there);
  const staying = new Set(Object.keys(boxesOf(document.network)).filter((id) => !leaving.has(id)));
  for (const id of there) {
    const to = freeAmong(joined(group, lastPart(id)), staying, document);
    staying.add(to);
    names.set(id, to);
  }
  const made = movedPaths(document, (path) => names.get(path) ?? path);
  if (group === "" || group in groupsOf(made.network)) return made;
  const groups = { ...groupsOf(made.network), [group]: {} };
  return { ...placed(made, document, group, there), network: { ...made.network, groups } };
}

function freeAmong(wanted: string, taken: Set<string>, document: EditorDocument): string {
  const isFree = (name: string) => !taken.has(name) && !(name in (document.network.inputs ?? {}));
  if (isFree(wanted)) return wanted;
  let number = 2;
  while (!isFree(`${wanted}${number}`)) number += 1;
  return `${wanted}${number}`;
}

/** A new group is drawn where its boxes were. */
function placed(
  made: EditorDocument,
  before: EditorDocument,
  group: string,
  boxes: string[],
): EditorDocument {
  const id = itemId("group", group);
  if (made.layout[id]) return made;
  const spots = boxes.map((box) => before.layout[itemId("box", box)]).filter((spot) => spot !== undefined);
  if (spots.length === 0) return made;
  const mean = (pick: (spot: { x: number; y: number }) => number) =>
    Math.round(spots.reduce((sum, spot) => sum + pick(spot), 0) / spots.length);
  return { ...made, layout: { ...made.layout, [id]: { x: mean((s) => s.x), y: mean((s) => s.y) } } };
}

/** The document with the members of a group in the group around it. */
export function ungrouped(document: EditorDocument, group: string): EditorDocument {
  const members = Object.keys(boxesOf(document.network)).filter((id) => isInside(id, group));
  const described = Object.keys(groupsOf(document.network)).filter(
    (path) => path === group || isInside(path, group),
  );
  if (members.length === 0 && described.length === 0) return document;
  const outer = parentOf(group);
  const taken = new Set(Object.keys(boxesOf(document.network)).filter((id) => !isInside(id, group)));
  const names = new Map<string, string>();
  for (const id of members) {
    const to = freeAmong(joined(outer, id.slice(group.length + 1)), taken, document);
    taken.add(to);
    names.set(id, to);
  }
  const groups = omit(groupsOf(document.network), new Set([group]));
  const rest = {
    ...document,
    network: { ...document.network, ...(document.network.groups ? { groups } : {}) },
  };
  const inner = (path: string) =>
    names.get(path) ?? (isInside(path, group) ? joined(outer, path.slice(group.length + 1)) : path);
  const made = movedPaths(rest, inner);
  return { ...made, layout: omit(made.layout, new Set([itemId("group", group)])) };
}
