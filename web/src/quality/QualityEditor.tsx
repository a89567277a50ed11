import { Problems, TextField } from "../build/fields";
import { schemaOf } from "../build/ParameterEditor";
import {
  FIRST,
  fieldsOf,
  type GraphKind,
  type ItemId,
  itemKey,
  type Json,
  type PlacedProblem,
  type Point,
  type Quality,
} from "../model";
import { percent } from "../shell/numbers";
import { editor, useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { GraphEditor } from "./GraphEditor";
import { useDelays } from "./useDelays";

interface Props {
  item: ItemId;
  quality: Quality | undefined;
  problems: PlacedProblem[];
  schemaRef: string;
}

const TITLES: Record<GraphKind, string> = {
  delay: "Delay",
  loss: "Loss",
  value: "Value",
};
const HINTS: Record<GraphKind, string> = {
  delay: "What a result is worth by its age.",
  loss: "What the output is worth by the fraction that is delivered.",
  value: "What a tuple is worth by an attribute: what is worth least is shed first.",
};

/** The QoS graphs of an output: how good it is by delay, by the fraction delivered, and by value. */
export function QualityEditor({ item, quality, problems, schemaRef }: Props) {
  const schemas = useEditor((state) => state.schemas);
  const output = useLive((state) => state.sample?.outputs[itemKey(item)]);
  const delays = useDelays(itemKey(item), output !== undefined);
  const mine = problems.filter((each) => each.field.startsWith("quality"));
  const set = (path: string[], value: Json | undefined) =>
    editor().run({ type: "set", item, path: ["quality", ...path], value });
  const settle = () => editor().settle();
  const delay = quality?.delay;
  const delayPoints = delay && (Array.isArray(delay) ? delay : delay.points);
  const since = delay && !Array.isArray(delay) ? (delay.since ?? "oldest") : "oldest";
  const value = quality?.value;
  const graphs: [GraphKind, Point[] | undefined][] = [
    ["delay", delayPoints],
    ["loss", quality?.loss],
    ["value", value?.points],
  ];
  const add = (kind: GraphKind) => {
    const attribute = fieldsOf(schemaOf(schemaRef, schemas) ?? "")[0]?.[0] ?? "value";
    set([kind], (kind === "value" ? { attribute, points: FIRST.value } : FIRST[kind]) as unknown as Json);
  };
  const change = (kind: GraphKind, points: Point[]) => {
    if (kind === "value") set(["value", "points"], points);
    else if (kind === "delay" && delay && !Array.isArray(delay)) set(["delay", "points"], points);
    else set([kind], points);
  };
  const remove = (kind: GraphKind) => {
    const { [kind]: _, ...rest } = quality ?? {};
    const isEmpty = Object.keys(rest).filter((name) => name !== "weight").length === 0;
    set([], isEmpty ? undefined : (rest as unknown as Json));
  };
  return (
    <section data-testid="quality">
      <h3>Quality of service</h3>
      {output?.utility != null && (
        <p className="utility">
          utility now <strong>{percent(output.utility)}</strong>
        </p>
      )}
      {graphs.map(([kind, points]) => (
        <fieldset key={kind}>
          <legend>
            {TITLES[kind]}
            {(points || (kind === "value" && value)) && (
              <button
                type="button"
                className="quiet"
                aria-label={`remove the ${kind} graph`}
                onClick={() => remove(kind)}
              >
                ×
              </button>
            )}
          </legend>
          {points ? (
            <>
              {kind === "delay" && (
                <label className="inline">
                  counts from the{" "}
                  <select
                    value={since}
                    onChange={(event) =>
                      set(
                        ["delay"],
                        (event.target.value === "trigger"
                          ? { since: "trigger", points }
                          : points) as unknown as Json,
                      )
                    }
                  >
                    <option value="oldest">oldest tuple used</option>
                    <option value="trigger">event that caused it</option>
                  </select>
                </label>
              )}
              {kind === "value" && (
                <TextField
                  label="attribute"
                  mono
                  value={value?.attribute ?? ""}
                  onChange={(text) => set(["value", "attribute"], text)}
                />
              )}
              <GraphEditor
                kind={kind}
                points={points}
                unit={
                  kind === "delay" ? "seconds" : kind === "loss" ? "fraction" : (value?.attribute ?? "value")
                }
                distribution={kind === "delay" ? delays : []}
                present={
                  kind === "delay"
                    ? output?.p95 == null
                      ? null
                      : output.p95 / 1000
                    : kind === "loss"
                      ? (output?.fraction ?? null)
                      : null
                }
                onChange={(made) => change(kind, made)}
                onSettle={settle}
              />
            </>
          ) : kind === "value" && value?.categories ? (
            <p className="hint">
              By category:{" "}
              {Object.entries(value.categories)
                .map(([name, u]) => `${name} ${u}`)
                .join(", ")}
            </p>
          ) : (
            <>
              <p className="hint">{HINTS[kind]}</p>
              <button type="button" className="add" onClick={() => add(kind)}>
                + {kind} graph
              </button>
            </>
          )}
        </fieldset>
      ))}
      {quality && (
        <TextField
          label="weight"
          mono
          value={String(quality.weight ?? "")}
          placeholder="1"
          onChange={(text) =>
            set(["weight"], text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text))
          }
        />
      )}
      <Problems problems={mine} />
    </section>
  );
}
