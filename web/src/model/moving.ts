// Boxes and groups under other paths: what it is to rename one, to group and to ungroup.

import { boxesOf, type EditorDocument, groupsOf } from "./document";
import type { Network } from "./form";
import { type ItemId, itemId, itemKey, itemKind } from "./items";
import { mapKeys, renamed } from "./rewire";

/** The document with boxes and groups under other paths. */
export function movedPaths(document: EditorDocument, moved: (path: string) => string): EditorDocument {
  const boxes = boxesOf(document.network);
  const names = new Map(Object.keys(boxes).map((id) => [id, moved(id)]));
  const network: Network = {
    ...document.network,
    ...(document.network.boxes ? { boxes: mapKeys(boxes, (id) => names.get(id)!) } : {}),
    ...(document.network.groups ? { groups: mapKeys(groupsOf(document.network), moved) } : {}),
  };
  const layout = mapKeys(document.layout, (key) => {
    const id = key as ItemId;
    const kind = itemKind(id);
    return kind === "box" || kind === "group" ? itemId(kind, moved(itemKey(id))) : id;
  });
  return { ...document, network: renamed(network, names), layout };
}
