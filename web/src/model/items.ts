// Things that can be on the canvas, named `kind/key`, as an input and an output may have one name.

export type ItemKind = "input" | "box" | "output" | "group";
export type ItemId = `${ItemKind}/${string}`;

export function itemId(kind: ItemKind, key: string): ItemId {
  return `${kind}/${key}`;
}

export function itemKind(id: ItemId): ItemKind {
  return id.slice(0, id.indexOf("/")) as ItemKind;
}

export function itemKey(id: ItemId): string {
  return id.slice(id.indexOf("/") + 1);
}

/** The group that a path is in; "" at the top. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

export function lastPart(path: string): string {
  return path.slice(path.lastIndexOf(".") + 1);
}

export function isInside(path: string, group: string): boolean {
  return group === "" || path.startsWith(`${group}.`);
}

export function joined(group: string, name: string): string {
  return group ? `${group}.${name}` : name;
}

/** Every group of a path, outermost first. */
export function ancestors(path: string): string[] {
  const parts = path.split(".").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("."));
}
