// Undo and redo of everything: documents are values, so the history is a list of them.

import { apply } from "./apply";
import { type Command, mergeKey, titleOf } from "./commands";
import type { EditorDocument } from "./document";

export interface Step {
  document: EditorDocument;
  title: string;
}

export interface History {
  past: Step[];
  present: EditorDocument;
  future: Step[];
  /** What the last step may be merged with. */
  merging: string | null;
}

export const STEPS_MOST = 500;

export function begin(document: EditorDocument): History {
  return { past: [], present: document, future: [], merging: null };
}

export function perform(history: History, command: Command): History {
  const present = apply(history.present, command);
  if (present === history.present) return history;
  const key = mergeKey(command);
  if (key !== null && key === history.merging && history.past.length > 0)
    return { ...history, present, future: [] };
  const past = [...history.past, { document: history.present, title: titleOf(command) }].slice(-STEPS_MOST);
  return { past, present, future: [], merging: key };
}

/** The next command is a step of its own: a field was left. */
export function settled(history: History): History {
  return history.merging === null ? history : { ...history, merging: null };
}

export function undo(history: History): History {
  const last = history.past.at(-1);
  if (!last) return history;
  return {
    past: history.past.slice(0, -1),
    present: last.document,
    future: [{ document: history.present, title: last.title }, ...history.future],
    merging: null,
  };
}

export function redo(history: History): History {
  const [next, ...future] = history.future;
  if (!next) return history;
  return {
    past: [...history.past, { document: history.present, title: next.title }],
    present: next.document,
    future,
    merging: null,
  };
}
