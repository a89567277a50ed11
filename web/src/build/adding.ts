// New parts: their names, their places, and what they are connected to.

import { camera } from "../canvas/camera";
import { placements } from "../canvas/geometry";
import {
  type Command,
  freeName,
  freePort,
  freshBox,
  type ItemId,
  isTaken,
  itemId,
  joined,
  type NodeId,
  outputsOf,
  type Position,
  refusal,
  snapped,
  viewOf,
} from "../model";
import { currentDocument, editor } from "../state/editor";

/** Put a part where it was dropped. */
export function addAt(kind: string, at: Position): ItemId {
  const [command, item] = adding(kind, at);
  editor().run(command);
  editor().select([item]);
  return item;
}

/** Put a part to the right of what is selected, connected to it where that makes sense. */
export function addNext(kind: string): ItemId {
  const [chosen] = editor().selection;
  const { group, flat } = editor();
  const document = currentDocument();
  const view = viewOf(document, group, flat);
  const rect = chosen ? placements(document, view).get(chosen) : undefined;
  const node = view.nodes.find((each) => each.id === chosen);
  const ref = node && node.kind !== "to" ? node.outputs[0] : undefined;
  const center = camera.center();
  const wanted = rect ? { x: rect.x + rect.width + 72, y: rect.y } : { x: center.x - 92, y: center.y - 28 };
  const at = freeSpot(snapped(wanted), [...placements(document, view).values()]);
  const [command, item] = adding(kind, at);
  const commands: Command[] = [command];
  if (ref !== undefined && kind !== "input" && kind !== "table")
    commands.push({ type: "connect", from: ref, to: item, port: 0 });
  editor().run({ type: "several", commands, title: `add ${kind}` });
  if (rect) editor().goTo(item as NodeId);
  else editor().select([item]);
  return item;
}

function freeSpot(at: Position, rects: { x: number; y: number; width: number; height: number }[]): Position {
  let { x, y } = at;
  const overlaps = () =>
    rects.some(
      (rect) => Math.abs(rect.x - x) < rect.width && y < rect.y + rect.height + 16 && y + 72 > rect.y,
    );
  for (let tries = 0; overlaps() && tries < 200; tries += 1) y += 24;
  return { x, y };
}

function adding(kind: string, at: Position): [Command, ItemId] {
  const { network } = currentDocument();
  const { group } = editor();
  if (kind === "input" || kind === "table") {
    const name = freeName(kind, (each) => isTaken(network, each));
    const input = { schema: { id: "int", time: "timestamp" }, ...(kind === "table" ? { table: true } : {}) };
    return [{ type: "add_input", name, input, at }, itemId("input", name)];
  }
  if (kind === "output") {
    const name = freeName("output", (each) => each in outputsOf(network));
    return [{ type: "add_output", name, output: { from: "" }, at }, itemId("output", name)];
  }
  const id = freeName(joined(group, kind), (each) => isTaken(network, each));
  return [{ type: "add_box", id, box: freshBox(kind), at }, itemId("box", id)];
}

/** Connect a stream to a part's first free port; what is wrong with it, or null. */
export function connectTo(from: string, to: ItemId): string | null {
  const port = freePort(currentDocument(), to);
  const why = refusal(currentDocument(), from, to, port);
  if (why === null) editor().run({ type: "connect", from, to, port });
  return why;
}
