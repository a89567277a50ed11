import { useEffect, useState } from "react";
import { ApiError, api, follow, tuplesOf } from "../service/api";
import type { Tuple } from "../service/types";
import { shell, useShell } from "../state/shell";
import { TupleTable } from "./TupleTable";

const SHOWN_MOST = 200;

/** What waits on an arc (peek), what passes (tap), and what an output received. */
export function Tuples() {
  const watched = useShell((state) => state.watched);
  const [mode, setMode] = useState<"peek" | "tap">("peek");
  if (watched === null) return <p className="empty">Select an arc or an output, and press “Peek and tap”.</p>;
  const isOutput = watched.startsWith("output:");
  const name = isOutput ? watched.slice(7) : watched;
  return (
    <div>
      <div className="toolbar">
        <strong className="mono">{name}</strong>
        {!isOutput && (
          <>
            <button type="button" aria-pressed={mode === "peek"} onClick={() => setMode("peek")}>
              Peek: what waits
            </button>
            <button type="button" aria-pressed={mode === "tap"} onClick={() => setMode("tap")}>
              Tap: what passes
            </button>
          </>
        )}
      </div>
      {isOutput ? (
        <Followed
          key={watched}
          path={`/v1/outputs/${encodeURIComponent(name)}/events?from=0`}
          empty="Nothing came yet."
        />
      ) : mode === "tap" ? (
        <Followed
          key={watched}
          path={`/v1/arcs/${encodeURIComponent(name)}/tap`}
          empty="Nothing passed yet. The stream is not stopped."
        />
      ) : (
        <Peeked key={watched} arc={name} />
      )}
    </div>
  );
}

function Peeked({ arc }: { arc: string }) {
  const [tuples, setTuples] = useState<Tuple[] | null>(null);
  const [count, setCount] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each press asks again
  useEffect(() => {
    let isGone = false;
    api.peek(arc).then(
      (answer) => !isGone && setTuples(tuplesOf(answer)),
      (error: ApiError) => !isGone && shell().say(error.message, "error"),
    );
    return () => {
      isGone = true;
    };
  }, [arc, count]);
  return (
    <>
      <button type="button" onClick={() => setCount(count + 1)}>
        Look again
      </button>
      {tuples === null ? (
        <p className="hint">Asking…</p>
      ) : tuples.length === 0 ? (
        <p className="empty">Nothing waits here now.</p>
      ) : (
        <TupleTable tuples={tuples} />
      )}
    </>
  );
}

/** Tuples as they come; the newest first, some hundreds of them. */
export function Followed({ path, empty }: { path: string; empty: string }) {
  const [tuples, setTuples] = useState<Tuple[]>([]);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    const gone = new AbortController();
    let timer = 0;
    const begin = () => {
      follow(
        path,
        (event, data) => {
          if (event === "missed") return;
          setTuples((before) => [...[...tuplesOf(data)].reverse(), ...before].slice(0, SHOWN_MOST));
          setFailure("");
        },
        gone.signal,
      ).then(
        () => !gone.signal.aborted && setFailure("The stream ended."),
        (error: unknown) => {
          if (gone.signal.aborted) return;
          setFailure(error instanceof ApiError ? error.message : "The stream broke off; trying again…");
          timer = window.setTimeout(begin, 3000);
        },
      );
    };
    begin();
    return () => {
      gone.abort();
      window.clearTimeout(timer);
    };
  }, [path]);
  return (
    <>
      {failure && <p className="problem">{failure}</p>}
      {tuples.length === 0 ? <p className="empty">{empty}</p> : <TupleTable tuples={tuples} />}
    </>
  );
}
