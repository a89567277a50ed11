import { useState } from "react";
import { token } from "../service/api";
import { stopped, useStepping } from "../state/breakpoints";
import { editor, useEditor } from "../state/editor";
import { refresh, useMay, useNode } from "../state/node";
import { shell, useShell } from "../state/shell";
import { doing } from "./actions";

/** Short messages, which go by themselves. */
export function Messages() {
  const messages = useShell((state) => state.messages);
  const dismiss = useShell((state) => state.dismiss);
  return (
    <div className="messages" role="status" aria-live="polite">
      {messages.map((message) => (
        <div key={message.id} className={`message ${message.kind}`}>
          {message.text}
          <button type="button" className="quiet" aria-label="dismiss" onClick={() => dismiss(message.id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}

/** What the whole page should know: the node is away, failed, or somebody else deployed. */
export function Banner() {
  const reach = useNode((state) => state.reach);
  const info = useNode((state) => state.info);
  const deployed = useNode((state) => state.deployed);
  const origin = useEditor((state) => state.origin);
  const [seen, setSeen] = useState("");
  const isOwner = useMay("owner");
  const mayOperate = useMay("operator");
  const waits = useStepping((state) => stopped(state.breakpoints));
  if (reach === "unreachable")
    return (
      <div className="banner bad" role="alert">
        The node does not answer. What you edit is kept in this browser; the page connects again by itself.
      </div>
    );
  if (info?.state === "failed")
    return (
      <div className="banner bad" role="alert">
        The network failed: {info.error}{" "}
        {mayOperate && (
          <button type="button" onClick={() => doing("pause")}>
            Try again
          </button>
        )}
      </div>
    );
  const isNews =
    origin !== null &&
    deployed !== null &&
    origin.revision !== deployed.revision &&
    seen !== deployed.revision;
  if (isNews)
    return (
      <div className="banner" role="alert" data-testid="news">
        Another network was deployed meanwhile.{" "}
        {isOwner && (
          <button type="button" onClick={() => doing("deploy")}>
            Compare
          </button>
        )}
        {editor().history.past.length === 0 && (
          <button type="button" onClick={() => doing("theirs")}>
            Show it
          </button>
        )}
        <button type="button" className="quiet" aria-label="later" onClick={() => setSeen(deployed.revision)}>
          ×
        </button>
      </div>
    );
  if (info?.state === "paused" && waits)
    return (
      <div className="banner" role="status" data-testid="stopped">
        Paused at a breakpoint: the next train on <span className="mono">{waits.arc}</span> takes a tuple with{" "}
        <span className="mono">{waits.where}</span>.{" "}
        <button
          type="button"
          onClick={() => {
            editor().setMode("run");
            editor().selectArc(waits.arc);
            shell().show("breakpoints");
          }}
        >
          Show it
        </button>
      </div>
    );
  return null;
}

/** Where a token is asked for. It is kept for this tab alone. */
export function Locked() {
  const [text, setText] = useState("");
  return (
    <main className="first" data-testid="locked">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          token.set(text.trim());
          void refresh().then(() => window.location.reload());
        }}
      >
        <h1>Australis</h1>
        <p>This node asks for a token. Its owner makes one with `australis token`.</p>
        <label>
          token{" "}
          <input
            type="password"
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <button type="submit" className="primary" disabled={text.trim() === ""}>
          Enter
        </button>
      </form>
    </main>
  );
}
