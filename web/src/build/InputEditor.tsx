import { useState } from "react";
import { type Input, type ItemId, itemKey, type Json, ofField } from "../model";
import { editor, useEditor } from "../state/editor";
import { Field, NameField, Problems, TextField } from "./fields";
import { Heading } from "./Inspector";

const TYPES = ["int", "long", "double", "string", "boolean", "timestamp", "decimal(18,2)"];

/** An input: its attributes, and how it makes marks. */
export function InputEditor({ item, input }: { item: ItemId; input: Input }) {
  const all = useEditor((state) => state.problems);
  const problems = all.filter((each) => each.item === item);
  const set = (path: string[], value: Json | undefined) => editor().run({ type: "set", item, path, value });
  const entries = Object.entries(input.schema);
  const progress = input.progress as { on?: string; slack?: string | number; idle?: string } | undefined;
  const { weight } = input;
  const doubles = entries.filter(([, type]) => /^double\s+not\s+null$/i.test(type)).map(([name]) => name);
  const weights = weight && !doubles.includes(weight) ? [...doubles, weight] : doubles;
  const rest = problems.filter((each) => !/^(schema|progress|weight|store|format)/.test(each.field));
  return (
    <>
      <Heading
        kind={input.table ? "table" : "input"}
        title={itemKey(item)}
        type={input.table ? "stored table: one side of a join" : "input: a stream from outside"}
      />
      <Problems problems={rest} />
      <fieldset>
        <legend>schema</legend>
        {entries.map(([name, type], index) => (
          <div key={index} className="row">
            <input
              className="mono name-cell"
              aria-label={`attribute ${index + 1}`}
              defaultValue={name}
              key={name}
              spellCheck={false}
              onBlur={(event) => {
                const to = event.target.value;
                if (to !== name && to !== "" && !(to in input.schema))
                  set(
                    ["schema"],
                    Object.fromEntries(entries.map(([each, its]) => [each === name ? to : each, its])),
                  );
              }}
              onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
            />
            <input
              className="mono"
              aria-label={`type of ${name}`}
              list="australis-types"
              value={type.replace(/ not null$/i, "")}
              spellCheck={false}
              onChange={(event) =>
                set(["schema", name], event.target.value + (/ not null$/i.test(type) ? " not null" : ""))
              }
              onBlur={() => editor().settle()}
            />
            <label className="check" title="refuse NULL">
              <input
                type="checkbox"
                checked={/ not null$/i.test(type)}
                aria-label={`${name} not null`}
                onChange={(event) =>
                  set(
                    ["schema", name],
                    event.target.checked ? `${type} not null` : type.replace(/ not null$/i, ""),
                  )
                }
              />
              not null
            </label>
            <button
              type="button"
              className="quiet"
              aria-label={`remove attribute ${name}`}
              onClick={() => set(["schema"], Object.fromEntries(entries.filter(([each]) => each !== name)))}
            >
              ×
            </button>
          </div>
        ))}
        <datalist id="australis-types">
          {TYPES.map((type) => (
            <option key={type} value={type} />
          ))}
        </datalist>
        <button
          type="button"
          className="add"
          onClick={() => set(["schema", freshAttribute(input.schema)], "int")}
        >
          + attribute
        </button>
        <Problems problems={ofField(problems, "schema")} />
      </fieldset>
      <label className="check">
        <input
          type="checkbox"
          checked={input.table === true}
          onChange={(event) => set(["table"], event.target.checked ? true : undefined)}
        />
        a stored table
      </label>
      {!input.table && (
        <fieldset>
          <legend>progress</legend>
          <p className="hint">How the input makes marks: promises that nothing older will come.</p>
          <Field label="on">
            {(id) => (
              <select
                id={id}
                value={progress?.on ?? ""}
                onChange={(event) =>
                  set(["progress"], event.target.value ? { ...progress, on: event.target.value } : undefined)
                }
              >
                <option value="">none</option>
                {entries.map(([name]) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          {progress && (
            <div className="pair">
              <TextField
                label="slack"
                mono
                value={String(progress.slack ?? "")}
                placeholder="10 s"
                onChange={(text) => set(["progress", "slack"], text || undefined)}
              />
              <TextField
                label="idle"
                mono
                value={String(progress.idle ?? "")}
                placeholder="never"
                onChange={(text) => set(["progress", "idle"], text || undefined)}
              />
            </div>
          )}
          <Problems problems={ofField(problems, "progress")} />
        </fieldset>
      )}
      {weights.length > 0 && (
        <Field
          label="weight"
          hint="How many tuples a tuple stands for: 1 where it comes without."
          problems={ofField(problems, "weight")}
        >
          {(id) => (
            <select
              id={id}
              value={weight ?? ""}
              onChange={(event) => set(["weight"], event.target.value || undefined)}
            >
              <option value="">none</option>
              {weights.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      <JsonField
        label="store"
        value={input.store as Json | undefined}
        problems={ofField(problems, "store")}
        onSet={(v) => set(["store"], v)}
      />
      <JsonField
        label="format"
        value={input.format as Json | undefined}
        problems={ofField(problems, "format")}
        onSet={(v) => set(["format"], v)}
      />
      <section>
        <h3>About</h3>
        <NameField
          label="name"
          value={itemKey(item)}
          onCommit={(to) => editor().run({ type: "rename", item, to })}
        />
        <TextField
          label="description"
          value={String(input.description ?? "")}
          onChange={(text) => set(["description"], text || undefined)}
        />
      </section>
    </>
  );
}

function freshAttribute(schema: object): string {
  let number = 1;
  while (`x${number}` in schema) number += 1;
  return `x${number}`;
}

/** A part that is rarely needed, as a text or as JSON. */
function JsonField({
  label,
  value,
  problems,
  onSet,
}: {
  label: string;
  value: Json | undefined;
  problems: Parameters<typeof Problems>[0]["problems"];
  onSet(value: Json | undefined): void;
}) {
  const [text, setText] = useState<string | null>(null);
  const written = value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
  return (
    <Field
      label={label}
      problems={problems}
      {...(label === "store" ? { hint: "A file, a database, or JSON with more." } : {})}
    >
      {(id) => (
        <input
          id={id}
          className="mono"
          value={text ?? written}
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          onBlur={() => {
            if (text !== null && text !== written) onSet(text === "" ? undefined : parsed(text));
            setText(null);
          }}
        />
      )}
    </Field>
  );
}

function parsed(text: string): Json {
  try {
    return text.trimStart().startsWith("{") ? (JSON.parse(text) as Json) : text;
  } catch {
    return text;
  }
}
