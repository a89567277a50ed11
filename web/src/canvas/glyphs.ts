// A sign and a colour for each kind of node, as in the papers' algebra.

const SIGNS: Record<string, string> = {
  filter: "σ",
  map: "π",
  union: "∪",
  unnest: "⋮",
  bsort: "⇅",
  wsort: "⇵",
  aggregate: "Σ",
  tumble: "Σ₌",
  slide: "Σ→",
  xsection: "Σ∥",
  top: "⊤",
  changes: "Δ",
  lag: "↤",
  distinct: "≠",
  number: "#",
  join: "⋈",
  asof: "⋉",
  resample: "∿",
  input: "▸",
  output: "◂",
  table: "▤",
  group: "❒",
  arc: "→",
  from: "⤶",
  to: "⤷",
};

const TONES: Record<string, string> = {
  filter: "route",
  map: "route",
  union: "route",
  unnest: "route",
  bsort: "sort",
  wsort: "sort",
  aggregate: "window",
  tumble: "window",
  slide: "window",
  xsection: "window",
  top: "window",
  changes: "earlier",
  lag: "earlier",
  distinct: "earlier",
  number: "earlier",
  join: "pair",
  asof: "pair",
  resample: "pair",
};

export function signOf(kind: string): string {
  return SIGNS[kind] ?? "□";
}

/** The family's name, for colours: `--tone-route` and the like. */
export function toneOf(kind: string): string {
  return TONES[kind] ?? (kind === "group" ? "group" : "end");
}
