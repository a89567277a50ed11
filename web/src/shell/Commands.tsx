import { useMemo, useState } from "react";
import { connectTo } from "../build/adding";
import { allItems, freePort, itemKey, itemKind, parseRef, refusal, search } from "../model";
import { currentDocument, editor } from "../state/editor";
import { shell } from "../state/shell";
import { ACTIONS } from "./actions";

interface Entry {
  id: string;
  title: string;
  detail: string;
  keys?: string;
  refused?: string;
  run(): void;
}

/** What fits a text: commands, parts to go to, and bookmarks; with `@` only parts. */
function entriesFor(text: string): Entry[] {
  const isFinding = text.startsWith("@");
  const words = text.replace(/^@/, "").toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (title: string) => words.every((word) => title.toLowerCase().includes(word));
  const commands: Entry[] = isFinding
    ? []
    : ACTIONS.filter(
        (action) =>
          fits(`${action.title} ${action.section}`) && action.when?.() !== false && action.id !== "commands",
      ).map((action) => ({
        id: action.id,
        title: action.title,
        detail: action.section,
        ...(action.keys?.[0] ? { keys: action.keys[0] } : {}),
        run: action.run,
      }));
  const document = currentDocument();
  const parts: Entry[] =
    words.length > 0
      ? search(document, words.join(" "), 40).map((found) => ({
          id: `go ${found.item} ${found.why}`,
          title: found.title,
          detail: `go to ${found.why}`,
          run: () => editor().goTo(found.item),
        }))
      : isFinding
        ? allItems(document.network)
            .slice(0, 40)
            .map((item) => ({
              id: `go ${item}`,
              title: itemKey(item),
              detail: `go to ${itemKind(item)}`,
              run: () => editor().goTo(item),
            }))
        : [];
  const marks: Entry[] = Object.entries(document.bookmarks)
    .filter(([name]) => fits(name))
    .map(([name, bookmark]) => ({
      id: `bookmark ${name}`,
      title: `★ ${name}`,
      detail: "bookmark",
      run: () => (bookmark.item ? editor().goTo(bookmark.item) : editor().enter(bookmark.group)),
    }));
  const exact = commands.filter((entry) => entry.title.toLowerCase().startsWith(words.join(" ")));
  const others = commands.filter((entry) => !exact.includes(entry));
  return [...marks, ...exact, ...others, ...parts].slice(0, 60);
}

/** What a stream can be connected to; what cannot says why. */
function targetsFor(from: string, text: string): Entry[] {
  const document = currentDocument();
  const all = allItems(document.network).filter(
    (item) => itemKind(item) === "box" || itemKind(item) === "output",
  );
  return all
    .filter((item) => item !== `box/${parseRef(from).id}` && item.toLowerCase().includes(text.toLowerCase()))
    .map((item): Entry => {
      const why = refusal(document, from, item, freePort(document, item));
      return {
        id: item,
        title: itemKey(item),
        detail: why ?? itemKind(item),
        ...(why ? { refused: why } : {}),
        run: () => {
          const problem = connectTo(from, item);
          if (problem) shell().say(`Not connected: ${problem}`, "error");
          else editor().goTo(item);
        },
      };
    })
    .sort((one, other) => Number(one.refused !== undefined) - Number(other.refused !== undefined))
    .slice(0, 60);
}

export function CommandPalette({ first, from, onClose }: { first: string; from?: string; onClose(): void }) {
  const [text, setText] = useState(first);
  const [chosen, setChosen] = useState(0);
  const entries = useMemo(
    () => (from === undefined ? entriesFor(text) : targetsFor(from, text)),
    [text, from],
  );
  const take = (entry: Entry | undefined) => {
    if (!entry || entry.refused) return;
    onClose();
    entry.run();
  };
  const active = Math.min(chosen, Math.max(0, entries.length - 1));
  return (
    <div className="commands" data-testid="commands">
      <input
        className="search"
        data-first
        value={text}
        placeholder={from === undefined ? "Commands and parts; @ for parts only" : `Connect ${from} to…`}
        aria-label={from === undefined ? "command or part" : `connect ${from} to`}
        role="combobox"
        aria-expanded="true"
        aria-controls="command-list"
        aria-activedescendant={entries[active] ? `command-${active}` : undefined}
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            const step = event.key === "ArrowDown" ? 1 : -1;
            const next = (active + step + entries.length) % Math.max(1, entries.length);
            setChosen(next);
            document.getElementById(`command-${next}`)?.scrollIntoView({ block: "nearest" });
          } else if (event.key === "Enter") {
            event.preventDefault();
            take(entries[active]);
          }
        }}
      />
      <ul id="command-list" role="listbox" aria-label="commands">
        {entries.map((entry, index) => (
          <li
            key={entry.id}
            id={`command-${index}`}
            role="option"
            aria-selected={index === active}
            aria-disabled={entry.refused !== undefined}
            tabIndex={-1}
            onPointerMove={() => setChosen(index)}
            onClick={() => take(entry)}
          >
            <span className="title">{entry.title}</span>
            <span className="subtitle">{entry.detail}</span>
            {entry.keys && <kbd>{entry.keys}</kbd>}
          </li>
        ))}
      </ul>
      {entries.length === 0 && <p className="empty">Nothing fits.</p>}
    </div>
  );
}
