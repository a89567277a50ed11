import { useState } from "react";
import { ExpressionField } from "../build/ExpressionField";
import { attributesOf, freeName } from "../model";
import { ApiError, api } from "../service/api";
import type { Breakpoint } from "../service/types";
import { askBreakpoints, useStepping } from "../state/breakpoints";
import { editor, useEditor } from "../state/editor";
import { useMay } from "../state/node";
import { shell } from "../state/shell";
import { TupleTable } from "./TupleTable";

/** All breakpoints, and the tuple that the node waits before. */
export function Breakpoints() {
  const breakpoints = useStepping((state) => state.breakpoints);
  if (breakpoints.length === 0)
    return (
      <p className="empty">
        No breakpoint is set. Select an arc, and enter a predicate: the node pauses before the train that
        would take such a tuple.
      </p>
    );
  return (
    <div>
      {breakpoints.map((each) => (
        <BreakpointRow key={each.name} breakpoint={each} isNamed />
      ))}
    </div>
  );
}

/** What the inspector has of breakpoints on an arc: those that are set, and a field for another. */
export function ArcBreakpoints({ arc }: { arc: string }) {
  const all = useStepping((state) => state.breakpoints);
  const schema = useEditor((state) => state.schemas[arc]);
  const mayOperate = useMay("operator");
  const [where, setWhere] = useState("");
  const [failure, setFailure] = useState("");
  const own = all.filter((each) => each.arc === arc);
  const add = async () => {
    const name = freeName("stop", (text) => all.some((each) => each.name === text));
    try {
      await api.setBreakpoint(name, arc, where.trim() || "true");
      setWhere("");
      setFailure("");
      await askBreakpoints();
    } catch (error) {
      setFailure(error instanceof ApiError ? `${error.message}. Expected ${error.hint}.` : String(error));
    }
  };
  return (
    <section data-testid="arc-breakpoints">
      <h3>Breakpoints</h3>
      <p className="hint">The node pauses before the train that would take a tuple like that.</p>
      {own.map((each) => (
        <BreakpointRow key={each.name} breakpoint={each} />
      ))}
      {mayOperate && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void add();
          }}
        >
          <ExpressionField
            label="predicate of a breakpoint"
            value={where}
            placeholder="any tuple"
            attributes={attributesOf([schema])}
            isFaulty={failure !== ""}
            onChange={(text) => {
              setWhere(text);
              setFailure("");
            }}
          />
          {failure && (
            <p className="problem" role="alert">
              {failure}
            </p>
          )}
          <button type="submit" className="add">
            + breakpoint
          </button>
        </form>
      )}
    </section>
  );
}

function BreakpointRow({ breakpoint, isNamed = false }: { breakpoint: Breakpoint; isNamed?: boolean }) {
  const mayOperate = useMay("operator");
  const { name, arc, where, stops, stop, problem } = breakpoint;
  const remove = () =>
    api.removeBreakpoint(name).then(askBreakpoints, (error: ApiError) => shell().say(error.message, "error"));
  return (
    <>
      <div className="row">
        <button type="button" className="item" onClick={() => editor().selectArc(arc)}>
          <span className="title">
            <span className={`stop-sign ${stop ? "now" : ""}`} aria-hidden="true">
              ●
            </span>{" "}
            <span className="mono">
              {isNamed ? `${arc}: ` : ""}
              {where}
            </span>
          </span>
          <span className="subtitle">
            {problem ||
              (stop ? "the node waits here" : `has stopped ${stops === 1 ? "once" : `${stops} times`}`)}
          </span>
        </button>
        {mayOperate && (
          <button type="button" aria-label={`remove breakpoint ${name}`} onClick={() => void remove()}>
            Remove
          </button>
        )}
      </div>
      {stop && isNamed && <TupleTable tuples={[stop.tuple]} />}
    </>
  );
}
