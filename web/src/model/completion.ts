// What may come next in an expression: attributes of its streams, and functions.

import { FUNCTIONS } from "./catalogue";

export interface Suggestion {
  text: string;
  kind: "attribute" | "function" | "window" | "interpolation";
  detail: string;
}

/** The word before the cursor, with the point of `left.pos`. */
export function wordBefore(text: string, cursor: number): { word: string; begin: number } {
  const match = /[A-Za-z_][A-Za-z0-9_.]*$/.exec(text.slice(0, cursor));
  return match ? { word: match[0], begin: match.index } : { word: "", begin: cursor };
}

/** Fields of a schema text such as `sid int, time timestamp`, by name. */
export function fieldsOf(schema: string): [string, string][] {
  const fields: string[] = [];
  let depth = 0;
  let field = "";
  for (const sign of schema) {
    if (sign === "," && depth === 0) {
      fields.push(field);
      field = "";
      continue;
    }
    if (sign === "(") depth += 1;
    if (sign === ")") depth -= 1;
    field += sign;
  }
  return [...fields, field]
    .map((each) => each.trim())
    .filter(Boolean)
    .map((each) => {
      const space = each.search(/[\s:]/);
      return space < 0 ? [each, ""] : [each.slice(0, space), each.slice(space + 1).trim()];
    });
}

/** Attributes as they are written in a box's expressions: `left.pos` where it has two inputs. */
export function attributesOf(schemas: (string | undefined)[]): Suggestion[] {
  const sides = schemas.length === 2 ? ["left.", "right."] : [""];
  return schemas.flatMap((schema, port) =>
    schema === undefined
      ? []
      : fieldsOf(schema).map(
          ([name, type]): Suggestion => ({
            text: `${sides[port] ?? ""}${name}`,
            kind: "attribute",
            detail: type,
          }),
        ),
  );
}

export function suggestions(
  word: string,
  attributes: Suggestion[],
  kinds: ("function" | "window" | "interpolation")[],
  most = 12,
): Suggestion[] {
  const lower = word.toLowerCase();
  const functions = FUNCTIONS.filter((each) => kinds.includes(each.kind)).map(
    (each): Suggestion => ({ text: each.name, kind: each.kind, detail: `${each.call}: ${each.meaning}` }),
  );
  const seen = new Set<string>();
  const starts = [...attributes, ...functions].filter(({ text, kind }) => {
    const key = `${kind} ${text}`;
    if (seen.has(key)) return false;
    seen.add(key);
    const bare = text.slice(text.indexOf(".") + 1).toLowerCase();
    return (
      text.toLowerCase().startsWith(lower) || (kind === "attribute" && lower !== "" && bare.startsWith(lower))
    );
  });
  return starts.filter(({ text }) => text !== word).slice(0, most);
}
