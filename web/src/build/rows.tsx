import { useState } from "react";
import type { Json, PlacedProblem, Suggestion } from "../model";
import { ExpressionField } from "./ExpressionField";
import { Problems } from "./fields";

interface RowsProps {
  label: string;
  values: string[];
  onChange(values: string[]): void;
  onSet(index: number, text: string): void;
  problems: PlacedProblem[];
  attributes: Suggestion[];
  /** Whether the order of the rows counts. */
  ordered?: boolean;
}

/** A list of expressions or names, a row for each. */
export function RowsEditor({
  label,
  values,
  onChange,
  onSet,
  problems,
  attributes,
  ordered = false,
}: RowsProps) {
  const of = (index: number) => problems.filter((each) => each.field.includes(`[${index}]`));
  const rest = problems.filter((each) => !values.some((_, index) => each.field.includes(`[${index}]`)));
  const swapped = (index: number) =>
    values.map((value, each) =>
      each === index ? values[index - 1]! : each === index - 1 ? values[index]! : value,
    );
  return (
    <fieldset>
      <legend>{label}</legend>
      {values.map((value, index) => (
        <div key={index}>
          <div className="row">
            <ExpressionField
              label={`${label} ${index + 1}`}
              value={value}
              attributes={attributes}
              kinds={label === "predicates" ? ["function"] : []}
              isFaulty={of(index).length > 0}
              onChange={(text) => onSet(index, text)}
            />
            {ordered && index > 0 && (
              <button
                type="button"
                className="quiet"
                aria-label={`move ${label} ${index + 1} up`}
                onClick={() => onChange(swapped(index))}
              >
                ↑
              </button>
            )}
            <button
              type="button"
              className="quiet"
              aria-label={`remove ${label} ${index + 1}`}
              onClick={() => onChange(values.filter((_, each) => each !== index))}
            >
              ×
            </button>
          </div>
          <Problems problems={of(index)} />
        </div>
      ))}
      <button type="button" className="add" onClick={() => onChange([...values, ""])}>
        + {label === "predicates" ? "predicate" : "row"}
      </button>
      <Problems problems={rest} />
    </fieldset>
  );
}

interface NamedProps {
  label: string;
  values: { [name: string]: Json };
  onChange(values: { [name: string]: Json }): void;
  problems: PlacedProblem[];
  attributes: Suggestion[];
  kinds: ("function" | "window" | "interpolation")[];
}

/** Expressions by the name of the attribute that they make. */
export function NamedEditor({ label, values, onChange, problems, attributes, kinds }: NamedProps) {
  const entries = Object.entries(values);
  const of = (name: string) => problems.filter((each) => each.field.startsWith(`${label}.${name}`));
  const rest = problems.filter(
    (each) => !entries.some(([name]) => each.field.startsWith(`${label}.${name}`)),
  );
  const renamed = (from: string, to: string) =>
    to !== "" &&
    !(to in values) &&
    onChange(Object.fromEntries(entries.map(([name, text]) => [name === from ? to : name, text])));
  const missing = attributes.filter(({ text }) => !(text in values) && !text.includes("."));
  return (
    <fieldset>
      <legend>{label}</legend>
      {entries.map(([name, text], index) => (
        <div key={index}>
          <div className="row">
            <NameCell
              name={name}
              label={`name of ${label} ${index + 1}`}
              onCommit={(to) => renamed(name, to)}
            />
            <ExpressionField
              label={`${label} ${name}`}
              value={String(text)}
              attributes={attributes}
              kinds={kinds}
              isFaulty={of(name).length > 0}
              onChange={(to) => onChange({ ...values, [name]: to })}
            />
            <button
              type="button"
              className="quiet"
              aria-label={`remove ${label} ${name}`}
              onClick={() => onChange(Object.fromEntries(entries.filter(([each]) => each !== name)))}
            >
              ×
            </button>
          </div>
          <Problems problems={of(name)} />
        </div>
      ))}
      <div className="row">
        <button
          type="button"
          className="add"
          onClick={() => onChange({ ...values, [freshName(values)]: "" })}
        >
          + attribute
        </button>
        {kinds.length === 1 && missing.length > 0 && (
          <button
            type="button"
            className="add"
            onClick={() =>
              onChange({ ...values, ...Object.fromEntries(missing.map(({ text }) => [text, text])) })
            }
          >
            + all of the input
          </button>
        )}
      </div>
      <Problems problems={rest} />
    </fieldset>
  );
}

function freshName(values: object): string {
  let number = 1;
  while (`x${number}` in values) number += 1;
  return `x${number}`;
}

function NameCell({ name, label, onCommit }: { name: string; label: string; onCommit(to: string): void }) {
  const [text, setText] = useState<string | null>(null);
  return (
    <input
      className="mono name-cell"
      aria-label={label}
      value={text ?? name}
      spellCheck={false}
      onChange={(event) => setText(event.target.value)}
      onBlur={() => {
        if (text !== null && text !== name) onCommit(text);
        setText(null);
      }}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}
