// Keys of the whole page. Fields keep theirs; what is pressed with Ctrl works in them where it edits no text.

import { shell } from "../state/shell";
import { ACTIONS } from "./actions";

/** A key as it is written in the list of actions: `Ctrl+Shift+Z`. */
export function chordOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 && event.key !== " " ? event.key.toUpperCase() : event.key;
  const parts = [
    event.ctrlKey || event.metaKey ? "Ctrl" : "",
    event.altKey ? "Alt" : "",
    event.shiftKey && (event.ctrlKey || event.metaKey || key.length > 1) ? "Shift" : "",
    key,
  ];
  return parts.filter(Boolean).join("+");
}

const IN_FIELDS = new Set(["Ctrl+K", "Ctrl+Enter", "Escape", "Ctrl+M"]);
const ACTS = new Set(["Enter", " "]);

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.matches("input, textarea, select") || target.isContentEditable)
  );
}

export function listenToKeys(): () => void {
  const pressed = (event: KeyboardEvent) => {
    const chord = chordOf(event);
    if (event.defaultPrevented) return;
    if (shell().dialog) {
      if (chord === "Escape") shell().close();
      return;
    }
    const isTyping = isField(event.target);
    if (isTyping && !IN_FIELDS.has(chord)) return;
    if (isTyping && chord === "Escape") {
      (event.target as HTMLElement).blur();
      focusCanvas();
      return;
    }
    const isControl =
      event.target instanceof HTMLElement &&
      event.target.closest("button, a, [role=tab], [role=slider], .table");
    if (isControl && (ACTS.has(event.key) || event.key.startsWith("Arrow"))) return;
    const action = ACTIONS.find((each) => each.keys?.includes(chord));
    if (!action || action.when?.() === false) return;
    event.preventDefault();
    action.run();
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}

export function focusCanvas(): void {
  document.querySelector<HTMLElement>(".canvas-holder")?.focus();
}
