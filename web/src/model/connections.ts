// Which connections make sense, and why others do not.

import { arity } from "./catalogue";
import { boxesOf, type EditorDocument, inputsOf, outputsOf } from "./document";
import { type ItemId, itemKey, itemKind } from "./items";
import { parseRef, sourcesOf } from "./refs";

/** What is wrong with a connection; null if it may be made. */
export function refusal({ network }: EditorDocument, from: string, to: ItemId, port: number): string | null {
  const boxes = boxesOf(network);
  const { id } = parseRef(from);
  const input = inputsOf(network)[id];
  if (!input && !(id in boxes)) return `there is no stream '${from}'`;
  if (itemKind(to) === "output") {
    if (!(itemKey(to) in outputsOf(network))) return "there is no such output";
    return input?.table ? "a stored table can only be one side of a join" : null;
  }
  if (itemKind(to) !== "box")
    return "streams end at boxes and outputs: open the group, and connect to a box in it";
  const reader = itemKey(to);
  const box = boxes[reader];
  if (!box) return "there is no such box";
  const [, most] = arity(box.box);
  if (most !== null && port >= most) return `a ${box.box} has ${most === 1 ? "one input" : `${most} inputs`}`;
  if (input?.table && box.box !== "join") return "a stored table can only be one side of a join";
  if (id === reader) return "a box cannot read its own results: a network has no loops";
  if (reaches(boxes, reader, id)) return `'${id}' already depends on '${reader}': a network has no loops`;
  return null;
}

/** Whether results of one box reach another. */
function reaches(boxes: ReturnType<typeof boxesOf>, from: string, to: string): boolean {
  const pending = [to];
  const seen = new Set<string>();
  while (pending.length > 0) {
    const id = pending.pop()!;
    if (id === from) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    const box = boxes[id];
    if (box) for (const ref of sourcesOf(box)) if (ref) pending.push(parseRef(ref).id);
  }
  return false;
}

/** The first input port that is free, or the last one if none is. */
export function freePort(document: EditorDocument, to: ItemId): number {
  const box = boxesOf(document.network)[itemKey(to)];
  if (itemKind(to) !== "box" || !box) return 0;
  const sources = sourcesOf(box);
  const [least, most] = arity(box.box);
  for (let port = 0; port < Math.max(least, sources.length); port += 1) if (!sources[port]) return port;
  return most === null ? sources.length : most - 1;
}
