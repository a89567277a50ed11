import { useCallback, useEffect, useState } from "react";
import { fieldsOf, type Network, parseText, writeYaml } from "../model";
import { ApiError, api } from "../service/api";
import type { Attached } from "../service/types";
import { useDocument } from "../state/editor";
import { useMay } from "../state/node";
import { shell } from "../state/shell";
import { Followed } from "./Tuples";

/** Ad hoc queries: they begin with the history of a connection point, and go on with what comes. */
export function Queries() {
  const [queries, setQueries] = useState<Attached[]>([]);
  const [shown, setShown] = useState<string | null>(null);
  const { network } = useDocument();
  const mayAttach = useMay("operator");
  const load = useCallback(() => {
    api.queries().then(setQueries, (error: ApiError) => shell().say(error.message, "error"));
  }, []);
  useEffect(() => {
    load();
    const timer = window.setInterval(load, 4000);
    return () => window.clearInterval(timer);
  }, [load]);
  const points = Object.keys(network.connection_points ?? {});
  return (
    <div>
      <div className="toolbar">
        {mayAttach &&
          points.map((point) => (
            <button key={point} type="button" onClick={() => shell().open({ type: "query", point })}>
              Query {point}
            </button>
          ))}
        {points.length === 0 && (
          <span className="hint">Queries attach at connection points: add one on an arc, and deploy.</span>
        )}
      </div>
      {queries.length === 0 && <p className="empty">No query is attached.</p>}
      {queries.map(({ name, error }) => (
        <div key={name} className="row">
          <button type="button" className="item" onClick={() => setShown(shown === name ? null : name)}>
            <span className="title mono">{name}</span>
            <span className="subtitle">
              {error ?? (shown === name ? "hide its answers" : "show its answers")}
            </span>
          </button>
          {mayAttach && (
            <button
              type="button"
              onClick={() =>
                api.detach(name).then(load, (error: ApiError) => shell().say(error.message, "error"))
              }
            >
              Detach
            </button>
          )}
        </div>
      ))}
      {queries
        .filter(({ name }) => name === shown)
        .flatMap(({ outputs }) => outputs)
        .map((output) => (
          <Followed
            key={output}
            path={`/v1/outputs/${encodeURIComponent(output)}/events?from=0`}
            empty="No answer yet."
          />
        ))}
    </div>
  );
}

/** The network of a query with one filter at a connection point, whose tuples are its input. */
export function queryNetwork(point: string, schema: string): Network {
  return {
    australis: 1,
    name: `on_${point}`,
    inputs: { [point]: { schema: Object.fromEntries(fieldsOf(schema)) } },
    boxes: { chosen: { box: "filter", from: point, predicates: ["true"] } },
    outputs: { answers: { from: "chosen" } },
  };
}

export function QueryDialog({ point, onClose }: { point: string; onClose(): void }) {
  const [name, setName] = useState("query");
  const [text, setText] = useState("");
  const [failure, setFailure] = useState("");
  useEffect(() => {
    api.points().then(
      (points) => {
        const schema = points.find((each) => each.name === point)?.schema;
        if (schema) setText((typed) => typed || writeYaml(queryNetwork(point, schema)));
        else setFailure(`The network that runs has no connection point ${point}: deploy it first.`);
      },
      (error: ApiError) => setFailure(error.message),
    );
  }, [point]);
  const attach = async () => {
    try {
      await api.attach(name, parseText(text) as Network);
      shell().say(`Query ${name} is attached: history first.`, "done");
      shell().show("queries");
      onClose();
    } catch (error) {
      setFailure(
        error instanceof ApiError
          ? `${error.path ? `${error.path}: ` : ""}${error.message}. ${error.hint}`
          : String(error),
      );
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void attach();
      }}
    >
      <p className="hint">
        A network that reads the connection point by its name. It starts with the history that is kept there,
        and goes on until it is detached.
      </p>
      <label>
        name <input className="mono" value={name} onChange={(event) => setName(event.target.value)} />
      </label>
      <textarea
        className="mono"
        rows={16}
        value={text}
        aria-label="network of the query"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      {failure && (
        <p className="problem" role="alert">
          {failure}
        </p>
      )}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary">
          Attach
        </button>
      </footer>
    </form>
  );
}
