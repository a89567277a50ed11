// The problems that a node's checker finds, at the parts of the document that they are about.

import { boxesOf, type EditorDocument, inputsOf } from "./document";
import { type ItemId, itemId } from "./items";

export interface Problem {
  path: string;
  what: string;
  expected?: string;
}

export interface PlacedProblem extends Problem {
  item: ItemId | null;
  /** The field inside the part: `predicates[0]`. */
  field: string;
}

const SECTIONS: Record<string, "input" | "output" | "group"> = {
  inputs: "input",
  outputs: "output",
  groups: "group",
};

/** A problem with the part that its path names: `network.box.field`, or `network.outputs.name.field`. */
export function placed({ network }: EditorDocument, problem: Problem): PlacedProblem {
  const path = problem.path.startsWith(`${network.name}.`)
    ? problem.path.slice(network.name.length + 1)
    : problem.path;
  const candidates: [string, ItemId][] = [
    ...Object.keys(boxesOf(network)).map((id): [string, ItemId] => [id, itemId("box", id)]),
    ...Object.keys(inputsOf(network)).map((id): [string, ItemId] => [id, itemId("input", id)]),
  ];
  for (const [section, kind] of Object.entries(SECTIONS))
    for (const key of Object.keys(network[section as "inputs" | "outputs" | "groups"] ?? {}))
      candidates.push([`${section}.${key}`, itemId(kind, key)]);
  const fits = candidates.filter(
    ([name]) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`),
  );
  const best = fits.sort(([one], [other]) => other.length - one.length)[0];
  if (!best) return { ...problem, item: null, field: path };
  return { ...problem, item: best[1], field: path.slice(best[0].length).replace(/^\./, "") };
}

/** The problems of one field: `predicates[0]` for `predicates`, `order.on` for `order`. */
export function ofField(problems: PlacedProblem[], field: string): PlacedProblem[] {
  return problems.filter(
    (each) =>
      each.field === field || each.field.startsWith(`${field}.`) || each.field.startsWith(`${field}[`),
  );
}
