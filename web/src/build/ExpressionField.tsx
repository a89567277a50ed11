import { useId, useRef, useState } from "react";
import { type Suggestion, suggestions, wordBefore } from "../model";
import { editor } from "../state/editor";

interface Props {
  value: string;
  onChange(value: string): void;
  attributes: Suggestion[];
  kinds?: ("function" | "window" | "interpolation")[];
  label: string;
  id?: string;
  isFaulty?: boolean;
  placeholder?: string;
  /** Whether several names are listed, separated by commas. */
  list?: boolean;
}

/** An expression with completion of attributes and functions: arrows choose, Enter or Tab takes, Escape closes. */
export function ExpressionField({
  value,
  onChange,
  attributes,
  kinds = ["function"],
  label,
  id,
  isFaulty = false,
  placeholder,
}: Props) {
  const own = useId();
  const field = useRef<HTMLInputElement>(null);
  const [offered, setOffered] = useState<Suggestion[]>([]);
  const [chosen, setChosen] = useState(0);
  const look = (text: string, cursor: number, asked = false) => {
    const { word } = wordBefore(text, cursor);
    setOffered(word || asked ? suggestions(word, attributes, kinds) : []);
    setChosen(0);
  };
  const take = (suggestion: Suggestion) => {
    const cursor = field.current?.selectionStart ?? value.length;
    const { begin } = wordBefore(value, cursor);
    const isCall = suggestion.kind !== "attribute";
    const text = isCall ? `${suggestion.text}(` : suggestion.text;
    onChange(value.slice(0, begin) + text + value.slice(cursor));
    setOffered([]);
    window.requestAnimationFrame(() =>
      field.current?.setSelectionRange(begin + text.length, begin + text.length),
    );
  };
  return (
    <span className="completing">
      <input
        ref={field}
        id={id}
        className={`mono ${isFaulty ? "faulty" : ""}`}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        role="combobox"
        aria-label={id ? undefined : label}
        aria-expanded={offered.length > 0}
        aria-controls={`${own}-list`}
        aria-autocomplete="list"
        aria-invalid={isFaulty}
        aria-activedescendant={offered.length > 0 ? `${own}-${chosen}` : undefined}
        onChange={(event) => {
          onChange(event.target.value);
          look(event.target.value, event.target.selectionStart ?? event.target.value.length);
        }}
        onBlur={() => {
          window.setTimeout(() => setOffered([]), 120);
          editor().settle();
        }}
        onKeyDown={(event) => {
          if (event.key === " " && event.ctrlKey) {
            event.preventDefault();
            look(value, event.currentTarget.selectionStart ?? value.length, true);
          }
          if (offered.length === 0) return;
          if (event.key === "ArrowDown" || event.key === "ArrowUp") {
            event.preventDefault();
            const step = event.key === "ArrowDown" ? 1 : offered.length - 1;
            setChosen((chosen + step) % offered.length);
          } else if (event.key === "Enter" || event.key === "Tab") {
            event.preventDefault();
            take(offered[chosen]!);
          } else if (event.key === "Escape") {
            event.stopPropagation();
            setOffered([]);
          }
        }}
      />
      <ul
        id={`${own}-list`}
        role="listbox"
        aria-label={`completions of ${label}`}
        hidden={offered.length === 0}
      >
        {offered.map((suggestion, index) => (
          <li
            key={`${suggestion.kind} ${suggestion.text}`}
            id={`${own}-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            onPointerDown={(event) => {
              event.preventDefault();
              take(suggestion);
            }}
          >
            <span className="mono">{suggestion.text}</span>
            <span className="subtitle">{suggestion.detail}</span>
          </li>
        ))}
      </ul>
    </span>
  );
}
