import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { type ItemId, inputPortName, itemKey, outputPortName, type ViewNode } from "../model";
import { big, cost, duration, perSecond } from "../shell/numbers";
import { useDocument, useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { portY } from "./geometry";
import { signOf, toneOf } from "./glyphs";

export interface BoxData extends Record<string, unknown> {
  node: ViewNode;
  height: number;
  width: number;
}

/** A box, an input, an output or a superbox, with its ports. */
export const BoxNode = memo(function BoxNode({ data, selected }: NodeProps & { data: BoxData }) {
  const { node, height, width } = data;
  const document = useDocument();
  const box = node.kind === "box" ? document.network.boxes?.[node.key] : undefined;
  const type = box?.box ?? (node.subtitle === "stored table" ? "table" : node.kind);
  const problems = useEditor((state) => state.problems.filter((each) => each.item === node.id).length);
  return (
    <div
      className={`node tone-${toneOf(type)} ${node.kind} ${selected ? "selected" : ""} ${problems ? "faulty" : ""}`}
      style={{ width, height }}
      title={box?.description ? String(box.description) : undefined}
    >
      {Array.from({ length: node.inputs }, (_, port) => (
        <Handle
          key={port}
          id={`in${port}`}
          type="target"
          position={Position.Left}
          style={{ top: portY(port, node.inputs, height) }}
          isConnectableStart={false}
          title={box ? inputPortName(box, port) : "input"}
        />
      ))}
      <span className="sign" aria-hidden="true">
        {signOf(type)}
      </span>
      <span className="words">
        <span className="title">{node.title}</span>
        <span className="subtitle">
          {node.kind === "group" ? `${node.subtitle} · ${node.size} boxes` : node.subtitle}
        </span>
      </span>
      <Figures node={node} />
      {problems > 0 && (
        <span className="badge bad" title={`${problems} problems`}>
          {problems}
        </span>
      )}
      {node.outputs.map((ref, port) => (
        <Handle
          key={ref}
          id={`out${port}`}
          type="source"
          position={Position.Right}
          style={{ top: portY(port, node.outputs.length, height) }}
          title={box ? outputPortName(box, port) : ref}
          isConnectableEnd={false}
        />
      ))}
    </div>
  );
});

/** What a box does at the moment, where a network runs. */
function Figures({ node }: { node: ViewNode }) {
  const isRun = useEditor((state) => state.mode === "run");
  const text = useLive((state) => (isRun && state.sample ? figuresOf(node, state.sample) : ""));
  const shed = useLive((state) =>
    isRun ? state.drops.filter((each) => node.outputs.includes(each.stream)).length : 0,
  );
  if (!isRun) return null;
  return (
    <span className="figures">
      {text}
      {shed > 0 && <span className="badge shed">sheds</span>}
    </span>
  );
}

function figuresOf(
  node: ViewNode,
  sample: NonNullable<ReturnType<typeof useLive.getState>["sample"]>,
): string {
  const key = itemKey(node.id as ItemId);
  if (node.kind === "input") {
    const input = sample.inputs[key];
    return input ? perSecond(input.rate) : "";
  }
  if (node.kind === "output") {
    const output = sample.outputs[key];
    if (!output) return "";
    return `${big(output.tuples)} tuples${output.p95 === null ? "" : ` · ${duration(output.p95)}`}`;
  }
  const box = sample.boxes[key];
  if (node.kind !== "box" || !box) return "";
  return `${perSecond(box.rate)}${box.cost_us === null ? "" : ` · ${cost(box.cost_us)}`}`;
}
