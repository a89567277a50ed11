// What one level of the hierarchy shows: its boxes, the superboxes below it, and the streams that cross its border.

import { inputPorts, outputPorts } from "./catalogue";
import {
  boxesOf,
  type EditorDocument,
  groupPaths,
  groupsOf,
  inputsOf,
  outputsOf,
  pointsOf,
} from "./document";
import { type ItemId, isInside, itemId, lastPart, parentOf } from "./items";
import { parseRef, sourcesOf } from "./refs";

export type NodeId = ItemId | `from/${string}` | `to/${string}`;

export interface ViewNode {
  id: NodeId;
  kind: "input" | "box" | "output" | "group" | "from" | "to";
  key: string;
  title: string;
  subtitle: string;
  /** The stream at each output port; an input port has the port's number as its name. */
  outputs: string[];
  inputs: number;
  /** How many boxes a group has, in all its parts. */
  size?: number;
}

export interface ViewEdge {
  id: string;
  from: NodeId;
  outputPort: number;
  to: NodeId;
  inputPort: number;
  /** The stream that it carries. */
  ref: string;
  points: string[];
}

export interface View {
  nodes: ViewNode[];
  edges: ViewEdge[];
}

/** The level of a group, or with `flat` all boxes of the network. */
export function viewOf({ network }: EditorDocument, group: string, flat = false): View {
  const boxes = boxesOf(network);
  const isHere = (id: string) => (flat ? true : parentOf(id) === group);
  /** The node that stands for a stream's origin or reader on this level; null if it is outside. */
  const standIn = (id: string): ItemId | null => {
    if (flat || parentOf(id) === group) return itemId("box", id);
    if (!isInside(id, group)) return null;
    const rest = group === "" ? id : id.slice(group.length + 1);
    const head = rest.slice(0, rest.indexOf("."));
    return itemId("group", group ? `${group}.${head}` : head);
  };
  const nodes = new Map<NodeId, ViewNode>();
  const top = flat || group === "";
  if (top)
    for (const [name, input] of Object.entries(inputsOf(network)))
      nodes.set(itemId("input", name), {
        id: itemId("input", name),
        kind: "input",
        key: name,
        title: name,
        subtitle: input.table ? "stored table" : "input",
        outputs: [name],
        inputs: 0,
      });
  for (const [id, box] of Object.entries(boxes))
    if (isHere(id))
      nodes.set(itemId("box", id), {
        id: itemId("box", id),
        kind: "box",
        key: id,
        title: flat ? id : lastPart(id),
        subtitle: box.tag ? `${box.box} · ${box.tag}` : box.box,
        outputs: Array.from({ length: outputPorts(box) }, (_, port) => (port ? `${id}.${port}` : id)),
        inputs: inputPorts(box, sourcesOf(box).length),
      });
  if (!flat)
    for (const path of groupPaths(network))
      if (parentOf(path) === group)
        nodes.set(itemId("group", path), {
          id: itemId("group", path),
          kind: "group",
          key: path,
          title: lastPart(path),
          subtitle: groupsOf(network)[path]?.tag || "group",
          outputs: [],
          inputs: 0,
          size: Object.keys(boxes).filter((id) => isInside(id, path)).length,
        });
  if (top)
    for (const name of Object.keys(outputsOf(network)))
      nodes.set(itemId("output", name), {
        id: itemId("output", name),
        kind: "output",
        key: name,
        title: name,
        subtitle: "output",
        outputs: [],
        inputs: 1,
      });

  const edges: ViewEdge[] = [];
  const points = new Map<string, string[]>();
  for (const [name, { at }] of Object.entries(pointsOf(network)))
    points.set(at, [...(points.get(at) ?? []), name]);
  const origin = (text: string): [NodeId, number] | null => {
    const { id, port } = parseRef(text);
    if (id in boxes) {
      const node = standIn(id);
      if (node === null) return [outside("from", text), 0];
      if (nodes.get(node)?.kind === "group") return [node, portOf(nodes.get(node)!.outputs, text)];
      return [node, port];
    }
    if (!(id in inputsOf(network))) return null;
    return top ? [itemId("input", id), 0] : [outside("from", text), 0];
  };
  const outside = (way: "from" | "to", text: string): NodeId => {
    const id: NodeId = `${way}/${text}`;
    if (!nodes.has(id))
      nodes.set(id, {
        id,
        kind: way,
        key: text,
        title: text,
        subtitle: way === "from" ? "from outside" : "goes outside",
        outputs: way === "from" ? [text] : [],
        inputs: way === "to" ? 1 : 0,
      });
    return id;
  };
  const link = (text: string, reader: NodeId | null, port: number, name: string) => {
    if (text === "") return;
    const { id } = parseRef(text);
    const isOurs = id in boxes ? standIn(id) !== null : top;
    if (reader === null && !isOurs) return;
    // What a superbox reads of its own boxes is no arc on this level, and no port.
    if (id in boxes && reader !== null && standIn(id) === reader) return;
    const begin = origin(text);
    if (begin === null) return;
    let target = reader;
    let targetPort = port;
    if (target === null) [target, targetPort] = [outside("to", text), 0];
    if (begin[0] === target) return;
    const node = nodes.get(target);
    if (node?.kind === "group") {
      targetPort = node.inputs;
      const existing = edges.find((edge) => edge.to === target && edge.ref === text);
      if (existing) return;
      node.inputs += 1;
    }
    const key = `${text}>${target}:${targetPort}`;
    if (target.startsWith("to/") && edges.some((edge) => edge.id === key)) return;
    edges.push({
      id: reader === null ? key : `${text}>${name}:${port}`,
      from: begin[0],
      outputPort: begin[1],
      to: target,
      inputPort: targetPort,
      ref: text,
      points: points.get(text) ?? [],
    });
  };
  for (const [id, box] of Object.entries(boxes))
    for (const [port, text] of sourcesOf(box).entries()) link(text, standIn(id), port, itemId("box", id));
  for (const [name, output] of Object.entries(outputsOf(network)))
    link(output.from, top ? itemId("output", name) : null, 0, itemId("output", name));
  return { nodes: [...nodes.values()], edges };
}

/** The port of a superbox by which a stream leaves; a new one if it is the first that asks. */
function portOf(outputs: string[], text: string): number {
  const found = outputs.indexOf(text);
  if (found >= 0) return found;
  outputs.push(text);
  return outputs.length - 1;
}
