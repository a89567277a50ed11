// Commands on what is selected: copies, groups, steps along arcs, and what else needs more than one line.

import { placements } from "../canvas/geometry";
import {
  copied,
  freeName,
  GRID,
  groupOfItems,
  groupPaths,
  type ItemId,
  isEmpty,
  itemKey,
  itemKind,
  joined,
  type NodeId,
  newNames,
  parentOf,
  viewOf,
} from "../model";
import { currentDocument, editor } from "../state/editor";
import { shell } from "../state/shell";

export const items = (): ItemId[] => editor().selection.filter((id) => !/^(from|to)\//.test(id)) as ItemId[];
export const hasItems = () => items().length > 0;
export const chosen = () => editor().selection[0];

export function copy(): void {
  const fragment = copied(currentDocument(), items(), editor().group);
  editor().setClipboard(fragment);
  void navigator.clipboard
    ?.writeText(JSON.stringify({ australis_fragment: fragment }, null, 1))
    .catch(() => {});
  shell().say(`Copied ${items().length === 1 ? "1 part" : `${items().length} parts`}.`);
}

export function paste(fragment = editor().clipboard, by = { x: 40, y: 40 }): void {
  if (!fragment || isEmpty(fragment)) return;
  const before = currentDocument();
  const { group } = editor();
  const names = newNames(before, fragment, group);
  editor().run({ type: "paste", fragment, group, by });
  const made = Object.keys(fragment.layout).map((id) => names.item(id as ItemId));
  const top = made.filter(
    (id) => parentOf(itemKey(id)) === group || itemKind(id) === "input" || itemKind(id) === "output",
  );
  editor().select(top);
}

export function duplicate(): void {
  const document = currentDocument();
  const fragment = copied(document, items(), editor().group);
  // What has no place of its own yet is placed where it is drawn.
  const rects = placements(document, viewOf(document, editor().group, editor().flat));
  for (const id of items()) {
    const rect = rects.get(id);
    if (rect && !fragment.layout[id]) fragment.layout[id] = { x: rect.x, y: rect.y };
  }
  paste(fragment, { x: 32, y: 88 });
}

export function remove(): void {
  const { arc } = editor();
  if (arc !== null && !hasItems()) removeArc(arc);
  else editor().run({ type: "remove", items: items() });
}

/** Disconnect every reader of a stream that is drawn on this level. */
export function removeArc(ref: string): void {
  const { group, flat } = editor();
  const edges = viewOf(currentDocument(), group, flat).edges.filter((edge) => edge.ref === ref);
  const commands = edges.flatMap((edge) =>
    /^(box|output)\//.test(edge.to)
      ? [{ type: "disconnect" as const, to: edge.to as ItemId, port: edge.inputPort }]
      : [],
  );
  editor().run({ type: "several", commands, title: `disconnect ${ref}` });
  editor().selectArc(null);
}

export function group(): void {
  const boxes = items().flatMap((id) => (itemKind(id) === "box" ? [itemKey(id)] : []));
  if (boxes.length === 0) {
    shell().say("Select boxes to group.", "error");
    return;
  }
  const { network } = currentDocument();
  const taken = new Set([
    ...groupPaths(network),
    ...Object.keys(network.boxes ?? {}),
    ...Object.keys(network.inputs ?? {}),
  ]);
  const name = freeName(joined(groupOfItems(items()), "group"), (each) => taken.has(each));
  editor().run({ type: "regroup", boxes, group: name });
  editor().select([`group/${name}`]);
}

export function nudge(dx: number, dy: number): void {
  const { group: level, flat } = editor();
  const document = currentDocument();
  const rects = placements(document, viewOf(document, level, flat));
  const positions = Object.fromEntries(
    items().flatMap((id) => {
      const rect = rects.get(id);
      return rect ? [[id, { x: rect.x + dx * GRID, y: rect.y + dy * GRID }]] : [];
    }),
  );
  editor().run({ type: "move", positions });
}

/** Along the arcs: to what feeds the selection, to what it feeds, or to what is beside it. */
export function walk(way: "left" | "right" | "up" | "down"): void {
  const { group: level, flat } = editor();
  const document = currentDocument();
  const view = viewOf(document, level, flat);
  const rects = placements(document, view);
  const here = chosen();
  if (!here || !rects.has(here)) {
    const first = [...view.nodes].sort((one, other) => rects.get(one.id)!.x - rects.get(other.id)!.x)[0];
    if (first) editor().goTo(first.id);
    return;
  }
  const linked =
    way === "left"
      ? view.edges.filter((edge) => edge.to === here).map((edge) => edge.from)
      : way === "right"
        ? view.edges.filter((edge) => edge.from === here).map((edge) => edge.to)
        : [];
  const next = linked[0] ?? nearest(here, rects, way);
  if (next) editor().goTo(next);
}

export function nearest(here: NodeId, rects: ReturnType<typeof placements>, way: string): NodeId | null {
  const from = rects.get(here)!;
  let best: [NodeId, number] | null = null;
  for (const [id, rect] of rects) {
    const dx = rect.x - from.x;
    const dy = rect.y - from.y;
    const ahead = way === "left" ? -dx : way === "right" ? dx : way === "up" ? -dy : dy;
    if (ahead <= 4) continue;
    const aside = way === "left" || way === "right" ? Math.abs(dy) : Math.abs(dx);
    const distance = ahead + aside * 2;
    if (!best || distance < best[1]) best = [id, distance];
  }
  return best?.[0] ?? null;
}

export function selectAll(): void {
  const { group: level, flat } = editor();
  editor().select(viewOf(currentDocument(), level, flat).nodes.map((node) => node.id));
}

export function up(): void {
  const { dialog } = shell();
  if (dialog) shell().close();
  else if (editor().selection.length > 0 || editor().arc) {
    editor().select([]);
    editor().selectArc(null);
  } else if (editor().group) editor().enter(parentOf(editor().group));
}

export function bookmark(): void {
  const item = chosen();
  const { group: level } = editor();
  const wanted = item ? itemKey(item as ItemId) : level || "top";
  const name = freeName(wanted, (each) => each in currentDocument().bookmarks);
  editor().run({
    type: "bookmark",
    name,
    bookmark: { group: level, ...(item ? { item: item as ItemId } : {}) },
  });
  shell().say(`Bookmarked as ${name}: it is in the left panel under Network.`, "done");
}

export function connectFrom(): void {
  const { group: level, flat } = editor();
  const node = viewOf(currentDocument(), level, flat).nodes.find((each) => each.id === chosen());
  const ref = node?.outputs[0];
  if (ref === undefined) shell().say("Select what has results, then connect.", "error");
  else shell().open({ type: "connect", from: ref });
}

export function focusInspector(): void {
  const field = document.querySelector<HTMLElement>(
    ".panel.right section:nth-of-type(2) input, .panel.right input, .panel.right select, .panel.right button",
  );
  field?.focus();
}

export function openOrEdit(): void {
  const item = chosen();
  if (item?.startsWith("group/")) editor().enter(itemKey(item as ItemId));
  else focusInspector();
}
