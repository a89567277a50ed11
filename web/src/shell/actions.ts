// What can be done, each with a name, keys, and a condition: the command palette, menus and keys share the list.

import { addNext } from "../build/adding";
import { align } from "../build/Several";
import { arrangeLevel } from "../canvas/arrange";
import { camera } from "../canvas/camera";
import { type Alignment, BOXES, emptyDocument, type ItemId, itemKey } from "../model";
import { stepOnce, togglePause } from "../run/Controls";
import { openDemo } from "../run/demo";
import { editor } from "../state/editor";
import { may, useNode } from "../state/node";
import { shell, type Theme } from "../state/shell";
import {
  bookmark,
  chosen,
  connectFrom,
  copy,
  duplicate,
  group,
  hasItems,
  items,
  nudge,
  openOrEdit,
  paste,
  remove,
  selectAll,
  up,
  walk,
} from "./selected";

export interface Action {
  id: string;
  title: string;
  section: "Edit" | "Add" | "View" | "Select" | "Network" | "Run";
  keys?: string[];
  /** Whether it makes sense now; left out, it always does. */
  when?(): boolean;
  run(): void;
}

const isOwner = () => may("owner", useNode.getState().info);
const isOperator = () => may("operator", useNode.getState().info);

const alignments: [Alignment, string][] = [
  ["left", "Align left edges"],
  ["right", "Align right edges"],
  ["top", "Align top edges"],
  ["bottom", "Align bottom edges"],
  ["across", "Spread across"],
  ["down", "Spread down"],
];

const themes: [Theme, string][] = [
  ["system", "Colours of the system"],
  ["light", "Light colours"],
  ["dark", "Dark colours"],
  ["contrast", "High contrast"],
];

export const ACTIONS: Action[] = [
  {
    id: "commands",
    title: "All commands",
    section: "View",
    keys: ["Ctrl+K"],
    run: () => shell().open({ type: "commands" }),
  },
  {
    id: "shortcuts",
    title: "Keys",
    section: "View",
    keys: ["?"],
    run: () => shell().open({ type: "shortcuts" }),
  },
  {
    id: "find",
    title: "Find and go to a part",
    section: "View",
    keys: ["/"],
    run: () => shell().open({ type: "commands", text: "@" }),
  },
  {
    id: "add",
    title: "Add a part…",
    section: "Add",
    keys: ["A"],
    run: () => shell().open({ type: "commands", text: "add " }),
  },
  { id: "connect", title: "Connect to…", section: "Edit", keys: ["C"], when: hasItems, run: connectFrom },
  {
    id: "open",
    title: "Open group, or edit",
    section: "Edit",
    keys: ["Enter"],
    when: () => chosen() !== undefined,
    run: openOrEdit,
  },
  {
    id: "rename",
    title: "Rename",
    section: "Edit",
    keys: ["F2"],
    when: hasItems,
    run: () => shell().open({ type: "rename" }),
  },
  { id: "undo", title: "Undo", section: "Edit", keys: ["Ctrl+Z"], run: () => editor().undo() },
  {
    id: "redo",
    title: "Redo",
    section: "Edit",
    keys: ["Ctrl+Shift+Z", "Ctrl+Y"],
    run: () => editor().redo(),
  },
  { id: "copy", title: "Copy", section: "Edit", keys: ["Ctrl+C"], when: hasItems, run: copy },
  {
    id: "cut",
    title: "Cut",
    section: "Edit",
    keys: ["Ctrl+X"],
    when: hasItems,
    run: () => {
      copy();
      remove();
    },
  },
  {
    id: "paste",
    title: "Paste",
    section: "Edit",
    keys: ["Ctrl+V"],
    when: () => editor().clipboard !== null,
    run: () => paste(),
  },
  { id: "duplicate", title: "Duplicate", section: "Edit", keys: ["Ctrl+D"], when: hasItems, run: duplicate },
  {
    id: "remove",
    title: "Remove",
    section: "Edit",
    keys: ["Delete", "Backspace"],
    when: () => hasItems() || editor().arc !== null,
    run: remove,
  },
  { id: "group", title: "Group", section: "Edit", keys: ["Ctrl+G"], when: hasItems, run: group },
  {
    id: "ungroup",
    title: "Ungroup",
    section: "Edit",
    keys: ["Ctrl+Shift+G"],
    when: () => chosen()?.startsWith("group/") === true,
    run: () => editor().run({ type: "ungroup", group: itemKey(chosen() as ItemId) }),
  },
  { id: "select-all", title: "Select all", section: "Select", keys: ["Ctrl+A"], run: selectAll },
  { id: "up", title: "Back: unselect, then leave the group", section: "Select", keys: ["Escape"], run: up },
  {
    id: "walk-left",
    title: "To what feeds it",
    section: "Select",
    keys: ["Alt+ArrowLeft"],
    run: () => walk("left"),
  },
  {
    id: "walk-right",
    title: "To what it feeds",
    section: "Select",
    keys: ["Alt+ArrowRight"],
    run: () => walk("right"),
  },
  {
    id: "walk-up",
    title: "To the part above",
    section: "Select",
    keys: ["Alt+ArrowUp"],
    run: () => walk("up"),
  },
  {
    id: "walk-down",
    title: "To the part below",
    section: "Select",
    keys: ["Alt+ArrowDown"],
    run: () => walk("down"),
  },
  {
    id: "left",
    title: "Move left",
    section: "Edit",
    keys: ["ArrowLeft"],
    when: hasItems,
    run: () => nudge(-1, 0),
  },
  {
    id: "right",
    title: "Move right",
    section: "Edit",
    keys: ["ArrowRight"],
    when: hasItems,
    run: () => nudge(1, 0),
  },
  {
    id: "top",
    title: "Move up",
    section: "Edit",
    keys: ["ArrowUp"],
    when: hasItems,
    run: () => nudge(0, -1),
  },
  {
    id: "bottom",
    title: "Move down",
    section: "Edit",
    keys: ["ArrowDown"],
    when: hasItems,
    run: () => nudge(0, 1),
  },
  ...alignments.map(
    ([how, title]): Action => ({
      id: `align-${how}`,
      title,
      section: "Edit",
      when: () => items().length > 1,
      run: () => align(how),
    }),
  ),
  {
    id: "arrange",
    title: "Arrange automatically",
    section: "View",
    keys: ["L"],
    run: () => void arrangeLevel().then(camera.fit),
  },
  { id: "fit", title: "Show all", section: "View", keys: ["F"], run: () => camera.fit() },
  { id: "zoom-in", title: "Zoom in", section: "View", keys: ["+", "="], run: () => camera.zoomBy(1.25) },
  { id: "zoom-out", title: "Zoom out", section: "View", keys: ["-"], run: () => camera.zoomBy(0.8) },
  { id: "zoom-1", title: "Zoom to full size", section: "View", keys: ["0"], run: () => camera.zoomTo(1) },
  {
    id: "flat",
    title: "All boxes without groups, and back",
    section: "View",
    keys: ["G"],
    run: () => editor().setFlat(!editor().flat),
  },
  {
    id: "labels",
    title: "Labels on arcs, and without",
    section: "View",
    keys: ["T"],
    run: () => shell().setLabels(!shell().labels),
  },
  { id: "bookmark", title: "Bookmark this place", section: "View", keys: ["B"], run: bookmark },
  ...themes.map(
    ([theme, title]): Action => ({
      id: `theme-${theme}`,
      title,
      section: "View",
      run: () => shell().setTheme(theme),
    }),
  ),
  {
    id: "problems",
    title: "Problems",
    section: "View",
    keys: ["Ctrl+M"],
    run: () => shell().show(shell().tab === "problems" ? null : "problems"),
  },
  {
    id: "mode",
    title: "Build or run",
    section: "Run",
    keys: ["R"],
    run: () => editor().setMode(editor().mode === "run" ? "build" : "run"),
  },
  {
    id: "deploy",
    title: "Deploy…",
    section: "Run",
    keys: ["Ctrl+Enter"],
    when: isOwner,
    run: () => shell().open({ type: "deploy" }),
  },
  { id: "pause", title: "Pause or resume", section: "Run", keys: ["P"], when: isOperator, run: togglePause },
  { id: "step", title: "Run one train", section: "Run", keys: ["S"], when: isOperator, run: stepOnce },
  {
    id: "charts",
    title: "Charts",
    section: "Run",
    run: () => {
      editor().setMode("run");
      shell().show("charts");
    },
  },
  {
    id: "import",
    title: "Import…",
    section: "Network",
    keys: ["Ctrl+O"],
    run: () => shell().open({ type: "import" }),
  },
  {
    id: "export",
    title: "Export…",
    section: "Network",
    keys: ["Ctrl+E"],
    run: () => shell().open({ type: "export" }),
  },
  {
    id: "new",
    title: "New network",
    section: "Network",
    run: () => editor().run({ type: "replace", network: emptyDocument().network, layout: {} }),
  },
  { id: "demo", title: "Open the demo network", section: "Network", run: openDemo },
  {
    id: "theirs",
    title: "Open what runs",
    section: "Network",
    when: () => useNode.getState().deployed !== null,
    run: () => {
      const { deployed } = useNode.getState();
      if (!deployed) return;
      editor().run({ type: "replace", network: deployed.network });
      editor().setOrigin(deployed);
    },
  },
  ...["input", "table", "output", ...BOXES.map((box) => box.kind)].map(
    (kind): Action => ({
      id: `add-${kind}`,
      title: `Add ${kind}`,
      section: "Add",
      run: () => void addNext(kind),
    }),
  ),
];

const BY_ID = new Map(ACTIONS.map((action) => [action.id, action]));

/** Do what an action says, if it makes sense now. */
export function doing(id: string): boolean {
  const action = BY_ID.get(id);
  if (!action || action.when?.() === false) return false;
  action.run();
  return true;
}
