// Teleport: find parts of a network by name, type, argument, tag or description (Aurora 2.2).

import {
  boxesOf,
  type EditorDocument,
  groupPaths,
  groupsOf,
  inputsOf,
  outputsOf,
  pointsOf,
} from "./document";
import type { Json } from "./form";
import { type ItemId, itemId, lastPart } from "./items";
import { parseRef } from "./refs";

export interface Found {
  item: ItemId;
  title: string;
  /** What matched, and where: `predicates: pos >= 30`. */
  why: string;
  rank: number;
}

/** What matches all words of a question, the best first; `type:join` asks for a type alone. */
export function search({ network }: EditorDocument, question: string, most = 50): Found[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const found: Found[] = [];
  const look = (item: ItemId, name: string, type: string, part: object) => {
    const fields = texts(part);
    let rank = 0;
    let why = type;
    for (const word of words) {
      const hit = hitOf(word, name, type, fields);
      if (!hit) return;
      rank += hit.rank;
      if (hit.why) why = hit.why;
    }
    found.push({ item, title: name, why, rank });
  };
  for (const [name, input] of Object.entries(inputsOf(network)))
    look(itemId("input", name), name, "input", input);
  for (const [id, box] of Object.entries(boxesOf(network))) look(itemId("box", id), id, box.box, box);
  for (const [name, output] of Object.entries(outputsOf(network)))
    look(itemId("output", name), name, "output", output);
  for (const path of groupPaths(network))
    look(itemId("group", path), path, "group", groupsOf(network)[path] ?? {});
  for (const [name, point] of Object.entries(pointsOf(network))) {
    const { id } = parseRef(point.at);
    const origin = id in inputsOf(network) ? itemId("input", id) : itemId("box", id);
    look(origin, name, "connection point", point);
  }
  return found
    .sort((one, other) => one.rank - other.rank || one.title.localeCompare(other.title))
    .slice(0, most);
}

function hitOf(word: string, name: string, type: string, fields: [string, string][]) {
  if (word.startsWith("type:")) return type.startsWith(word.slice(5)) ? { rank: 0, why: "" } : null;
  const lower = name.toLowerCase();
  if (lastPart(lower) === word || lower === word) return { rank: 0, why: "" };
  if (lastPart(lower).startsWith(word)) return { rank: 1, why: "" };
  if (lower.includes(word)) return { rank: 2, why: "" };
  if (type.includes(word)) return { rank: 3, why: "" };
  for (const [field, text] of fields)
    if (text.toLowerCase().includes(word) || field.includes(word))
      return { rank: 4, why: `${field}: ${text}` };
  return null;
}

/** The texts of a part, each with the field that it is in. */
function texts(part: object): [string, string][] {
  return Object.entries(part).flatMap(([field, value]): [string, string][] =>
    value === undefined || field === "box" ? [] : [[field, plain(value as Json)]],
  );
}

function plain(value: Json): string {
  if (value === null) return "";
  if (Array.isArray(value)) return value.map(plain).join(", ");
  if (typeof value === "object")
    return Object.entries(value)
      .map(([name, each]) => `${name} = ${plain(each)}`)
      .join(", ");
  return String(value);
}
