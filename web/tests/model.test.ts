import { describe, expect, it } from "vitest";
import demo from "../src/generated/demo.json";
import {
  aligned,
  apply,
  attributesOf,
  begin,
  boxesOf,
  copied,
  emptyDocument,
  fieldsOf,
  freePort,
  hopsOf,
  insertedPoint,
  movedPoint,
  type Network,
  parseText,
  perform,
  placed,
  pythonOf,
  refusal,
  search,
  suggestions,
  undo,
  utilityAt,
  viewOf,
  wordBefore,
} from "../src/model";

const intrusion = emptyDocument(demo as unknown as Network);

describe("a train on its way", () => {
  const ways = (group: string, journey: Parameters<typeof hopsOf>[1]) =>
    Object.fromEntries(hopsOf(viewOf(intrusion, group), journey));

  it("goes from what it reads through its boxes to what it writes", () => {
    const found = ways("", { boxes: ["a", "b"], reads: ["connections"], writes: ["b"] });
    expect(found).toEqual({
      "connections>box/a:0": 0,
      "a>box/b:0": 1,
      "b>box/near:0": 2,
      "b>box/g:0": 2,
      "b>output/active:0": 2,
    });
  });

  it("goes along the superboxes that hide its boxes", () => {
    const boxes = Object.keys(boxesOf(intrusion.network)).filter((id) => id.startsWith("beacon."));
    const train = { boxes, reads: ["connections"], writes: ["beacon.regular"] };
    expect(Object.values(ways("", train))).toEqual([0, 1]);
    expect(Math.max(...Object.values(ways("beacon", train)))).toBe(boxes.length);
  });

  it("does not go along arcs of others", () => {
    expect(ways("", { boxes: ["d"], reads: ["c"], writes: ["d"] })).toEqual({
      "c>box/d:0": 0,
      "d>output/clusters:0": 1,
    });
  });
});

describe("commands", () => {
  it("rename a box everywhere", () => {
    const made = apply(intrusion, { type: "rename", item: "box/b", to: "busy" });
    expect(boxesOf(made.network).near!.from).toBe("busy");
    expect(made.network.outputs!.active!.from).toBe("busy");
    expect(boxesOf(made.network).g!.from).toEqual(["busy", "f"]);
  });

  it("remove a box with the arcs that it fed", () => {
    const made = apply(intrusion, { type: "remove", items: ["box/b"] });
    expect(boxesOf(made.network).near!.from).toBe("");
    expect(boxesOf(made.network).g!.from).toEqual(["", "f"]);
  });

  it("group and ungroup", () => {
    const made = apply(intrusion, { type: "regroup", boxes: ["near", "c", "d"], group: "clusters" });
    expect(boxesOf(made.network)["clusters.c"]!.from).toBe("clusters.near");
    expect(made.network.outputs!.clusters!.from).toBe("clusters.d");
    const back = apply(made, { type: "ungroup", group: "clusters" });
    expect(boxesOf(back.network)).toEqual(boxesOf(intrusion.network));
  });

  it("copy and paste with new names, and the arcs inside", () => {
    const made = apply(intrusion, {
      type: "paste",
      fragment: copied(intrusion, ["box/c", "box/d", "group/beacon"], ""),
      group: "",
      by: { x: 40, y: 40 },
    });
    expect(boxesOf(made.network).c2!.from).toBe("near");
    expect(boxesOf(made.network).d2!.from).toBe("c2");
    expect(boxesOf(made.network)["beacon2.sorted"]!.from).toBe("beacon2.small");
  });

  it("letters of a word are one step, and a field that is left begins another", () => {
    let history = begin(intrusion);
    for (const value of ["a", "ab", "abc"])
      history = perform(history, { type: "set", item: "box/a", path: ["tag"], value });
    expect(history.past.length).toBe(1);
    expect(undo(history).present).toBe(intrusion);
  });
});

describe("connections", () => {
  it("say why they are refused", () => {
    expect(refusal(intrusion, "g", "box/a", 0)).toContain("no loops");
    expect(refusal(intrusion, "a", "box/b", 1)).toBe("a filter has one input");
    expect(refusal(intrusion, "nobody", "box/b", 0)).toContain("there is no stream");
    expect(refusal(intrusion, "connections", "box/b", 0)).toBeNull();
  });

  it("take the free port", () => {
    const open = apply(intrusion, { type: "disconnect", to: "box/g", port: 0 });
    expect(freePort(open, "box/g")).toBe(0);
    expect(freePort(intrusion, "box/g")).toBe(1);
  });
});

describe("levels", () => {
  it("show a group as one box with the streams that cross its border", () => {
    const { nodes, edges } = viewOf(intrusion, "");
    const beacon = nodes.find((node) => node.id === "group/beacon")!;
    expect(beacon).toMatchObject({ inputs: 1, outputs: ["beacon.regular"], size: 7 });
    expect(edges.filter((edge) => edge.to === "group/beacon").map((edge) => edge.ref)).toEqual([
      "connections",
    ]);
  });

  it("show inside a group where its streams come from and go to", () => {
    const { nodes } = viewOf(intrusion, "beacon");
    expect(nodes.filter((node) => node.kind === "from").map((node) => node.key)).toEqual(["connections"]);
    expect(nodes.filter((node) => node.kind === "to").map((node) => node.key)).toEqual(["beacon.regular"]);
  });
});

describe("search", () => {
  it.each([
    ["small", "box/beacon.small"],
    ["type:join", "box/g"],
    ["stddev", "box/beacon.even"],
    ["evenly intervals", undefined],
    ["even", "box/beacon.even"],
    ["pair hosts", "group/beacon"],
  ])("finds %s", (question, item) => {
    expect(search(intrusion, question)[0]?.item).toBe(item);
  });
});

describe("texts", () => {
  it("YAML has few types, as where the node reads it", () => {
    expect(parseText("on: yes\nn: 1\nx: 1.5\nt: true\nd: 2024-01-01\ne: ~")).toEqual({
      on: "yes",
      n: 1,
      x: 1.5,
      t: true,
      d: "2024-01-01",
      e: "~",
    });
  });

  it("Python code says which stream is missing", () => {
    const open = apply(intrusion, { type: "disconnect", to: "box/a", port: 0 });
    expect(() => pythonOf(open.network)).toThrow("a: nothing is connected");
  });

  it("completes attributes and functions", () => {
    expect(fieldsOf("sid int not null, fare decimal(6,2)")).toEqual([
      ["sid", "int not null"],
      ["fare", "decimal(6,2)"],
    ]);
    const attributes = attributesOf(["sid int, pos int", "sid int"]);
    expect(suggestions("left.p", attributes, ["function"]).map((each) => each.text)).toEqual(["left.pos"]);
    expect(suggestions("pow", attributes, ["function"])).toEqual([]);
    expect(suggestions("cou", [], ["window"]).map((each) => each.text)).toContain("count");
    expect(wordBefore("a + left.po", 11)).toEqual({ word: "left.po", begin: 4 });
  });
});

describe("problems", () => {
  it("are at the parts that their paths name", () => {
    const of = (path: string) => placed(intrusion, { path, what: "" });
    expect(of("intrusion.beacon.small.predicates[0]")).toMatchObject({
      item: "box/beacon.small",
      field: "predicates[0]",
    });
    expect(of("intrusion.outputs.scans.quality.delay[0]")).toMatchObject({
      item: "output/scans",
      field: "quality.delay[0]",
    });
    expect(of("intrusion.connections.schema.x")).toMatchObject({
      item: "input/connections",
      field: "schema.x",
    });
    expect(of("name").item).toBeNull();
  });
});

describe("graphs", () => {
  const delay: [number, number][] = [
    [0, 1],
    [2, 1],
    [10, 0],
  ];
  it("keep their slope and order when a point is dragged", () => {
    expect(movedPoint(delay, 1, [12, 2], "delay")[1]).toEqual([10, 1]);
    expect(movedPoint(delay, 1, [-1, -3], "delay")[1]).toEqual([0, 0]);
  });
  it("take a new point on their line", () => {
    expect(insertedPoint(delay, 6, "delay")).toEqual([
      [
        [0, 1],
        [2, 1],
        [6, 0.5],
        [10, 0],
      ],
      2,
    ]);
    expect(utilityAt(delay, 100)).toBe(0);
  });
  it("align", () => {
    const place = (id: `box/${string}`, x: number) => ({ id, x, y: x, width: 10, height: 10 });
    expect(aligned([place("box/a", 0), place("box/b", 5), place("box/c", 100)], "across")["box/b"]).toEqual({
      x: 50,
      y: 5,
    });
  });
});
