// What is edited: the document with its history, which level is in view, and what is selected.

import { create } from "zustand";
import {
  allItems,
  begin,
  type Command,
  type EditorDocument,
  emptyDocument,
  type Fragment,
  groupPaths,
  type History,
  type ItemId,
  itemKey,
  itemKind,
  type Network,
  type NodeId,
  type PlacedProblem,
  parentOf,
  perform,
  redo,
  settled,
  undo,
} from "../model";

export type Mode = "build" | "run";

/** What the draft began from: a deployed network and its revision. */
export interface Origin {
  network: Network;
  revision: string;
}

export interface Teleport {
  item: NodeId | null;
  /** Grows with each, so that the same place can be visited twice. */
  count: number;
}

interface Editor {
  history: History;
  group: string;
  flat: boolean;
  mode: Mode;
  selection: NodeId[];
  /** The stream of the selected arc. */
  arc: string | null;
  clipboard: Fragment | null;
  origin: Origin | null;
  problems: PlacedProblem[];
  schemas: Record<string, string>;
  checking: "idle" | "busy" | "offline";
  teleport: Teleport;
  run(command: Command): void;
  settle(): void;
  undo(): void;
  redo(): void;
  select(items: NodeId[]): void;
  selectArc(ref: string | null): void;
  enter(group: string): void;
  setFlat(flat: boolean): void;
  setMode(mode: Mode): void;
  setClipboard(fragment: Fragment): void;
  goTo(item: NodeId): void;
  open(document: EditorDocument, origin: Origin | null): void;
  setOrigin(origin: Origin | null): void;
}

export const useEditor = create<Editor>()((set, get) => {
  /** The level and the selection, without what is no longer there. */
  const shown = (history: History) => {
    const { group, selection } = get();
    const network = history.present.network;
    const known = new Set<string>(allItems(network));
    const level = group === "" || groupPaths(network).includes(group) ? group : "";
    return { history, group: level, selection: selection.filter((id) => known.has(id)) };
  };
  return {
    history: begin(emptyDocument()),
    group: "",
    flat: false,
    mode: "build",
    selection: [],
    arc: null,
    clipboard: null,
    origin: null,
    problems: [],
    schemas: {},
    checking: "idle",
    teleport: { item: null, count: 0 },
    run: (command) => set((state) => shown(perform(state.history, command))),
    settle: () => set((state) => ({ history: settled(state.history) })),
    undo: () => set((state) => shown(undo(state.history))),
    redo: () => set((state) => shown(redo(state.history))),
    select: (selection) => {
      const before = get().selection;
      if (before.length === selection.length && before.every((id, index) => id === selection[index])) return;
      set({ selection, arc: null });
    },
    selectArc: (arc) => set({ arc, selection: [] }),
    enter: (group) => set({ group, flat: false, selection: [], arc: null }),
    setFlat: (flat) => set({ flat }),
    setMode: (mode) => set({ mode }),
    setClipboard: (clipboard) => set({ clipboard }),
    goTo: (item) =>
      set((state) => ({
        ...(state.flat ? {} : { group: levelOf(item as ItemId) }),
        selection: [item],
        arc: null,
        teleport: { item, count: state.teleport.count + 1 },
      })),
    open: (document, origin) =>
      set((state) => ({
        history: begin(document),
        origin,
        group: "",
        selection: [],
        arc: null,
        problems: [],
        schemas: {},
        teleport: { item: null, count: state.teleport.count + 1 },
      })),
    setOrigin: (origin) => set({ origin }),
  };
});

/** The level on which an item is drawn. */
export function levelOf(item: ItemId): string {
  const kind = itemKind(item);
  return kind === "box" || kind === "group" ? parentOf(itemKey(item)) : "";
}

export const editor = () => useEditor.getState();
export const currentDocument = () => useEditor.getState().history.present;
export const useDocument = () => useEditor((state) => state.history.present);
