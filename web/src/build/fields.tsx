import { type ReactNode, useId } from "react";
import { ofField, type PlacedProblem } from "../model";
import { editor } from "../state/editor";

/** A labelled field with the checker's problems below it. */
export function Field({
  label,
  problems = [],
  hint,
  children,
}: {
  label: string;
  problems?: PlacedProblem[];
  hint?: string;
  children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div className={`field ${problems.length > 0 ? "faulty" : ""}`}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
      {hint && <p className="hint">{hint}</p>}
      <Problems problems={problems} />
    </div>
  );
}

export function Problems({ problems }: { problems: PlacedProblem[] }) {
  return problems.map((problem) => (
    <p key={`${problem.path} ${problem.what}`} className="problem">
      {problem.what}
      {problem.expected && <span className="expected"> Expected {problem.expected}.</span>}
    </p>
  ));
}

export function TextField({
  label,
  value,
  onChange,
  problems,
  placeholder,
  mono = false,
}: {
  label: string;
  value: string;
  onChange(value: string): void;
  problems?: PlacedProblem[];
  placeholder?: string;
  mono?: boolean;
}) {
  return (
    <Field label={label} problems={problems ?? []}>
      {(id) => (
        <input
          id={id}
          className={mono ? "mono" : ""}
          value={value}
          placeholder={placeholder}
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
          onBlur={() => editor().settle()}
        />
      )}
    </Field>
  );
}

/** A name that is taken over when the field is left, or Enter is pressed. */
export function NameField({
  label,
  value,
  onCommit,
}: {
  label: string;
  value: string;
  onCommit(value: string): void;
}) {
  return (
    <Field label={label}>
      {(id) => (
        <input
          key={value}
          id={id}
          className="mono"
          defaultValue={value}
          spellCheck={false}
          onBlur={(event) => event.target.value !== value && onCommit(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key === "Escape") {
              event.currentTarget.value = value;
              event.currentTarget.blur();
            }
          }}
        />
      )}
    </Field>
  );
}

/** A number where the text is one, else the text: sizes are `10` or `10 min`. */
export function spanOf(text: string): string | number | undefined {
  if (text.trim() === "") return undefined;
  return /^-?[0-9]+(\.[0-9]+)?$/.test(text.trim()) ? Number(text) : text;
}

export const fieldProblems = ofField;
