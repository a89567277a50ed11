// Random commands on random networks: undone they leave the start, redone the end, and nothing is changed in place.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allItems,
  BOXES,
  begin,
  boxesOf,
  type Command,
  copied,
  type EditorDocument,
  emptyDocument,
  formProblem,
  freshBox,
  groupPaths,
  type History,
  type ItemId,
  inputsOf,
  outputsOf,
  parseRef,
  perform,
  pointsOf,
  redo,
  refusal,
  sourcesOf,
  tidy,
  undo,
  viewOf,
} from "../src/model";

const name = fc.constantFrom("a", "b", "c", "d", "e2", "f");
const path = fc.oneof(
  name,
  fc.tuple(name, name).map((parts) => parts.join(".")),
  fc.tuple(name, name, name).map((parts) => parts.join(".")),
);
const at = fc.record({ x: fc.integer({ min: -500, max: 500 }), y: fc.integer({ min: -500, max: 500 }) });
const pick = fc.nat({ max: 1000 });

/** A command in the light of the document that it will meet: most of them make sense there. */
type Draw = (document: EditorDocument) => Command;
const one = <T>(items: T[], index: number): T | undefined => items[index % Math.max(1, items.length)];
const streams = ({ network }: EditorDocument) => [
  ...Object.keys(inputsOf(network)),
  ...Object.keys(boxesOf(network)),
  ...Object.keys(boxesOf(network)).map((id) => `${id}.1`),
];
const readers = (document: EditorDocument) =>
  allItems(document.network).filter((id) => id.startsWith("box/") || id.startsWith("output/"));

const draw: fc.Arbitrary<Draw> = fc.oneof(
  fc.tuple(name, at).map(
    ([id, spot]): Draw =>
      () => ({
        type: "add_input",
        name: id,
        input: { schema: { x: "int" } },
        at: spot,
      }),
  ),
  fc.tuple(path, fc.constantFrom(...BOXES.map((box) => box.kind)), at).map(
    ([id, kind, spot]): Draw =>
      () => ({
        type: "add_box",
        id,
        box: freshBox(kind),
        at: spot,
      }),
  ),
  fc.tuple(name, pick, at).map(
    ([id, index, spot]): Draw =>
      (document) => ({
        type: "add_output",
        name: id,
        output: { from: one(streams(document), index) ?? "" },
        at: spot,
      }),
  ),
  fc.tuple(pick, pick, fc.nat({ max: 2 })).map(
    ([from, to, port]): Draw =>
      (document) => ({
        type: "connect",
        from: one(streams(document), from) ?? "nothing",
        to: one(readers(document), to) ?? "box/nothing",
        port,
      }),
  ),
  fc.tuple(pick, fc.nat({ max: 2 })).map(
    ([to, port]): Draw =>
      (document) => ({
        type: "disconnect",
        to: one(readers(document), to) ?? "box/nothing",
        port,
      }),
  ),
  fc.array(pick, { maxLength: 3 }).map(
    (indexes): Draw =>
      ({ network }) => ({
        type: "remove",
        items: indexes.flatMap((index) => one(allItems(network), index) ?? []),
      }),
  ),
  fc.tuple(pick, path).map(
    ([index, to]): Draw =>
      ({ network }) => ({
        type: "rename",
        item: one(allItems(network), index) ?? "box/nothing",
        to,
      }),
  ),
  fc.tuple(pick, fc.string()).map(
    ([index, value]): Draw =>
      ({ network }) => ({
        type: "set",
        item: one(allItems(network), index) ?? "box/nothing",
        path: ["description"],
        value: value || undefined,
      }),
  ),
  fc.tuple(pick, at).map(
    ([index, spot]): Draw =>
      ({ network }) => ({
        type: "move",
        positions: Object.fromEntries([[one(allItems(network), index) ?? "box/nothing", spot]]) as Record<
          ItemId,
          typeof spot
        >,
      }),
  ),
  fc.tuple(fc.array(pick, { maxLength: 4 }), fc.oneof(fc.constant(""), path)).map(
    ([indexes, group]): Draw =>
      ({ network }) => ({
        type: "regroup",
        boxes: indexes.flatMap((index) => one(Object.keys(boxesOf(network)), index) ?? []),
        group,
      }),
  ),
  pick.map(
    (index): Draw =>
      ({ network }) => ({ type: "ungroup", group: one(groupPaths(network), index) ?? "none" }),
  ),
  fc.tuple(fc.array(pick, { maxLength: 4 }), at, pick).map(
    ([indexes, by, into]): Draw =>
      (document) => ({
        type: "paste",
        fragment: copied(
          document,
          indexes.flatMap((index) => one(allItems(document.network), index) ?? []),
          "",
        ),
        group: one(["", ...groupPaths(document.network)], into)!,
        by,
      }),
  ),
  fc.tuple(name, pick).map(
    ([id, index]): Draw =>
      (document) => ({
        type: "set_point",
        name: id,
        point: index % 3 ? { at: one(streams(document), index) ?? "x", history: "1 h" } : null,
      }),
  ),
  fc.tuple(name, path).map(
    ([id, group]): Draw =>
      () => ({ type: "bookmark", name: id, bookmark: { group } }),
  ),
  fc.constantFrom("net", "other", "").map(
    (value): Draw =>
      () => ({ type: "set_network", field: "name", value }),
  ),
);

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) frozen(each);
  }
  return value;
}

function run(draws: Draw[]): History {
  return draws.reduce(
    (history, each) => {
      const command = each(history.present);
      return { ...perform(history, command), present: frozen(perform(history, command).present) };
    },
    begin(frozen(emptyDocument())),
  );
}

describe("history", () => {
  it("undoes everything to the start, and redoes it to the end", () => {
    fc.assert(
      fc.property(fc.array(draw, { maxLength: 40 }), (draws) => {
        const end = run(draws);
        let history = end;
        while (history.past.length > 0) history = undo(history);
        expect(history.present).toEqual(emptyDocument());
        while (history.future.length > 0) history = redo(history);
        expect(history.present).toEqual(end.present);
      }),
      { numRuns: 300 },
    );
  });

  it("leaves a network whose parts fit, whatever was done", () => {
    fc.assert(
      fc.property(fc.array(draw, { maxLength: 40 }), (draws) => {
        const { present } = run(draws);
        expect(formProblem(tidy(present.network))).toBeNull();
        const names = [...Object.keys(inputsOf(present.network)), ...Object.keys(boxesOf(present.network))];
        expect(new Set(names).size).toBe(names.length);
        const known = new Set(["", "nothing", "x", ...names]);
        const refs = [
          ...Object.values(boxesOf(present.network)).flatMap(sourcesOf),
          ...Object.values(outputsOf(present.network)).map((output) => output.from),
          ...Object.values(pointsOf(present.network)).map((point) => point.at),
        ];
        for (const ref of refs) expect(known).toContain(parseRef(ref).id);
      }),
      { numRuns: 300 },
    );
  });

  it("draws each level with arcs between nodes that are there", () => {
    fc.assert(
      fc.property(fc.array(draw, { maxLength: 30 }), (draws) => {
        const { present } = run(draws);
        for (const group of ["", ...groupPaths(present.network)]) {
          const { nodes, edges } = viewOf(present, group);
          const ids = new Map(nodes.map((node) => [node.id, node]));
          expect(ids.size).toBe(nodes.length);
          expect(new Set(edges.map((edge) => edge.id)).size).toBe(edges.length);
          for (const edge of edges) {
            expect(ids.has(edge.from)).toBe(true);
            expect(edge.inputPort).toBeLessThan(Math.max(1, ids.get(edge.to)!.inputs));
          }
        }
      }),
      { numRuns: 150 },
    );
  });

  it("never admits a loop", () => {
    fc.assert(
      fc.property(fc.array(draw, { maxLength: 40 }), (draws) => {
        const { present } = run(draws);
        for (const id of Object.keys(boxesOf(present.network)))
          expect(refusal(present, id, `box/${id}`, 0)).toContain("no loops");
      }),
      { numRuns: 50 },
    );
  });
});
