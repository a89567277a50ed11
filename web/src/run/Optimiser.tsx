import { useCallback, useEffect, useMemo, useState } from "react";
import { boundsOf, placements } from "../canvas/geometry";
import { signOf, toneOf } from "../canvas/glyphs";
import { changesBetween, emptyDocument, type ItemId, itemKey, type Network, viewOf } from "../model";
import { type ApiError, api } from "../service/api";
import type { Optimised } from "../service/types";
import { cost } from "../shell/numbers";

const WORDS = { "+": "is new", "-": "is gone", "~": "reads or does something else" };

/** What the optimiser did: the network as it was deployed and as it runs, and each switch with its reason. */
export function Optimiser() {
  const [report, setReport] = useState<Optimised | null>(null);
  const [failure, setFailure] = useState("");
  const load = useCallback(() => {
    api.optimiser().then(
      (answer) => {
        setReport(answer);
        setFailure("");
      },
      (error: ApiError) => setFailure(error.message),
    );
  }, []);
  useEffect(() => {
    load();
    const timer = window.setInterval(load, 4000);
    return () => window.clearInterval(timer);
  }, [load]);
  if (failure) return <p className="problem">{failure}</p>;
  if (!report) return <p className="hint">Asking…</p>;
  const { enabled, drawn, running, switches } = report;
  const changes = changesBetween(drawn, running).filter(({ kind }) => kind === "box");
  const changed = new Set(changes.map(({ name }) => name));
  if (!enabled && switches.length === 0)
    return (
      <p className="empty">
        The optimiser is off. A node with <span className="mono">node.optimise: true</span> in its settings
        rewrites its network by what it measures.
      </p>
    );
  return (
    <div data-testid="optimiser">
      {switches.length === 0 ? (
        <p className="empty">
          {changes.length === 0
            ? "The optimiser found nothing to improve so far: the network runs as deployed."
            : "Rewritten before its first tuple. Nothing that was measured since asked for more."}
        </p>
      ) : (
        <ol className="list">
          {switches.map((each, index) => (
            <li key={`${index} ${each.says.join()}`}>
              <strong>
                {cost(each.cost_before)} → {cost(each.cost_after)} a tuple
              </strong>
              <span className="subtitle"> switched in {Math.round(each.switch_ms)} ms</span>
              <ul>
                {each.says.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )}
      {changes.length > 0 && (
        <>
          <ul className="changes">
            {changes.map(({ sign, name, fields }) => (
              <li key={name}>
                <span className="mono">
                  {sign} {name}
                </span>{" "}
                <span className="subtitle">
                  {WORDS[sign]}
                  {fields.length > 0 && `: ${fields.join(", ")}`}
                </span>
              </li>
            ))}
          </ul>
          <div className="before-after">
            <Sketch title="Before: as deployed" network={drawn} changed={changed} />
            <Sketch title="After: as it runs" network={running} changed={changed} />
          </div>
        </>
      )}
    </div>
  );
}

/** A small drawing of a network, with the boxes that differ marked. */
function Sketch({ title, network, changed }: { title: string; network: Network; changed: Set<string> }) {
  const { view, rects, bounds } = useMemo(() => {
    const document = emptyDocument(network);
    const level = viewOf(document, "", true);
    const places = placements(document, level);
    return { view: level, rects: places, bounds: boundsOf(places.values()) };
  }, [network]);
  const box = `${bounds.x - 12} ${bounds.y - 12} ${bounds.width + 24} ${bounds.height + 24}`;
  return (
    <figure className="sketch">
      <figcaption>{title}</figcaption>
      <svg viewBox={box} role="img" aria-label={`${title}: ${Object.keys(network.boxes ?? {}).join(", ")}`}>
        {view.edges.map((edge) => {
          const [from, to] = [rects.get(edge.from)!, rects.get(edge.to)!];
          return (
            <line
              key={edge.id}
              x1={from.x + from.width}
              y1={from.y + from.height / 2}
              x2={to.x}
              y2={to.y + to.height / 2}
            />
          );
        })}
        {view.nodes.map((node) => {
          const rect = rects.get(node.id)!;
          const kind = network.boxes?.[itemKey(node.id as ItemId)]?.box ?? node.kind;
          const isChanged = node.kind === "box" && changed.has(node.key);
          return (
            <g key={node.id} className={`tone-${toneOf(kind)} ${isChanged ? "changed" : ""}`}>
              <rect x={rect.x} y={rect.y} width={rect.width} height={rect.height} rx={10} />
              <text x={rect.x + 14} y={rect.y + rect.height / 2} dominantBaseline="central">
                {signOf(kind)} {node.title.slice(0, 16)}
              </text>
            </g>
          );
        })}
      </svg>
    </figure>
  );
}
