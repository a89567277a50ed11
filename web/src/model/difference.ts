// The difference of two networks part by part, and the merge of two changes of one network.

import type { Json, Network } from "./form";

const SECTIONS = ["inputs", "boxes", "connection_points", "groups", "outputs"] as const;
const WORDS = {
  inputs: "input",
  boxes: "box",
  connection_points: "connection point",
  groups: "group",
  outputs: "output",
};

export interface PartChange {
  sign: "+" | "-" | "~";
  kind: string;
  name: string;
  /** The fields that differ. */
  fields: string[];
}

export function changesBetween(before: Network, after: Network): PartChange[] {
  return SECTIONS.flatMap((section) => {
    const old = before[section] ?? {};
    const made = after[section] ?? {};
    const names = [...new Set([...Object.keys(old), ...Object.keys(made)])].sort();
    return names.flatMap((name): PartChange[] => {
      const kind = WORDS[section];
      if (!(name in old)) return [{ sign: "+", kind, name, fields: [] }];
      if (!(name in made)) return [{ sign: "-", kind, name, fields: [] }];
      const fields = differing(old[name] as object, made[name] as object);
      return fields.length > 0 ? [{ sign: "~", kind, name, fields }] : [];
    });
  });
}

function differing(before: object, after: object): string[] {
  const one = before as Record<string, unknown>;
  const other = after as Record<string, unknown>;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    (field) => !isSame(one[field], other[field]),
  );
}

/** Whether two values say the same, whatever the order of their fields. */
export function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const left = one as Record<string, Json>;
  const right = other as Record<string, Json>;
  const keys = Object.keys(left).filter((key) => left[key] !== undefined);
  const others = Object.keys(right).filter((key) => right[key] !== undefined);
  return keys.length === others.length && keys.every((key) => isSame(left[key], right[key]));
}

export interface Merged {
  network: Network;
  /** Parts that both changed in different ways; the network has ours. */
  conflicts: string[];
}

/** Both changes of a network in one: of a part that only one side changed, that side counts. */
export function merged(base: Network, ours: Network, theirs: Network): Merged {
  const conflicts: string[] = [];
  const choose = <T>(name: string, from: T, our: T, their: T): T => {
    if (isSame(our, from)) return their;
    if (!isSame(their, from) && !isSame(our, their)) conflicts.push(name);
    return our;
  };
  const network: Record<string, unknown> = { australis: 1 };
  for (const field of ["name", "description", "timezone"] as const) {
    const value = choose(field, base[field], ours[field], theirs[field]);
    if (value !== undefined) network[field] = value;
  }
  for (const section of SECTIONS) {
    const [from, our, their] = [base[section] ?? {}, ours[section] ?? {}, theirs[section] ?? {}];
    const names = [...new Set([...Object.keys(our), ...Object.keys(their)])];
    const items = names.flatMap((name) => {
      const item = choose(`${WORDS[section]} ${name}`, from[name], our[name], their[name]);
      return item === undefined ? [] : [[name, item]];
    });
    if (items.length > 0) network[section] = Object.fromEntries(items);
  }
  return { network: network as unknown as Network, conflicts };
}
