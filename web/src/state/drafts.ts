// Drafts save themselves: what is edited survives a reload, with the last steps of its history.

import { begin, type EditorDocument, formProblem, type History, isBlank } from "../model";
import { type Origin, useEditor } from "./editor";

const KEY = "australis.draft";
const STEPS = 60;
const SIZE_MOST = 3_000_000;
const WAIT_MS = 150;

interface Draft {
  present: EditorDocument;
  past: History["past"];
  future: History["future"];
  origin: Origin | null;
  group: string;
}

export function savedDraft(): Draft | null {
  try {
    const draft = JSON.parse(localStorage.getItem(KEY) ?? "null") as Draft | null;
    return draft && formProblem(draft.present.network) === null ? draft : null;
  } catch {
    return null;
  }
}

export function save(): void {
  const { history, origin, group } = useEditor.getState();
  const draft = (steps: number): Draft => ({
    present: history.present,
    past: steps ? history.past.slice(-steps) : [],
    future: history.future.slice(0, steps),
    origin,
    group,
  });
  for (const steps of [STEPS, 10, 0]) {
    const text = JSON.stringify(draft(steps));
    if (text.length > SIZE_MOST && steps > 0) continue;
    try {
      localStorage.setItem(KEY, text);
      return;
    } catch {
      // The store of the browser is full: fewer steps may fit.
    }
  }
}

/** Take up the draft of the last visit; whether there was one that says something. */
export function restore(): boolean {
  const draft = savedDraft();
  if (!draft) return false;
  const history = { ...begin(draft.present), past: draft.past ?? [], future: draft.future ?? [] };
  useEditor.setState({ history, origin: draft.origin, group: draft.group ?? "" });
  return history.past.length > 0 || !isBlank(draft.present.network);
}

export function keepSaving(): () => void {
  let timer = 0;
  const stop = useEditor.subscribe((state, before) => {
    if (state.history === before.history && state.group === before.group && state.origin === before.origin)
      return;
    window.clearTimeout(timer);
    timer = window.setTimeout(save, WAIT_MS);
  });
  window.addEventListener("pagehide", save);
  return () => {
    stop();
    window.removeEventListener("pagehide", save);
  };
}
