import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from "@xyflow/react";
import { memo } from "react";
import { fieldsOf, parseRef } from "../model";
import type { Breakpoint, DropBox, Sample } from "../service/types";
import { big, duration, percent, perSecond } from "../shell/numbers";
import { HOP_MS, useStepping } from "../state/breakpoints";
import { useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { useShell } from "../state/shell";

export interface ArcData extends Record<string, unknown> {
  ref: string;
  points: string[];
  crowded: boolean;
  isFirst: boolean;
  /** Whether the stream has other arcs as well. */
  isShared: boolean;
  /** Where a train that travels comes along; null if none does. */
  hop: number | null;
}

const ABOVE = 42;
const NOTHING: DropBox[] = [];
const NONE: Breakpoint[] = [];

/** An arc with its schema while a network is built, and with its figures while it runs. */
export const Arc = memo(function Arc({
  id,
  data,
  sourceX,
  sourceY,
  targetX,
  targetY,
  sourcePosition,
  targetPosition,
}: EdgeProps & { data: ArcData }) {
  const [path, middleX, middleY] = getBezierPath({
    sourceX,
    sourceY,
    targetX,
    targetY,
    sourcePosition,
    targetPosition,
  });
  // A stream with several readers says what it says where it begins: in the middle of an arc, boxes are in the way.
  const [x, y] = data.isShared ? [sourceX, sourceY - ABOVE] : [middleX, middleY];
  const isRun = useEditor((state) => state.mode === "run");
  const isChosen = useEditor((state) => state.arc === data.ref);
  const level = useLive((state) => (isRun && state.sample ? levelOf(data.ref, state.sample) : "calm"));
  const isBottleneck = useLive((state) => isRun && state.sample?.bottleneck === data.ref);
  const figures = useLive((state) => (isRun && state.sample ? arcFigures(data.ref, state.sample) : ""));
  const schema = useEditor((state) => state.schemas[data.ref]);
  const labels = useShell((state) => state.labels);
  const breakpoints = useStepping((state) => (isRun ? state.breakpoints : NONE));
  const stops = breakpoints.filter(({ arc }) => arc === data.ref);
  const isStop = stops.some(({ stop }) => stop !== null);
  const drops = useLive((state) => (isRun ? state.drops : NOTHING));
  const shed = Math.max(0, ...drops.map(({ stream, share }) => (stream === data.ref ? (share ?? 1) : 0)));
  const text = isRun ? figures : schema ? shortSchema(schema) : "";
  const says =
    data.points.length > 0 ||
    stops.length > 0 ||
    shed > 0 ||
    (labels && !data.crowded && text !== "") ||
    isBottleneck;
  const isShown = data.isFirst && (isChosen || says);
  return (
    <>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={16}
        className={`arc ${level} ${isChosen ? "chosen" : ""} ${isBottleneck ? "bottleneck" : ""} ${data.hop === null ? "" : "travelled"} ${isStop ? "stop" : ""}`}
      />
      {data.hop !== null && (
        <circle
          className="train"
          r={7}
          style={{ offsetPath: `path("${path}")`, animationDelay: `${data.hop * HOP_MS}ms` }}
        />
      )}
      {isShown && (
        <EdgeLabelRenderer>
          <div
            className={`arc-label nopan ${level} ${isChosen ? "chosen" : ""}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            title={schema ?? data.ref}
          >
            {data.points.map((point) => (
              <span key={point} className="point" title={`connection point ${point}`}>
                ◉ {point}
              </span>
            ))}
            {stops.length > 0 && (
              <span
                className={`stop-sign ${isStop ? "now" : ""}`}
                title={stops.map(({ where }) => `pauses before a tuple with ${where}`).join("\n")}
              >
                ● {isStop && "waits here"}
              </span>
            )}
            {shed > 0 && (
              <span className="point shed" title="a drop box sheds this share, as the node cannot keep up">
                ▽ sheds {percent(shed)}
              </span>
            )}
            {isBottleneck && <span className="point bad">bottleneck</span>}
            {(labels || isChosen) && text && <span>{text}</span>}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function shortSchema(schema: string): string {
  const names = fieldsOf(schema).map(([name]) => name);
  return names.length > 1 ? `${names[0]} +${names.length - 1}` : (names[0] ?? "");
}

/** How busy an arc is: a queue that waits says more than a rate. */
export function levelOf(ref: string, sample: Sample): string {
  const arc = sample.arcs[ref];
  if (arc && (arc.waiting > 10_000 || (arc.waiting > 100 && (arc.oldest_ms ?? 0) > 10_000))) return "hot";
  if (arc && arc.waiting > 100) return "warm";
  return rateOf(ref, sample) > 0 ? "flowing" : "calm";
}

export function rateOf(ref: string, sample: Sample): number {
  const { id, port } = parseRef(ref);
  const arc = sample.arcs[ref];
  if (arc && arc.rate > 0) return arc.rate;
  const input = sample.inputs[id];
  if (input) return input.rate;
  return port === 0 ? (sample.boxes[id]?.emitRate ?? 0) : 0;
}

export function arcFigures(ref: string, sample: Sample): string {
  const arc = sample.arcs[ref];
  const rate = rateOf(ref, sample);
  const parts = rate > 0 || !arc ? [perSecond(rate)] : [];
  if (arc && arc.waiting > 0) parts.push(`${big(arc.waiting)} wait`);
  if (arc?.oldest_ms && arc.waiting > 0) parts.push(duration(arc.oldest_ms));
  return parts.join(" · ") || "0/s";
}
