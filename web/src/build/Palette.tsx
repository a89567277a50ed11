import { useState } from "react";
import { signOf, toneOf } from "../canvas/glyphs";
import { BOXES, FAMILIES, groupPaths, itemId, search } from "../model";
import { editor, useDocument, useEditor } from "../state/editor";
import { shell } from "../state/shell";
import { addNext } from "./adding";

const ENDS = [
  { kind: "input", does: "a stream from outside" },
  { kind: "table", does: "a stored table, one side of a join" },
  { kind: "output", does: "a stream to applications, with its quality" },
];

/** All boxes, to be dragged or pressed; and the network as a list, for search and teleport. */
export function Palette() {
  const [text, setText] = useState("");
  const [view, setView] = useState<"boxes" | "network">("boxes");
  return (
    <aside className="panel left" aria-label="palette and outline">
      <div className="tabs" role="tablist" aria-label="left panel">
        <button type="button" role="tab" aria-selected={view === "boxes"} onClick={() => setView("boxes")}>
          Boxes
        </button>
        <button
          type="button"
          role="tab"
          aria-selected={view === "network"}
          onClick={() => setView("network")}
        >
          Network
        </button>
      </div>
      <input
        type="search"
        className="search"
        placeholder={view === "boxes" ? "Search boxes" : "Name, type, argument, tag…"}
        aria-label={view === "boxes" ? "search boxes" : "search the network"}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {view === "boxes" ? <Kinds text={text} /> : <Outline text={text} />}
    </aside>
  );
}

function Kinds({ text }: { text: string }) {
  const fits = (...words: string[]) => words.some((word) => word.toLowerCase().includes(text.toLowerCase()));
  const ends = ENDS.filter((end) => fits(end.kind, end.does));
  const families = FAMILIES.map((family) => ({
    family,
    boxes: BOXES.filter((box) => box.family === family && fits(box.kind, box.does, family)),
  })).filter(({ boxes }) => boxes.length > 0);
  return (
    <div className="scroll" data-testid="palette" tabIndex={0} role="region" aria-label="kinds of boxes">
      {ends.length > 0 && <h3>Ends</h3>}
      {ends.map((end) => (
        <Kind key={end.kind} kind={end.kind} does={end.does} />
      ))}
      {families.map(({ family, boxes }) => (
        <div key={family}>
          <h3>{family}</h3>
          {boxes.map((box) => (
            <Kind key={box.kind} kind={box.kind} does={box.does} manual />
          ))}
        </div>
      ))}
      {ends.length + families.length === 0 && <p className="hint">No box fits “{text}”.</p>}
    </div>
  );
}

function Kind({ kind, does, manual = false }: { kind: string; does: string; manual?: boolean }) {
  return (
    <div className={`kind tone-${toneOf(kind)}`}>
      <button
        type="button"
        className="kind-add"
        draggable
        onDragStart={(event) => {
          event.dataTransfer.setData("application/x-australis-kind", kind);
          event.dataTransfer.effectAllowed = "copy";
        }}
        onClick={() => addNext(kind)}
        aria-label={`add ${kind}`}
        title={does}
      >
        <span className="sign" aria-hidden="true">
          {signOf(kind)}
        </span>
        <span className="words">
          <span className="title">{kind}</span>
          <span className="subtitle">{does}</span>
        </span>
      </button>
      {manual && (
        <button
          type="button"
          className="quiet"
          aria-label={`manual of ${kind}`}
          title="Manual"
          onClick={() => shell().open({ type: "manual", kind })}
        >
          ?
        </button>
      )}
    </div>
  );
}

function Outline({ text }: { text: string }) {
  const document = useDocument();
  const selection = useEditor((state) => state.selection);
  const { network, bookmarks } = document;
  const found = text ? search(document, text, 200) : null;
  const rows = found ?? [
    ...Object.keys(network.inputs ?? {}).map((key) => ({
      item: itemId("input", key),
      title: key,
      why: "input",
    })),
    ...groupPaths(network).map((key) => ({ item: itemId("group", key), title: key, why: "group" })),
    ...Object.entries(network.boxes ?? {}).map(([key, box]) => ({
      item: itemId("box", key),
      title: key,
      why: box.box,
    })),
    ...Object.keys(network.outputs ?? {}).map((key) => ({
      item: itemId("output", key),
      title: key,
      why: "output",
    })),
  ];
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="parts of the network">
      {!text && Object.keys(bookmarks).length > 0 && <h3>Bookmarks</h3>}
      {!text &&
        Object.entries(bookmarks).map(([name, bookmark]) => (
          <div key={name} className="row">
            <button
              type="button"
              className="item"
              onClick={() => (bookmark.item ? editor().goTo(bookmark.item) : editor().enter(bookmark.group))}
            >
              <span aria-hidden="true">★</span> {name}
            </button>
            <button
              type="button"
              className="quiet"
              aria-label={`remove bookmark ${name}`}
              onClick={() => editor().run({ type: "bookmark", name, bookmark: null })}
            >
              ×
            </button>
          </div>
        ))}
      {!text && <h3>Parts</h3>}
      {rows.slice(0, 400).map((row) => (
        <button
          key={`${row.item} ${row.why}`}
          type="button"
          className={`item ${selection.includes(row.item) ? "chosen" : ""}`}
          onClick={() => editor().goTo(row.item)}
        >
          <span className="title">{row.title}</span>
          <span className="subtitle">{row.why}</span>
        </button>
      ))}
      {rows.length === 0 && (
        <p className="hint">{text ? `Nothing fits “${text}”.` : "The network is empty."}</p>
      )}
      {rows.length > 400 && <p className="hint">{rows.length - 400} more: search for them.</p>}
    </div>
  );
}
