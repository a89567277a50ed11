import {
  attributesOf,
  type Box,
  type Fields,
  type ItemId,
  itemKey,
  type Json,
  ofField,
  type Parameter,
  type PlacedProblem,
  parseRef,
  refText,
  type Suggestion,
  sourcesOf,
} from "../model";
import { editor, useEditor } from "../state/editor";
import { ExpressionField } from "./ExpressionField";
import { Field, Problems, spanOf, TextField } from "./fields";
import { NamedEditor, RowsEditor } from "./rows";

interface Props {
  item: ItemId;
  box: Box;
  parameter: Parameter;
  problems: PlacedProblem[];
}

const LABELS: Record<string, string> = {
  group_by: "group by",
  advance_when: "advance when",
  keep_empty: "keep empty",
};

/** One parameter of a box, in the editor that fits it. */
export function ParameterEditor({ item, box, parameter, problems }: Props) {
  const schemas = useEditor((state) => state.schemas);
  const { name, editor: kind } = parameter;
  const value = box[name];
  const mine = ofField(problems, name);
  const label = LABELS[name] ?? name;
  const streams = sourcesOf(box).map((ref) => schemaOf(ref, schemas));
  const attributes = attributesOf(streams);
  const set = (to: Json | undefined, ...rest: string[]) =>
    editor().run({ type: "set", item, path: [name, ...rest], value: to });
  const plain = bare(streams);

  switch (kind) {
    case "predicates":
      return (
        <RowsEditor
          label="predicates"
          values={Array.isArray(value) ? value.map(String) : []}
          onChange={(values) => set(values)}
          onSet={(index, text) => set(text, String(index))}
          problems={mine}
          attributes={attributes}
          ordered
        />
      );
    case "names":
    case "keys":
      return (
        <RowsEditor
          label={label}
          values={Array.isArray(value) ? value.map(String) : []}
          onChange={(values) => set(values.length === 0 && !parameter.required ? undefined : values)}
          onSet={(index, text) => set(text, String(index))}
          problems={mine}
          attributes={plain}
          ordered={kind === "keys"}
        />
      );
    case "expressions":
    case "window_functions":
      return (
        <NamedEditor
          label={label}
          values={(value ?? {}) as { [name: string]: Json }}
          onChange={(values) =>
            set(Object.keys(values).length === 0 && !parameter.required ? undefined : values)
          }
          problems={mine}
          attributes={kind === "window_functions" && box.box === "resample" ? bare([streams[1]]) : attributes}
          kinds={
            kind === "expressions"
              ? ["function"]
              : box.box === "resample"
                ? ["window", "interpolation", "function"]
                : ["window", "function"]
          }
        />
      );
    case "expression":
      return (
        <Field label={label} problems={mine}>
          {(id) => (
            <ExpressionField
              id={id}
              label={label}
              value={String(value ?? "")}
              attributes={attributes}
              isFaulty={mine.length > 0}
              onChange={(text) => set(text === "" && !parameter.required ? undefined : text)}
            />
          )}
        </Field>
      );
    case "order":
      return (
        <OrderEditor
          label={label}
          order={value as Fields | undefined}
          required={parameter.required}
          problems={mine}
          attributes={bare([name === "right" ? streams[1] : streams[0]])}
          onSet={set}
        />
      );
    case "flag": {
      const isSet = value === undefined ? parameter.default === true : value === true;
      return (
        <div className="field">
          <label className="check">
            <input
              type="checkbox"
              checked={isSet}
              onChange={(event) =>
                set(event.target.checked === (parameter.default ?? false) ? undefined : event.target.checked)
              }
            />
            {label}
          </label>
          <Problems problems={mine} />
        </div>
      );
    }
    case "choice":
      return (
        <Field label={label} problems={mine}>
          {(id) => (
            <select
              id={id}
              value={String(value ?? "")}
              onChange={(event) => set(event.target.value === "" ? undefined : event.target.value)}
            >
              <option value="">
                {parameter.default === undefined ? "—" : `${parameter.default} (usual)`}
              </option>
              {parameter.choices?.map((choice) => (
                <option key={choice}>{choice}</option>
              ))}
            </select>
          )}
        </Field>
      );
    case "name":
      return (
        <Field label={label} problems={mine}>
          {(id) => (
            <ExpressionField
              id={id}
              label={label}
              value={String(value ?? "")}
              attributes={plain}
              kinds={[]}
              isFaulty={mine.length > 0}
              onChange={(text) => set(text === "" && !parameter.required ? undefined : text)}
            />
          )}
        </Field>
      );
    default:
      return (
        <TextField
          label={label}
          mono
          value={value === undefined ? "" : String(value)}
          problems={mine}
          placeholder={parameter.default === undefined ? exampleOf(kind) : `${parameter.default} (usual)`}
          onChange={(text) => set(spanOf(text))}
        />
      );
  }
}

function exampleOf(kind: string): string {
  return kind === "span" ? "10, or 10 min" : kind === "length" ? "30 s" : "";
}

/** The schema of a stream, as the node's checker derived it. */
export function schemaOf(ref: string, schemas: Record<string, string>): string | undefined {
  const { id, port } = parseRef(ref);
  return schemas[refText(id, port)] ?? schemas[ref];
}

function bare(schemas: (string | undefined)[]): Suggestion[] {
  return schemas.flatMap((schema) => attributesOf([schema]));
}

function OrderEditor({
  label,
  order,
  required,
  problems,
  attributes,
  onSet,
}: {
  label: string;
  order: Fields | undefined;
  required: boolean;
  problems: PlacedProblem[];
  attributes: Suggestion[];
  onSet(value: Json | undefined, ...path: string[]): void;
}) {
  if (order === undefined)
    return (
      <div className="field">
        <button type="button" onClick={() => onSet({ on: "" })}>
          Add order: {label}
        </button>
        <Problems problems={problems} />
      </div>
    );
  const byProgress = order.by === "progress";
  const of = (name: string) => problems.filter((each) => each.field.startsWith(`${label}.${name}`));
  const rest = problems.filter(
    (each) =>
      !["on", "slack", "group_by", "by", "late"].some((name) => each.field.startsWith(`${label}.${name}`)),
  );
  return (
    <fieldset>
      <legend>
        {label}
        {!required && (
          <button
            type="button"
            className="quiet"
            aria-label={`remove order ${label}`}
            onClick={() => onSet(undefined)}
          >
            ×
          </button>
        )}
      </legend>
      <Field label="on" problems={of("on")}>
        {(id) => (
          <ExpressionField
            id={id}
            label="on"
            value={String(order.on ?? "")}
            attributes={[
              ...attributes,
              { text: "Tup#", kind: "attribute", detail: "the number of the tuple" },
            ]}
            kinds={[]}
            isFaulty={of("on").length > 0}
            onChange={(text) => onSet(text, "on")}
          />
        )}
      </Field>
      <RowsEditor
        label="group by"
        values={Array.isArray(order.group_by) ? order.group_by.map(String) : []}
        onChange={(values) => onSet(values.length > 0 ? values : undefined, "group_by")}
        onSet={(index, text) => onSet(text, "group_by", String(index))}
        problems={of("group_by")}
        attributes={attributes}
      />
      <div className="pair">
        <Field label="late by" problems={of("by")}>
          {(id) => (
            <select
              id={id}
              value={byProgress ? "progress" : "slack"}
              onChange={(event) => {
                const { slack: _, by: __, ...others } = order;
                onSet((event.target.value === "progress" ? { ...others, by: "progress" } : others) as Json);
              }}
            >
              <option value="slack">a slack</option>
              <option value="progress">marks</option>
            </select>
          )}
        </Field>
        {!byProgress && (
          <TextField
            label="slack"
            mono
            value={order.slack === undefined ? "" : String(order.slack)}
            placeholder="0, or 10 s"
            problems={of("slack")}
            onChange={(text) => onSet(spanOf(text), "slack")}
          />
        )}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={order.late === true}
          onChange={(event) => onSet(event.target.checked ? true : undefined, "late")}
        />
        an output for late tuples
      </label>
      <Problems problems={[...of("late"), ...rest]} />
    </fieldset>
  );
}

export function titleOfItem(item: ItemId): string {
  return itemKey(item);
}
