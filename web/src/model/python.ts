// Networks as Python code for NetworkBuilder: each call adds a box to a stream.

import { boxesOf, groupsOf, inputsOf, outputsOf, pointsOf } from "./document";
import type { Box, ConnectionPoint, Fields, Input, Json, Network, Output, Quality } from "./form";
import { parseRef, sourcesOf } from "./refs";

/** Code that builds the network; throws where a stream is missing or there is a loop. */
export function pythonOf(network: Network): string {
  const writer = new Writer(network);
  const lines = [
    ...writer.head(),
    ...Object.entries(inputsOf(network)).map(([name, input]) => writer.input(name, input)),
    ...writer.groups(),
    ...ordered(network).map((id) => writer.box(id, boxesOf(network)[id]!)),
    ...Object.entries(pointsOf(network)).map(([name, point]) => writer.point(name, point)),
    ...Object.entries(outputsOf(network)).map(([name, output]) => writer.output(name, output)),
  ];
  return [...writer.imports(), "", ...lines, "", "network = net.build()", ""].join("\n");
}

/** The boxes, each after those that it reads. */
export function ordered(network: Network): string[] {
  const boxes = boxesOf(network);
  const done = new Set<string>();
  const open = new Set<string>();
  const order: string[] = [];
  const visit = (id: string) => {
    if (done.has(id)) return;
    if (open.has(id)) throw new Error(`'${id}' depends on itself: a network has no loops`);
    open.add(id);
    for (const ref of sourcesOf(boxes[id]!)) if (parseRef(ref).id in boxes) visit(parseRef(ref).id);
    done.add(id);
    order.push(id);
  };
  for (const id of Object.keys(boxes)) visit(id);
  return order;
}

const RESERVED = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global " +
    "if import in is lambda nonlocal not or pass raise return try while with yield net network Order Progress Quality " +
    "Store ValueGraph NetworkBuilder"
  ).split(" "),
);

class Writer {
  private readonly names = new Map<string, string>();
  private readonly used = new Set<string>(RESERVED);
  private readonly classes = new Set<string>();

  constructor(private readonly network: Network) {}

  head(): string[] {
    const { name, timezone, description } = this.network;
    const extra = [
      ...(timezone ? [`timezone=${text(timezone)}`] : []),
      ...(description ? [`description=${text(description)}`] : []),
    ];
    return [`net = NetworkBuilder(${[text(name), ...extra].join(", ")})`];
  }

  imports(): string[] {
    const homes: [string, string][] = [
      ["Order", "australis.algebra.order"],
      ["Progress", "australis.algebra.progress"],
      ["Quality", "australis.algebra.quality"],
      ["Store", "australis.algebra.store"],
      ["ValueGraph", "australis.algebra.quality"],
    ];
    const wanted = new Map<string, string[]>([["australis.algebra.builder", ["NetworkBuilder"]]]);
    for (const [name, home] of homes)
      if (this.classes.has(name)) wanted.set(home, [...(wanted.get(home) ?? []), name]);
    return [...wanted].map(([home, names]) => `from ${home} import ${names.join(", ")}`);
  }

  input(name: string, input: Input): string {
    const { schema, table, store, format, progress, from, weight, description, ...rest } = input;
    refuse(rest, name);
    const given = [
      ...(store === undefined ? [] : [`store=${this.store(store as Json)}`]),
      ...(format === undefined ? [] : [`format=${python(format as Json)}`]),
      ...(progress === undefined ? [] : [`progress=${this.record("Progress", progress as Fields, ["on"])}`]),
      ...(from === undefined ? [] : [`source=${text(from)}`]),
      ...(weight === undefined ? [] : [`weight=${text(weight)}`]),
      ...(description ? [`description=${text(description)}`] : []),
    ];
    const call = table ? "table" : "input";
    return `${this.variable(name)} = net.${call}(${[text(name), python(schema), ...given].join(", ")})`;
  }

  groups(): string[] {
    return Object.entries(groupsOf(this.network)).flatMap(([path, { tag, description }]) => {
      const given = [
        ...(tag ? [`tag=${text(tag)}`] : []),
        ...(description ? [`description=${text(description)}`] : []),
      ];
      return [`with net.group(${[text(path), ...given].join(", ")}):`, "    pass"];
    });
  }

  box(id: string, box: Box): string {
    const { box: kind, from: _, tag, description, ...parameters } = box;
    if (!sourcesOf(box)[0]) throw new Error(`${id}: nothing is connected`);
    const [first, ...others] = sourcesOf(box).map((ref) => this.stream(ref, id));
    const given = [
      ...this.arguments(kind, parameters, others),
      `as_=${text(id)}`,
      ...(tag ? [`tag=${text(tag)}`] : []),
      ...(description ? [`description=${text(description)}`] : []),
    ];
    const method = isRoute(box) ? "route" : kind;
    return `${this.variable(id)} = ${first}.${method}(${given.join(", ")})`;
  }

  point(name: string, { at, ...rest }: ConnectionPoint): string {
    const { importance, ...others } = rest;
    const isView = importance !== undefined;
    // A view keeps all of its history unless it says something else; a point keeps none.
    const given = isView ? { importance, history: null as Json, ...others } : others;
    if (isView && others.history === undefined)
      throw new Error(`connection_points.${name}: a view without history cannot be written as code`);
    const named = keywords(given as Fields);
    return `${this.stream(at, name)}.${isView ? "view" : "point"}(${[text(name), ...named].join(", ")})`;
  }

  output(name: string, { from, quality, description }: Output): string {
    const given = [
      ...(quality ? [this.quality(quality)] : []),
      ...(description ? [`description=${text(description)}`] : []),
    ];
    return `${this.stream(from, name)}.output(${[text(name), ...given].join(", ")})`;
  }

  private arguments(kind: string, parameters: Fields, others: string[]): string[] {
    const positional = POSITIONAL[kind] ?? [];
    const spread = SPREAD[kind];
    const value = (name: string, each: Json) =>
      ORDERS.has(name) && isObject(each) ? this.order(each) : python(each);
    const named = Object.entries(parameters).filter(
      ([name, each]) => each !== undefined && !positional.includes(name) && name !== spread,
    );
    return [
      ...others,
      ...(spread && Array.isArray(parameters[spread]) ? (parameters[spread] as Json[]).map(python) : []),
      ...positional.flatMap((name) =>
        parameters[name] === undefined ? [] : [value(name, parameters[name]!)],
      ),
      ...named.map(([name, each]) => `${name}=${value(name, each!)}`),
    ];
  }

  private order(order: Fields): string {
    return this.record("Order", order, ["on"]);
  }

  private store(store: Json): string {
    if (typeof store === "string") return text(store);
    return this.record("Store", store as Fields, ["at"]);
  }

  private quality(quality: Quality): string {
    const { delay, value, ...rest } = quality;
    const given: string[] = [];
    if (delay) given.push(`delay=${tuples(Array.isArray(delay) ? delay : delay.points)}`);
    if (rest.loss) given.push(`loss=${tuples(rest.loss)}`);
    if (value) {
      const { attribute, points, categories } = value;
      const of = points
        ? `points=${tuples(points)}`
        : `categories=${tuples(Object.entries(categories ?? {}) as Json as Json[][])}`;
      this.classes.add("ValueGraph");
      given.push(`value=ValueGraph(${text(attribute)}, ${of})`);
    }
    if (rest.weight !== undefined) given.push(`weight=${python(rest.weight)}`);
    if (delay && !Array.isArray(delay) && delay.since) given.push(`since=${text(delay.since)}`);
    this.classes.add("Quality");
    return `Quality(${given.join(", ")})`;
  }

  private record(name: string, fields: Fields, positional: string[]): string {
    this.classes.add(name);
    const first = positional.map((each) => python(fields[each]!));
    const rest = Object.fromEntries(Object.entries(fields).filter(([each]) => !positional.includes(each)));
    return `${name}(${[...first, ...keywords(rest)].join(", ")})`;
  }

  private stream(ref: string, reader: string): string {
    const { id, port } = parseRef(ref);
    const variable = this.names.get(id);
    if (ref === "" || variable === undefined) throw new Error(`${reader}: there is no stream '${ref}'`);
    const box = boxesOf(this.network)[id];
    if (box && isRoute(box)) return `${variable}[${port}]`;
    return port ? `${variable}.port(${port})` : variable;
  }

  private variable(id: string): string {
    const wanted = id.replaceAll(".", "_");
    let name = wanted;
    for (let number = 2; this.used.has(name); number += 1) name = `${wanted}_${number}`;
    this.used.add(name);
    this.names.set(id, name);
    return name;
  }
}

const ORDERS = new Set(["order", "left", "right"]);
/** What the methods of a stream take by position, box by box. */
const POSITIONAL: Record<string, string[]> = {
  map: ["attributes"],
  unnest: ["array", "attribute"],
  bsort: ["order"],
  aggregate: ["functions", "order", "size"],
  tumble: ["functions", "group_by"],
  slide: ["functions", "size"],
  top: ["n", "by", "order", "size"],
  xsection: ["functions", "on"],
  lag: ["attributes"],
  number: ["attribute"],
  join: ["predicate"],
  asof: ["predicate"],
  resample: ["functions", "size"],
};
/** What they take as any number of arguments. */
const SPREAD: Record<string, string> = { filter: "predicates", wsort: "by", changes: "of", distinct: "of" };

function isRoute(box: Box): boolean {
  return box.box === "filter" && Array.isArray(box.predicates) && box.predicates.length > 1;
}

function refuse(rest: Fields, where: string): void {
  const [name] = Object.keys(rest);
  if (name !== undefined) throw new Error(`${where}.${name}: unknown field`);
}

function keywords(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    return [`${name}=${name === "group_by" ? tuple(value as Json[]) : python(value)}`];
  });
}

function isObject(value: Json | undefined): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function python(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return text(value);
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  const items = Object.entries(value).map(([name, each]) => `${text(name)}: ${python(each)}`);
  return `{${items.join(", ")}}`;
}

function tuple(items: Json[]): string {
  return `(${items.map(python).join(", ")}${items.length === 1 ? "," : ""})`;
}

function tuples(items: Json[][]): string {
  return `(${items.map(tuple).join(", ")}${items.length === 1 ? "," : ""})`;
}

/** A text in Python: JSON's quotes and escapes mean the same there, but for characters beyond 16 bits, which stay. */
function text(value: string): string {
  return JSON.stringify(value);
}
