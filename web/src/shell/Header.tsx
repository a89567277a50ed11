import { isBlank, isSame, tidy } from "../model";
import { Controls } from "../run/Controls";
import { editor, type Mode, useDocument, useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { useMay, useNode } from "../state/node";
import { shell, type Theme, useShell } from "../state/shell";
import { doing } from "./actions";

const THEMES: [Theme, string][] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];

export function Header() {
  const mode = useEditor((state) => state.mode);
  const past = useEditor((state) => state.history.past);
  const future = useEditor((state) => state.history.future);
  const theme = useShell((state) => state.theme);
  const isOwner = useMay("owner");
  return (
    <header className="top">
      <span className="brand" aria-hidden="true">
        <svg viewBox="0 0 24 24" width="22" height="22">
          <path
            d="M2 17c4-9 8-9 10-4s6 5 10-4"
            fill="none"
            stroke="currentColor"
            strokeWidth="2.4"
            strokeLinecap="round"
          />
          <circle cx="5" cy="12" r="2.4" fill="currentColor" />
          <circle cx="19" cy="12" r="2.4" fill="currentColor" />
        </svg>
      </span>
      <h1>Australis</h1>
      <span className="group" role="group" aria-label="mode">
        {(["build", "run"] as Mode[]).map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={mode === each}
            onClick={() => editor().setMode(each)}
          >
            {each === "build" ? "Build" : "Run"}
          </button>
        ))}
      </span>
      <span className="group" role="group" aria-label="history">
        <button
          type="button"
          disabled={past.length === 0}
          onClick={() => doing("undo")}
          title={past.length ? `Undo ${past.at(-1)!.title} (Ctrl Z)` : "Undo (Ctrl Z)"}
          aria-label="undo"
        >
          ↶
        </button>
        <button
          type="button"
          disabled={future.length === 0}
          onClick={() => doing("redo")}
          title={future.length ? `Redo ${future[0]!.title} (Ctrl Shift Z)` : "Redo (Ctrl Shift Z)"}
          aria-label="redo"
        >
          ↷
        </button>
      </span>
      <span className="group" role="group" aria-label="network">
        <button type="button" onClick={() => doing("import")}>
          Import
        </button>
        <button type="button" onClick={() => doing("export")}>
          Export
        </button>
        <button type="button" onClick={() => doing("arrange")} title="Arrange automatically (L)">
          Arrange
        </button>
      </span>
      <span className="grow" />
      <Controls />
      <Status />
      {isOwner && <DeployButton />}
      <label className="theme">
        <span className="unseen">colours</span>
        <select
          value={theme}
          onChange={(event) => shell().setTheme(event.target.value as Theme)}
          aria-label="colours"
        >
          {THEMES.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        onClick={() => doing("commands")}
        title="All commands (Ctrl K)"
        aria-label="all commands"
      >
        ⌘
      </button>
      <button type="button" onClick={() => doing("shortcuts")} title="Keys (?)" aria-label="keys">
        ?
      </button>
    </header>
  );
}

function DeployButton() {
  const document = useDocument();
  const deployed = useNode((state) => state.deployed);
  const differs = !deployed || !isSame(tidy(document.network), tidy(deployed.network));
  return (
    <button
      type="button"
      className={differs ? "primary" : ""}
      onClick={() => doing("deploy")}
      title="Deploy (Ctrl Enter)"
    >
      Deploy{differs ? "" : "ed"}
    </button>
  );
}

const WORDS: Record<string, string> = {
  starting: "starting",
  empty: "no network",
  running: "running",
  paused: "paused",
  failed: "failed",
  stopping: "stopping",
};

function Status() {
  const reach = useNode((state) => state.reach);
  const info = useNode((state) => state.info);
  const isOpen = useLive((state) => state.isOpen);
  if (reach === "connecting") return <span className="status wait">connecting…</span>;
  if (reach === "unreachable")
    return (
      <span
        className="status bad"
        role="status"
        title="Drafts are kept here; the page tries again by itself."
      >
        ● disconnected
      </span>
    );
  if (reach === "locked") return <span className="status bad">● locked</span>;
  const state = info?.state ?? "empty";
  const kind = state === "running" ? "good" : state === "failed" ? "bad" : "wait";
  return (
    <span
      className={`status ${kind}`}
      role="status"
      title={info?.error ?? `${info?.runner}, ${info?.caller.role}${isOpen ? "" : ", no live figures"}`}
    >
      ● {WORDS[state]} <span className="subtitle">{info?.caller.role}</span>
    </span>
  );
}

/** The way to the level in view. */
export function Breadcrumbs() {
  const group = useEditor((state) => state.group);
  const flat = useEditor((state) => state.flat);
  const name = useEditor((state) => state.history.present.network.name);
  const checking = useEditor((state) => state.checking);
  const isNothing = useEditor((state) => isBlank(state.history.present.network));
  const problems = useEditor((state) => state.problems.length);
  const parts = group ? group.split(".") : [];
  return (
    <nav className="crumbs" aria-label="level">
      <button
        type="button"
        aria-current={group === "" ? "page" : undefined}
        onClick={() => editor().enter("")}
      >
        {name}
      </button>
      {parts.map((part, index) => {
        const path = parts.slice(0, index + 1).join(".");
        return (
          <span key={path}>
            <span aria-hidden="true"> / </span>
            <button
              type="button"
              aria-current={path === group ? "page" : undefined}
              onClick={() => editor().enter(path)}
            >
              {part}
            </button>
          </span>
        );
      })}
      {flat && <span className="subtitle"> all boxes, without groups</span>}
      <button
        type="button"
        className={`check-state ${problems ? "bad" : checking === "offline" ? "wait" : isNothing ? "" : "good"}`}
        onClick={() => doing("problems")}
        data-testid="check-state"
      >
        {checking === "offline"
          ? "not checked"
          : problems > 0
            ? `${problems} problem${problems === 1 ? "" : "s"}`
            : checking === "busy"
              ? "checking…"
              : isNothing
                ? "empty"
                : "✓ checked"}
      </button>
    </nav>
  );
}
