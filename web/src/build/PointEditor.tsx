import type { ConnectionPoint } from "../model";
import { editor } from "../state/editor";
import { NameField, spanOf, TextField } from "./fields";

/** A connection point of an arc: its name, what it keeps, and by what that is looked up. */
export function PointEditor({ name, point }: { name: string; point: ConnectionPoint }) {
  const set = (field: string, value: string | number | undefined) => {
    const { [field]: _, ...rest } = point;
    const made = (value === undefined ? rest : { ...point, [field]: value }) as ConnectionPoint;
    editor().run({ type: "set_point", name, point: made });
  };
  return (
    <fieldset>
      <legend>
        {name}
        <button
          type="button"
          className="quiet"
          aria-label={`remove connection point ${name}`}
          onClick={() => editor().run({ type: "set_point", name, point: null })}
        >
          ×
        </button>
      </legend>
      <NameField
        label="name"
        value={name}
        onCommit={(to) => editor().run({ type: "rename_point", name, to })}
      />
      <div className="pair">
        <TextField
          label="history"
          mono
          value={String(point.history ?? "")}
          placeholder="1 h, 1000, forever"
          onChange={(text) => set("history", spanOf(text))}
        />
        <TextField
          label="key"
          mono
          value={String(point.key ?? "")}
          onChange={(text) => set("key", text || undefined)}
        />
      </div>
    </fieldset>
  );
}
