import { type KeyboardEvent, type PointerEvent, useId, useRef, useState } from "react";
import {
  type GraphKind,
  insertedPoint,
  LIMITS,
  movedPoint,
  niceStep,
  type Point,
  removedPoint,
  snappedTo,
  tidyNumber,
} from "../model";

const WIDTH = 320;
const HEIGHT = 168;
const LEFT = 34;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 28;
const UTILITY_STEP = 0.05;

interface Props {
  kind: GraphKind;
  points: Point[];
  unit: string;
  /** How often each position occurred lately, drawn behind the graph. */
  distribution?: [number, number][];
  /** Where the output is at the moment. */
  present?: number | null;
  onChange(points: Point[]): void;
  onSettle(): void;
}

/** A graph of utility: points are dragged, moved by arrows, or entered; a press on the line adds one. */
export function GraphEditor({
  kind,
  points,
  unit,
  distribution = [],
  present = null,
  onChange,
  onSettle,
}: Props) {
  const svg = useRef<SVGSVGElement>(null);
  const title = useId();
  const [held, setHeld] = useState<{ index: number; least: number; most: number } | null>(null);
  const [chosen, setChosen] = useState(0);
  const range = held ?? rangeOf(points, kind);
  const step = niceStep(range.most - range.least, 20);
  const x = (value: number) =>
    LEFT + ((value - range.least) / (range.most - range.least)) * (WIDTH - LEFT - RIGHT);
  const y = (utility: number) => TOP + (1 - utility) * (HEIGHT - TOP - BOTTOM);
  const place = (event: PointerEvent): Point => {
    const box = svg.current!.getBoundingClientRect();
    const px = ((event.clientX - box.left) / box.width) * WIDTH;
    const py = ((event.clientY - box.top) / box.height) * HEIGHT;
    const value = range.least + ((px - LEFT) / (WIDTH - LEFT - RIGHT)) * (range.most - range.least);
    const utility = 1 - (py - TOP) / (HEIGHT - TOP - BOTTOM);
    // Alt leaves the grid.
    return event.altKey ? [value, utility] : [snappedTo(value, step), snappedTo(utility, UTILITY_STEP)];
  };
  const drag = (event: PointerEvent) => {
    if (held) onChange(movedPoint(points, held.index, place(event), kind));
  };
  const release = () => {
    if (held) onSettle();
    setHeld(null);
  };
  const begin = (event: PointerEvent, index: number) => {
    event.stopPropagation();
    event.currentTarget.setPointerCapture(event.pointerId);
    setChosen(index);
    setHeld({ index, least: range.least, most: range.most });
  };
  const insert = (event: PointerEvent) => {
    const [made, index] = insertedPoint(points, place(event)[0], kind);
    onChange(made);
    onSettle();
    setChosen(index);
  };
  const press = (event: KeyboardEvent, index: number) => {
    const [px, py] = points[index]!;
    const many = event.shiftKey ? 5 : 1;
    const to: Point | null =
      event.key === "ArrowLeft"
        ? [px - step * many, py]
        : event.key === "ArrowRight"
          ? [px + step * many, py]
          : event.key === "ArrowUp"
            ? [px, py + UTILITY_STEP * many]
            : event.key === "ArrowDown"
              ? [px, py - UTILITY_STEP * many]
              : null;
    if (to) onChange(movedPoint(points, index, to, kind));
    else if (event.key === "Delete" || event.key === "Backspace") onChange(removedPoint(points, index));
    else if (event.key === "Enter" || event.key === "+") {
      const next = points[index + 1];
      onChange(insertedPoint(points, next ? (px + next[0]) / 2 : px + step * 2, kind)[0]);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const line = [
    [range.least, points[0]?.[1] ?? 1],
    ...points,
    [range.most, points.at(-1)?.[1] ?? 1],
  ] as Point[];
  const highest = Math.max(1, ...distribution.map(([, count]) => count));
  const ticks = ticksOf(range.least, range.most);
  return (
    <div className="graph">
      <svg
        ref={svg}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="group"
        aria-labelledby={title}
        onPointerMove={drag}
        onPointerUp={release}
        onDoubleClick={(event) => insert(event as unknown as PointerEvent)}
      >
        <title id={title}>{`utility by ${kind}`}</title>
        {[0, 0.5, 1].map((utility) => (
          <g key={utility}>
            <line className="grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(utility)} y2={y(utility)} />
            <text x={LEFT - 5} y={y(utility) + 3.5} textAnchor="end">
              {utility}
            </text>
          </g>
        ))}
        {ticks.map((tick) => (
          <g key={tick}>
            <line className="grid" x1={x(tick)} x2={x(tick)} y1={TOP} y2={HEIGHT - BOTTOM} />
            <text x={x(tick)} y={HEIGHT - BOTTOM + 12} textAnchor="middle">
              {tick}
            </text>
          </g>
        ))}
        <text x={WIDTH - RIGHT} y={HEIGHT - 3} textAnchor="end">
          {unit}
        </text>
        {distribution
          .filter(([at]) => at >= range.least && at <= range.most)
          .map(([at, count]) => (
            <rect
              key={at}
              className="bar"
              x={x(at) - 2}
              width={4}
              y={y(count / highest)}
              height={HEIGHT - BOTTOM - y(count / highest)}
            />
          ))}
        {present !== null && present >= range.least && present <= range.most && (
          <line className="present" x1={x(present)} x2={x(present)} y1={TOP} y2={HEIGHT - BOTTOM} />
        )}
        <polyline className="graph-line" points={line.map(([px, py]) => `${x(px)},${y(py)}`).join(" ")} />
        {points.map(([px, py], index) => (
          <circle
            key={index}
            className={index === chosen ? "knob chosen" : "knob"}
            cx={x(px)}
            cy={y(py)}
            r={6}
            tabIndex={0}
            role="slider"
            aria-label={`point ${index + 1} of ${points.length}`}
            aria-valuemin={0}
            aria-valuemax={1}
            aria-valuenow={py}
            aria-valuetext={`utility ${py} at ${px} ${unit}`}
            onPointerDown={(event) => begin(event, index)}
            onKeyDown={(event) => press(event, index)}
            onKeyUp={onSettle}
            onFocus={() => setChosen(index)}
          />
        ))}
      </svg>
      <table className="points">
        <thead>
          <tr>
            <th scope="col">{unit}</th>
            <th scope="col">utility</th>
            <th scope="col">
              <span className="unseen">remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {points.map((point, index) => (
            <tr key={index} className={index === chosen ? "chosen" : ""}>
              {([0, 1] as const).map((axis) => (
                <td key={axis}>
                  <NumberCell
                    label={`${axis === 0 ? unit : "utility"} of point ${index + 1}`}
                    value={point[axis]}
                    onCommit={(value) => {
                      const to: Point = axis === 0 ? [value, point[1]] : [point[0], value];
                      onChange(movedPoint(points, index, to, kind));
                      onSettle();
                    }}
                  />
                </td>
              ))}
              <td>
                <button
                  type="button"
                  className="quiet"
                  aria-label={`remove point ${index + 1}`}
                  disabled={points.length < 2}
                  onClick={() => onChange(removedPoint(points, index))}
                >
                  ×
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <button
        type="button"
        className="add"
        onClick={() => {
          const last = points.at(-1)!;
          onChange(insertedPoint(points, Math.min(LIMITS[kind].most, last[0] + step * 4), kind)[0]);
        }}
      >
        + point
      </button>
    </div>
  );
}

function NumberCell({
  label,
  value,
  onCommit,
}: {
  label: string;
  value: number;
  onCommit(value: number): void;
}) {
  const [text, setText] = useState<string | null>(null);
  return (
    <input
      className="mono"
      inputMode="decimal"
      aria-label={label}
      value={text ?? String(value)}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        const number = Number(text);
        if (text !== null && text.trim() !== "" && Number.isFinite(number)) onCommit(number);
        setText(null);
      }}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}

function rangeOf(points: Point[], kind: GraphKind): { least: number; most: number } {
  if (kind === "loss") return { least: 0, most: 1 };
  const first = points[0]?.[0] ?? 0;
  const last = points.at(-1)?.[0] ?? 1;
  const span = Math.max(last - first, Math.abs(last) * 0.2, 1);
  if (kind === "delay") return { least: 0, most: tidyNumber(last > 0 ? last * 1.25 : 1) };
  return { least: tidyNumber(first - span * 0.15), most: tidyNumber(last + span * 0.15) };
}

function ticksOf(least: number, most: number): number[] {
  const step = niceStep(most - least, 5);
  const ticks: number[] = [];
  for (let tick = Math.ceil(least / step) * step; tick <= most + step * 1e-6; tick += step)
    ticks.push(tidyNumber(tick));
  return ticks;
}
