import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Sample } from "../service/types";
import { useLive } from "../state/live";
import { useShell } from "../state/shell";

const LINES = ["#2f7ed8", "#d9822b", "#2c9f6b", "#9a5fc9", "#c94f6d", "#5a7a8c"];

const CHARTS: { title: string; of(sample: Sample, output: string): number | null; unit: string }[] = [
  { title: "Throughput", unit: "tuples/s", of: (sample, output) => sample.outputs[output]?.rate ?? null },
  { title: "Delay, 95 %", unit: "s", of: (sample, output) => seconds(sample.outputs[output]?.p95) },
  { title: "Utility", unit: "", of: (sample, output) => sample.outputs[output]?.utility ?? null },
  {
    title: "Lost",
    unit: "fraction",
    of: (sample, output) => lostOf(sample, output),
  },
];

function seconds(ms: number | null | undefined): number | null {
  return ms == null ? null : ms / 1000;
}

function lostOf(sample: Sample, output: string): number | null {
  const found = sample.outputs[output];
  return found ? 1 - found.fraction : null;
}

/** Throughput, delay, utility and what was lost of the outputs over the last minutes. */
export function Charts() {
  const names = useLive((state) => Object.keys(state.sample?.outputs ?? {}).join("\n"));
  const outputs = names ? names.split("\n") : [];
  if (outputs.length === 0) return <p className="empty">No figures yet. They come when a network runs.</p>;
  return (
    <div>
      <ul className="legend">
        {outputs.map((output, index) => (
          <li key={output}>
            <Swatch index={index} /> {output}
          </li>
        ))}
      </ul>
      <div className="charts">
        {CHARTS.map((chart) => (
          <Chart key={chart.title} {...chart} outputs={outputs} />
        ))}
      </div>
    </div>
  );
}

function Swatch({ index }: { index: number }) {
  return <span className="swatch" style={{ background: LINES[index % LINES.length] }} aria-hidden="true" />;
}

function Chart({ title, unit, of, outputs }: (typeof CHARTS)[number] & { outputs: string[] }) {
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [latest, setLatest] = useState("");
  const key = outputs.join("\n");
  const theme = useShell((state) => state.theme);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is made anew only for other outputs or colours
  useEffect(() => {
    const element = holder.current!;
    const style = getComputedStyle(element.ownerDocument.documentElement);
    const ink = style.getPropertyValue("--muted");
    const grid = { stroke: style.getPropertyValue("--line"), width: 1 };
    const made = new uPlot(
      {
        width: element.clientWidth || 300,
        height: 132,
        legend: { show: false },
        cursor: { y: false },
        axes: [
          { stroke: ink, grid, size: 24, space: 60 },
          { stroke: ink, grid, size: 46 },
        ],
        scales:
          unit === "" || unit === "fraction"
            ? { y: { range: [0, 1] } }
            : { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        series: [
          {},
          ...outputs.map((label, index) => ({
            label,
            stroke: LINES[index % LINES.length]!,
            width: 2,
            points: { show: false },
          })),
        ],
      },
      [[], ...outputs.map(() => [])] as unknown as uPlot.AlignedData,
      element,
    );
    plot.current = made;
    const draw = () => {
      const samples = useLive.getState().samples;
      const data = [
        samples.map((sample) => sample.at / 1000),
        ...outputs.map((output) => samples.map((sample) => of(sample, output))),
      ];
      made.setData(data as uPlot.AlignedData);
      const last = samples.at(-1);
      const values = last ? outputs.map((output) => of(last, output)).filter((value) => value !== null) : [];
      setLatest(values.length > 0 ? Math.max(...values).toPrecision(3) : "—");
    };
    draw();
    const stop = useLive.subscribe(draw);
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: 132 }));
    resized.observe(element);
    return () => {
      stop();
      resized.disconnect();
      made.destroy();
    };
  }, [key, theme]);
  return (
    <figure className="chart">
      <figcaption title={title === "Lost" ? "what was shed, late or quarantined" : undefined}>
        {title} {unit && <span className="subtitle">{unit}</span>}
        <span className="latest" title="the greatest of the outputs now">
          {latest}
        </span>
      </figcaption>
      <div ref={holder} />
    </figure>
  );
}
