import { useState } from "react";
import { type ItemId, itemKey, itemKind, joined, lastPart, parentOf } from "../model";
import { DeployDialog } from "../run/Deploy";
import { QueryDialog } from "../run/Queries";
import { editor } from "../state/editor";
import { useShell } from "../state/shell";
import { CommandPalette } from "./Commands";
import { Dialog } from "./Dialog";
import { Manual } from "./Manual";
import { Shortcuts } from "./Shortcuts";
import { ExportDialog, ImportDialog } from "./Transfer";

export function Dialogs() {
  const dialog = useShell((state) => state.dialog);
  const close = useShell((state) => state.close);
  if (!dialog) return null;
  switch (dialog.type) {
    case "commands":
      return (
        <Dialog title="Commands" onClose={close} bare>
          <CommandPalette first={dialog.text ?? ""} onClose={close} />
        </Dialog>
      );
    case "connect":
      return (
        <Dialog title={`Connect ${dialog.from}`} onClose={close} bare>
          <CommandPalette first="" from={dialog.from} onClose={close} />
        </Dialog>
      );
    case "shortcuts":
      return (
        <Dialog title="Keys" onClose={close} wide>
          <Shortcuts />
        </Dialog>
      );
    case "deploy":
      return (
        <Dialog title="Deploy" onClose={close}>
          <DeployDialog onClose={close} />
        </Dialog>
      );
    case "import":
      return (
        <Dialog title="Import" onClose={close}>
          <ImportDialog onClose={close} />
        </Dialog>
      );
    case "export":
      return (
        <Dialog title="Export" onClose={close} wide>
          <ExportDialog />
        </Dialog>
      );
    case "manual":
      return (
        <Dialog title={dialog.kind} onClose={close} wide>
          <Manual kind={dialog.kind} />
        </Dialog>
      );
    case "query":
      return (
        <Dialog title={`Query at ${dialog.point}`} onClose={close}>
          <QueryDialog point={dialog.point} onClose={close} />
        </Dialog>
      );
    case "rename":
      return (
        <Dialog title="Rename" onClose={close}>
          <Rename onClose={close} />
        </Dialog>
      );
    default:
      return null;
  }
}

function Rename({ onClose }: { onClose(): void }) {
  const item = editor().selection[0] as ItemId;
  const key = itemKey(item);
  const hasPath = itemKind(item) === "box" || itemKind(item) === "group";
  const [name, setName] = useState(hasPath ? lastPart(key) : key);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const to = hasPath ? joined(parentOf(key), name) : name;
        editor().run({ type: "rename", item, to });
        editor().select([`${itemKind(item)}/${to}`]);
        onClose();
      }}
    >
      <label>
        name{" "}
        <input
          className="mono"
          data-first
          onFocus={(event) => event.target.select()}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="primary">
          Rename
        </button>
      </footer>
    </form>
  );
}
