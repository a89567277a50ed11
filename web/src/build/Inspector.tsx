import { signOf, toneOf } from "../canvas/glyphs";
import {
  type Box,
  fieldsOf,
  freeName,
  type ItemId,
  inputPortName,
  itemKey,
  itemKind,
  joined,
  KINDS,
  lastPart,
  type Network,
  type NodeId,
  outputPortName,
  outputPorts,
  parentOf,
  parseRef,
  refText,
  refusal,
  sourcesOf,
} from "../model";
import { QualityEditor } from "../quality/QualityEditor";
import { ArcBreakpoints } from "../run/Breakpoints";
import { BoxLive, OutputLive } from "../run/LivePart";
import { editor, useDocument, useEditor } from "../state/editor";
import { useMay } from "../state/node";
import { shell } from "../state/shell";
import { Field, NameField, Problems, TextField } from "./fields";
import { InputEditor } from "./InputEditor";
import { ParameterEditor, schemaOf } from "./ParameterEditor";
import { PointEditor } from "./PointEditor";
import { Several } from "./Several";

/** What is selected, to be read and changed. */
export function Inspector() {
  const selection = useEditor((state) => state.selection);
  const arc = useEditor((state) => state.arc);
  const document = useDocument();
  const item = selection[0];
  let content = <NetworkEditor network={document.network} />;
  if (arc !== null) content = <ArcEditor reference={arc} />;
  else if (selection.length > 1) content = <Several selection={selection} />;
  else if (item) content = <ItemEditor key={item} item={item} />;
  return (
    <aside className="panel right" aria-label="inspector" data-testid="inspector">
      <div className="scroll" tabIndex={0} role="region" aria-label="properties">
        {content}
      </div>
    </aside>
  );
}

function ItemEditor({ item }: { item: NodeId }) {
  const { network } = useDocument();
  if (item.startsWith("from/") || item.startsWith("to/"))
    return <ArcEditor reference={item.slice(item.indexOf("/") + 1)} />;
  const id = item as ItemId;
  const key = itemKey(id);
  switch (itemKind(id)) {
    case "box": {
      const box = network.boxes?.[key];
      return box ? <BoxEditor item={id} box={box} /> : null;
    }
    case "input": {
      const input = network.inputs?.[key];
      return input ? <InputEditor item={id} input={input} /> : null;
    }
    case "output":
      return network.outputs?.[key] ? <OutputEditor item={id} /> : null;
    case "group":
      return <GroupEditor item={id} />;
  }
}

export function Heading({ kind, title, type }: { kind: string; title: string; type: string }) {
  return (
    <header className={`heading tone-${toneOf(kind)}`}>
      <span className="sign" aria-hidden="true">
        {signOf(kind)}
      </span>
      <div>
        <h2>{title}</h2>
        <p className="subtitle">{type}</p>
      </div>
    </header>
  );
}

function BoxEditor({ item, box }: { item: ItemId; box: Box }) {
  const all = useEditor((state) => state.problems);
  const isRun = useEditor((state) => state.mode === "run");
  const problems = all.filter((each) => each.item === item);
  const key = itemKey(item);
  const kind = KINDS.get(box.box);
  const shown = new Set([
    "from",
    "tag",
    "description",
    ...(kind?.parameters.map((parameter) => parameter.name) ?? []),
  ]);
  const others = problems.filter((each) => !shown.has(each.field.split(/[.[]/)[0]!));
  return (
    <>
      <Heading kind={box.box} title={lastPart(key)} type={`${box.box} · ${kind?.does ?? ""}`} />
      {isRun && <BoxLive id={key} />}
      <Problems problems={others} />
      <Ports item={item} box={box} />
      <section>
        <h3>
          Arguments
          <button
            type="button"
            className="quiet"
            onClick={() => shell().open({ type: "manual", kind: box.box })}
          >
            manual
          </button>
        </h3>
        {kind?.parameters.map((parameter) => (
          <ParameterEditor
            key={parameter.name}
            item={item}
            box={box}
            parameter={parameter}
            problems={problems}
          />
        ))}
        {kind?.parameters.length === 0 && <p className="hint">It has none.</p>}
      </section>
      <Results id={key} box={box} />
      <section>
        <h3>About</h3>
        <NameField
          label="name"
          value={lastPart(key)}
          onCommit={(to) => editor().run({ type: "rename", item, to: joined(parentOf(key), to) })}
        />
        <Texts item={item} part={box} />
      </section>
    </>
  );
}

function Texts({ item, part }: { item: ItemId; part: { tag?: unknown; description?: unknown } }) {
  const set = (field: string, value: string) =>
    editor().run({ type: "set", item, path: [field], value: value || undefined });
  return (
    <>
      {itemKind(item) !== "input" && itemKind(item) !== "output" && (
        <TextField label="tag" value={String(part.tag ?? "")} onChange={(text) => set("tag", text)} />
      )}
      <TextField
        label="description"
        value={String(part.description ?? "")}
        onChange={(text) => set("description", text)}
      />
    </>
  );
}

/** All streams that could be read, for connecting by keyboard. */
function streamsOf(network: Network): string[] {
  return [
    ...Object.keys(network.inputs ?? {}),
    ...Object.entries(network.boxes ?? {}).flatMap(([id, box]) =>
      Array.from({ length: outputPorts(box) }, (_, port) => refText(id, port)),
    ),
  ];
}

function Source({ item, port, label, value }: { item: ItemId; port: number; label: string; value: string }) {
  const document = useDocument();
  const options = streamsOf(document.network).filter((ref) => refusal(document, ref, item, port) === null);
  return (
    <Field label={label}>
      {(id) => (
        <select
          id={id}
          className="mono"
          value={value}
          onChange={(event) => {
            const from = event.target.value;
            editor().run(
              from ? { type: "connect", from, to: item, port } : { type: "disconnect", to: item, port },
            );
          }}
        >
          <option value="">— not connected —</option>
          {value !== "" && !options.includes(value) && <option>{value}</option>}
          {options.map((ref) => (
            <option key={ref}>{ref}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Ports({ item, box }: { item: ItemId; box: Box }) {
  const all = useEditor((state) => state.problems);
  const sources = sourcesOf(box);
  const [least, most] = KINDS.get(box.box)?.inputs ?? [1, 1];
  const count = most === null ? Math.max(least, sources.length + 1) : Math.max(least, sources.length);
  return (
    <section>
      <h3>Reads</h3>
      {Array.from({ length: count }, (_, port) => (
        <Source
          key={port}
          item={item}
          port={port}
          label={inputPortName(box, port)}
          value={sources[port] ?? ""}
        />
      ))}
      <Problems problems={all.filter((each) => each.item === item && each.field.startsWith("from"))} />
    </section>
  );
}

function Results({ id, box }: { id: string; box: Box }) {
  const schemas = useEditor((state) => state.schemas);
  return (
    <section>
      <h3>Results</h3>
      {Array.from({ length: outputPorts(box) }, (_, port) => (
        <div key={port} className="result">
          <button type="button" className="link mono" onClick={() => editor().selectArc(refText(id, port))}>
            {refText(lastPart(id), port)}
          </button>
          <span className="subtitle"> {outputPortName(box, port)}</span>
          <SchemaList schema={schemaOf(refText(id, port), schemas)} />
        </div>
      ))}
    </section>
  );
}

export function SchemaList({ schema }: { schema: string | undefined }) {
  if (!schema) return <p className="hint">The schema is known when all before it is right.</p>;
  return (
    <dl className="schema">
      {fieldsOf(schema).map(([name, type]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>{type}</dd>
        </div>
      ))}
    </dl>
  );
}

function OutputEditor({ item }: { item: ItemId }) {
  const document = useDocument();
  const all = useEditor((state) => state.problems);
  const isRun = useEditor((state) => state.mode === "run");
  const key = itemKey(item);
  const output = document.network.outputs![key]!;
  const problems = all.filter((each) => each.item === item);
  return (
    <>
      <Heading kind="output" title={key} type="output: a stream to applications" />
      {isRun && <OutputLive name={key} />}
      <section>
        <h3>Reads</h3>
        <Source item={item} port={0} label="stream" value={output.from} />
        <Problems problems={problems.filter((each) => !each.field.startsWith("quality"))} />
      </section>
      <QualityEditor item={item} quality={output.quality} problems={problems} schemaRef={output.from} />
      <section>
        <h3>About</h3>
        <NameField label="name" value={key} onCommit={(to) => editor().run({ type: "rename", item, to })} />
        <Texts item={item} part={output} />
      </section>
    </>
  );
}

function GroupEditor({ item }: { item: ItemId }) {
  const { network } = useDocument();
  const key = itemKey(item);
  return (
    <>
      <Heading kind="group" title={lastPart(key)} type="group: a superbox" />
      <section className="buttons">
        <button type="button" onClick={() => editor().enter(key)}>
          Open
        </button>
        <button type="button" onClick={() => editor().run({ type: "ungroup", group: key })}>
          Ungroup
        </button>
      </section>
      <section>
        <h3>About</h3>
        <NameField
          label="name"
          value={lastPart(key)}
          onCommit={(to) => editor().run({ type: "rename", item, to: joined(parentOf(key), to) })}
        />
        <Texts item={item} part={network.groups?.[key] ?? {}} />
      </section>
    </>
  );
}

function ArcEditor({ reference }: { reference: string }) {
  const { network } = useDocument();
  const schemas = useEditor((state) => state.schemas);
  const isRun = useEditor((state) => state.mode === "run");
  const points = Object.entries(network.connection_points ?? {}).filter(
    ([, point]) => point.at === reference,
  );
  const { id } = parseRef(reference);
  const mayAttach = useMay("operator");
  return (
    <>
      <Heading kind="arc" title={reference} type={`arc: the stream ${reference}`} />
      {isRun && (
        <section className="buttons">
          <button type="button" onClick={() => shell().watch(reference)}>
            Peek and tap
          </button>
          {(mayAttach ? points : []).map(([name]) => (
            <button key={name} type="button" onClick={() => shell().open({ type: "query", point: name })}>
              Query {name}
            </button>
          ))}
        </section>
      )}
      {isRun && <ArcBreakpoints key={reference} arc={reference} />}
      <section>
        <h3>Schema</h3>
        <SchemaList schema={schemaOf(reference, schemas)} />
        <button
          type="button"
          className="link"
          onClick={() => editor().goTo(id in (network.inputs ?? {}) ? `input/${id}` : `box/${id}`)}
        >
          Go to {id}
        </button>
      </section>
      <section>
        <h3>Connection points</h3>
        <p className="hint">Where the arc keeps history, and queries attach.</p>
        {points.map(([name, point]) => (
          <PointEditor key={name} name={name} point={point} />
        ))}
        <button
          type="button"
          className="add"
          onClick={() => {
            const name = freeName("point", (each) => each in (network.connection_points ?? {}));
            editor().run({ type: "set_point", name, point: { at: reference, history: "1 h" } });
          }}
        >
          + connection point
        </button>
      </section>
    </>
  );
}

function NetworkEditor({ network }: { network: Network }) {
  const problems = useEditor((state) => state.problems).filter((each) => each.item === null);
  const set = (field: "name" | "description" | "timezone") => (value: string) =>
    editor().run({ type: "set_network", field, value });
  const count = (items: object | undefined) => Object.keys(items ?? {}).length;
  return (
    <>
      <Heading kind="group" title={network.name} type="network" />
      <p className="hint">
        {of(count(network.inputs), "input")}, {of(count(network.boxes), "box")},{" "}
        {of(count(network.outputs), "output")}
      </p>
      <Problems problems={problems} />
      <section>
        <NameField label="name" value={network.name} onCommit={set("name")} />
        <TextField label="description" value={network.description ?? ""} onChange={set("description")} />
        <TextField
          label="time zone"
          value={network.timezone ?? ""}
          placeholder="UTC"
          onChange={set("timezone")}
        />
      </section>
      {count(network.connection_points) > 0 && (
        <section>
          <h3>Connection points</h3>
          {Object.entries(network.connection_points ?? {}).map(([name, point]) => (
            <div key={name} className="row">
              <button type="button" className="item" onClick={() => editor().selectArc(point.at)}>
                <span className="title">◉ {name}</span>
                <span className="subtitle">
                  on {point.at}, {String(point.history ?? "no history")}
                </span>
              </button>
            </div>
          ))}
        </section>
      )}
      <p className="hint">
        Select a part to edit it. Press <kbd>Ctrl</kbd> <kbd>K</kbd> for commands, <kbd>?</kbd> for keys.
      </p>
    </>
  );
}

/** A number of things: "1 box", "2 boxes". */
function of(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : thing.endsWith("x") ? "es" : "s"}`;
}
