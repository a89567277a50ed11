// Automatic layout by ELK, in a worker, so that the page stays fluid meanwhile.

import type { ELK, ElkNode } from "elkjs/lib/elk-api";
import { type ItemId, type Position, type View, viewOf } from "../model";
import { currentDocument, editor } from "../state/editor";
import { heightOf, portY, widthOf } from "./geometry";

let elk: Promise<ELK> | null = null;

function engine(): Promise<ELK> {
  elk ??= Promise.all([import("elkjs/lib/elk-api"), import("elkjs/lib/elk-worker.min.js?url")]).then(
    ([{ default: Elk }, { default: address }]) => new Elk({ workerFactory: () => new Worker(address) }),
  );
  return elk;
}

export async function arranged(view: View): Promise<Record<string, Position>> {
  const ports = new Map(view.nodes.map((node) => [node.id, node]));
  const graph: ElkNode = {
    id: "root",
    layoutOptions: {
      "elk.algorithm": "layered",
      "elk.direction": "RIGHT",
      "elk.layered.spacing.nodeNodeBetweenLayers": "64",
      "elk.spacing.nodeNode": "36",
      "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
      "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
      // A network may have parts that nothing joins: one below the other.
      "elk.separateConnectedComponents": "true",
      ...(view.nodes.length > 400
        ? { "elk.layered.nodePlacement.strategy": "BRANDES_KOEPF", "elk.layered.thoroughness": "3" }
        : {}),
    },
    children: view.nodes.map((node) => {
      const height = heightOf(node);
      return {
        id: node.id,
        width: widthOf(node),
        height,
        layoutOptions: { "elk.portConstraints": "FIXED_POS" },
        ports: [
          ...Array.from({ length: node.inputs }, (_, index) => ({
            id: `${node.id}<${index}`,
            x: 0,
            y: portY(index, node.inputs, height),
          })),
          ...node.outputs.map((_, index) => ({
            id: `${node.id}>${index}`,
            x: widthOf(node),
            y: portY(index, node.outputs.length, height),
          })),
        ],
      };
    }),
    edges: view.edges
      .filter((edge) => ports.has(edge.from) && ports.has(edge.to))
      .map((edge) => ({
        id: edge.id,
        sources: [`${edge.from}>${edge.outputPort}`],
        targets: [`${edge.to}<${edge.inputPort}`],
      })),
  };
  const made = await (await engine()).layout(graph);
  return Object.fromEntries(
    (made.children ?? []).map((child) => [child.id, { x: Math.round(child.x!), y: Math.round(child.y!) }]),
  );
}

/** Arrange the level in view; one step of the history. */
export async function arrangeLevel(): Promise<void> {
  const { group, flat } = editor();
  const positions = await arranged(viewOf(currentDocument(), group, flat));
  const own = Object.fromEntries(Object.entries(positions).filter(([id]) => !/^(from|to)\//.test(id)));
  editor().run({ type: "move", positions: own as Record<ItemId, Position> });
}
