import { big, cost, duration, percent, perSecond } from "../shell/numbers";
import { useEditor } from "../state/editor";
import { useLive } from "../state/live";
import { shell } from "../state/shell";

/** What a box does, in figures. */
export function BoxLive({ id }: { id: string }) {
  const box = useLive((state) => state.sample?.boxes[id]);
  const drops = useLive((state) => state.drops);
  if (!box) return <p className="hint">It does not run yet: deploy the network.</p>;
  const sheds = drops.filter((each) => each.stream === id || each.stream.startsWith(`${id}.`));
  const rows: [string, string][] = [
    ["rate", perSecond(box.rate)],
    ["received", big(box.received)],
    ["emitted", big(box.emitted)],
    ["selectivity", box.selectivity === null ? "—" : box.selectivity.toFixed(3)],
    ["cost", box.cost_us === null ? "—" : `${cost(box.cost_us)} a tuple`],
    ["late", big(box.late)],
    ["quarantined", big(box.rejected)],
  ];
  return (
    <section>
      <h3>Now</h3>
      <Figures rows={rows} />
      {sheds.map((each) => (
        <p key={`${each.stream}${each.where}`} className="problem">
          A drop box sheds {each.share === null ? "" : percent(each.share)}{" "}
          {each.where && `where ${each.where}`}: {big(each.shed)} so far
        </p>
      ))}
      <div className="buttons">
        <button type="button" onClick={() => shell().watch(id)}>
          Peek and tap
        </button>
      </div>
    </section>
  );
}

export function OutputLive({ name }: { name: string }) {
  const output = useLive((state) => state.sample?.outputs[name]);
  if (!output) return <p className="hint">It does not run yet: deploy the network.</p>;
  const ms = (value: number | null) => (value === null ? "—" : duration(value));
  const rows: [string, string][] = [
    ["tuples", big(output.tuples)],
    ["rate", perSecond(output.rate)],
    ["delay, median", ms(output.p50)],
    ["delay, 95 %", ms(output.p95)],
    ["delay, 99 %", ms(output.p99)],
    ["delivered", percent(output.fraction)],
    ["waiting upstream", big(output.waiting)],
    ["shed", big(output.shed)],
    ["utility", output.utility === null ? "—" : percent(output.utility)],
  ];
  return (
    <section>
      <h3>Now</h3>
      <Figures rows={rows} />
      <div className="buttons">
        <button type="button" onClick={() => shell().watch(`output:${name}`)}>
          Tuples
        </button>
        <button type="button" onClick={() => shell().show("charts")}>
          Charts
        </button>
      </div>
    </section>
  );
}

export function Figures({ rows }: { rows: [string, string][] }) {
  return (
    <dl className="figures-list" data-testid="figures">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Whether the page watches a running network. */
export function useIsRun(): boolean {
  return useEditor((state) => state.mode === "run");
}
