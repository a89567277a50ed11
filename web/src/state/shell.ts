// What is open beside the canvas: dialogs, the drawer, messages, and how the page looks.

import { create } from "zustand";

export type Theme = "system" | "light" | "dark" | "contrast";
export type Dialog =
  | { type: "commands"; text?: string }
  | { type: "shortcuts" }
  | { type: "deploy" }
  | { type: "import" }
  | { type: "export" }
  | { type: "manual"; kind: string }
  | { type: "connect"; from: string }
  | { type: "query"; point: string }
  | { type: "quality"; output: string }
  | { type: "rename" };

export interface Message {
  id: number;
  text: string;
  kind: "info" | "error" | "done";
}

export type Tab =
  | "problems"
  | "charts"
  | "tuples"
  | "queries"
  | "breakpoints"
  | "dropboxes"
  | "optimiser"
  | "quarantine"
  | "events";

interface Shell {
  dialog: Dialog | null;
  tab: Tab | null;
  /** The stream whose tuples are shown. */
  watched: string | null;
  messages: Message[];
  theme: Theme;
  labels: boolean;
  open(dialog: Dialog): void;
  close(): void;
  show(tab: Tab | null): void;
  watch(stream: string): void;
  say(text: string, kind?: Message["kind"]): void;
  dismiss(id: number): void;
  setTheme(theme: Theme): void;
  setLabels(labels: boolean): void;
}

const THEME = "australis.theme";
const SHOWN_MS = 6000;
let count = 0;

export const useShell = create<Shell>()((set, get) => ({
  dialog: null,
  tab: null,
  watched: null,
  messages: [],
  theme: (localStorage.getItem(THEME) as Theme | null) ?? "system",
  labels: true,
  open: (dialog) => set({ dialog }),
  close: () => set({ dialog: null }),
  show: (tab) => set({ tab }),
  watch: (watched) => set({ watched, tab: "tuples" }),
  say: (text, kind = "info") => {
    count += 1;
    const id = count;
    set((state) => ({ messages: [...state.messages, { id, text, kind }].slice(-4) }));
    window.setTimeout(() => get().dismiss(id), SHOWN_MS);
  },
  dismiss: (id) => set((state) => ({ messages: state.messages.filter((message) => message.id !== id) })),
  setTheme: (theme) => {
    localStorage.setItem(THEME, theme);
    set({ theme });
  },
  setLabels: (labels) => set({ labels }),
}));

export const shell = () => useShell.getState();

/** The theme that the page has, where the system decides as well. */
export function themeShown(theme: Theme, isDark: boolean): "light" | "dark" | "contrast" {
  return theme === "system" ? (isDark ? "dark" : "light") : theme;
}
