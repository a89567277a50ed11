import { type ReactNode, useCallback, useEffect, useState } from "react";
import { type ApiError, api, tuplesOf } from "../service/api";
import type { Tuple } from "../service/types";
import { big, duration, percent } from "../shell/numbers";
import { editor, useEditor } from "../state/editor";
import { askDrops, useLive } from "../state/live";
import { useMay, useNode } from "../state/node";
import { type Tab, useShell } from "../state/shell";
import { Breakpoints } from "./Breakpoints";
import { Charts } from "./Charts";
import { Optimiser } from "./Optimiser";
import { Queries } from "./Queries";
import { Tuples } from "./Tuples";
import { TupleTable } from "./TupleTable";

/** The drawer below the canvas: problems while building, and what runs while running. */
export function Drawer() {
  const tab = useShell((state) => state.tab);
  const show = useShell((state) => state.show);
  const isRun = useEditor((state) => state.mode === "run");
  const problems = useEditor((state) => state.problems.length);
  const isOwner = useMay("owner");
  const tabs: [Tab, string][] = [
    ["problems", problems > 0 ? `Problems (${problems})` : "Problems"],
    ...(isRun
      ? ([
          ["charts", "Charts"],
          ["tuples", "Tuples"],
          ["queries", "Queries"],
          ["breakpoints", "Breakpoints"],
          ["dropboxes", "Drop boxes"],
          ["optimiser", "Optimiser"],
          ["quarantine", "Quarantine"],
          ...(isOwner ? [["events", "Events"] as [Tab, string]] : []),
        ] as [Tab, string][])
      : []),
  ];
  const open = tabs.some(([name]) => name === tab) ? tab : null;
  return (
    <section className={`drawer ${open ? "open" : ""}`} aria-label="drawer">
      <div className="tabs-bar">
        <div className="tabs" role="tablist" aria-label="drawer">
          {tabs.map(([name, title]) => (
            <button
              key={name}
              type="button"
              role="tab"
              aria-selected={open === name}
              className={name === "problems" && problems > 0 ? "bad" : ""}
              onClick={() => show(open === name ? null : name)}
            >
              {title}
            </button>
          ))}
        </div>
        <span className="grow" />
        {open && (
          <button type="button" className="quiet" aria-label="close the drawer" onClick={() => show(null)}>
            ×
          </button>
        )}
      </div>
      {open && (
        <div
          className="drawer-body"
          role="tabpanel"
          aria-label={open}
          tabIndex={0}
          data-testid={`drawer-${open}`}
        >
          {CONTENT[open]()}
        </div>
      )}
    </section>
  );
}

const CONTENT: Record<Tab, () => ReactNode> = {
  problems: () => <ProblemList />,
  charts: () => <Charts />,
  tuples: () => <Tuples />,
  queries: () => <Queries />,
  breakpoints: () => <Breakpoints />,
  optimiser: () => <Optimiser />,
  dropboxes: () => <DropBoxes />,
  quarantine: () => <Asked ask={() => api.quarantine()} empty="No tuple is in quarantine." />,
  events: () => <Events />,
};

function ProblemList() {
  const problems = useEditor((state) => state.problems);
  const checking = useEditor((state) => state.checking);
  if (checking === "offline")
    return <p className="problem">The node does not answer, so the network is not checked.</p>;
  if (problems.length === 0) return <p className="empty">The node's checker finds nothing wrong.</p>;
  return (
    <ul className="list">
      {problems.map((problem) => (
        <li key={`${problem.path} ${problem.what}`}>
          <button type="button" className="item" onClick={() => problem.item && editor().goTo(problem.item)}>
            <span className="mono title">{problem.path || "network"}</span>
            <span>
              {problem.what}
              {problem.expected && <span className="subtitle"> Expected {problem.expected}.</span>}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function DropBoxes() {
  const drops = useLive((state) => state.drops);
  const withdrawn = useLive((state) => state.withdrawn);
  useEffect(() => void askDrops(), []);
  const boxes = [...drops, ...withdrawn];
  if (boxes.length === 0)
    return (
      <p className="empty">
        Nothing is shed. When the node cannot keep up, it puts drop boxes where they cost least.
      </p>
    );
  return (
    <table>
      <thead>
        <tr>
          {["stream", "share", "where", "arrived", "shed", "in place"].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {boxes.map((each) => (
          <tr key={each.number} className={each.until === null ? "" : "past"}>
            <td>
              <button type="button" className="link mono" onClick={() => editor().selectArc(each.stream)}>
                {each.stream}
              </button>
            </td>
            <td>{each.share === null ? "—" : percent(each.share)}</td>
            <td className="mono">{each.where || "at random"}</td>
            <td>{big(each.arrived)}</td>
            <td>{big(each.shed)}</td>
            <td>
              {each.until === null
                ? "now"
                : each.since === null
                  ? ""
                  : `for ${duration((each.until - each.since) / 1000)}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What a call answers, as a table that can be asked for again. */
function Asked({ ask, empty }: { ask: () => Promise<unknown>; empty: string }) {
  const [tuples, setTuples] = useState<Tuple[] | null>(null);
  const [failure, setFailure] = useState("");
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once, and at each press
  const load = useCallback(() => {
    ask().then(
      (answer) => {
        setTuples(tuplesOf(answer));
        setFailure("");
      },
      (error: ApiError) => setFailure(error.message),
    );
  }, []);
  useEffect(load, [load]);
  return (
    <>
      <button type="button" onClick={load}>
        Look again
      </button>
      {failure && <p className="problem">{failure}</p>}
      {tuples?.length === 0 && <p className="empty">{empty}</p>}
      {tuples && tuples.length > 0 && <TupleTable tuples={tuples} />}
    </>
  );
}

/** Who changed what, and what went wrong. */
function Events() {
  const error = useNode((state) => state.info?.error);
  return (
    <>
      {error && <p className="problem">{error}</p>}
      <Asked ask={() => api.audit()} empty="Nothing was changed yet." />
    </>
  );
}
