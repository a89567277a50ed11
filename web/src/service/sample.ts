// Messages of the live socket in the editor's terms; what a message lacks is computed from the one before.

import type { ArcSample, BoxSample, DropBox, NodeState, OutputSample, Sample } from "./types";

type Raw = Record<string, unknown>;

/** `weightOf` says by how much the utility of an output counts. */
export function readSample(
  message: unknown,
  before: Sample | null,
  weightOf: (output: string) => number = () => 1,
): Sample | null {
  if (!isRecord(message)) return null;
  const at =
    typeof message.at === "number" ? message.at * 1000 : Date.parse(String(message.at)) || Date.now();
  const seconds = before ? Math.max(0.001, (at - before.at) / 1000) : 1;
  const boxes = each(message.boxes, (raw, id): BoxSample => {
    const received = number(raw.received) ?? 0;
    const emitted = number(raw.emitted) ?? 0;
    return {
      received,
      emitted,
      emitRate: rate(emitted, before?.boxes[id]?.emitted, seconds),
      rate: number(raw.rate) ?? rate(received, before?.boxes[id]?.received, seconds),
      cost_us: number(raw.cost_us),
      selectivity: number(raw.selectivity),
      late: number(raw.late) ?? 0,
      rejected: number(raw.rejected) ?? 0,
    };
  });
  const arcs = each(isRecord(message.queues) ? message.queues : message.arcs, (raw): ArcSample => {
    // What is kept for an output that nobody reads waits for no train.
    const oldestUs = number(raw.due_oldest_us);
    return {
      rate: number(raw.rate) ?? 0,
      waiting: number(raw.due) ?? 0,
      oldest_ms: oldestUs === null ? null : Math.max(0, at - oldestUs / 1000),
    };
  });
  const inputs = each(message.inputs, (raw, name) => {
    const tuples = number(raw.tuples) ?? number(raw.received) ?? 0;
    return { tuples, rate: number(raw.rate) ?? rate(tuples, before?.inputs[name]?.tuples, seconds) };
  });
  const quality = isRecord(message.quality) ? message.quality.outputs : undefined;
  const recent = each(quality, (raw) => raw);
  const outputs = each(message.outputs, (total, name): OutputSample => {
    // What an output received in the last seconds says more than all that it ever received.
    const raw: Raw = { ...total, ...recent[name], tuples: total.tuples };
    const tuples = number(raw.tuples) ?? 0;
    return {
      tuples,
      rate: number(raw.rate) ?? rate(tuples, before?.outputs[name]?.tuples, seconds),
      p50: number(raw.delay_ms_p50),
      p95: number(raw.delay_ms_p95),
      p99: number(raw.delay_ms_p99),
      utility: shareOf(number(raw.utility), weightOf(name)),
      fraction: number(raw.fraction) ?? 1,
      waiting: number(raw.waiting) ?? 0,
      shed: number(raw.shed) ?? 0,
    };
  });
  return {
    at,
    state: (message.state as NodeState) ?? "running",
    boxes,
    arcs,
    inputs,
    outputs,
    dropboxes: Array.isArray(message.dropboxes) ? message.dropboxes.length : (number(message.dropboxes) ?? 0),
    // While trains are paused, what waits says nothing of how fast they are.
    bottleneck: message.state === "paused" ? null : bottleneckOf(arcs),
  };
}

const BACKLOG_MS = 3000;
const BACKLOG = 100;

/** The stream whose oldest tuple has waited longest, if that is long: what reads it is the bottleneck. */
function bottleneckOf(arcs: Record<string, ArcSample>): string | null {
  const late = Object.entries(arcs).filter(
    ([, arc]) => arc.waiting >= BACKLOG && (arc.oldest_ms ?? 0) > BACKLOG_MS,
  );
  return late.sort(([, one], [, other]) => (other.oldest_ms ?? 0) - (one.oldest_ms ?? 0))[0]?.[0] ?? null;
}

/** A utility without its weight, from 0 to 1. */
function shareOf(utility: number | null, weight: number): number | null {
  return utility === null ? null : utility / weight;
}

/** A drop box, from the log of them. */
export function dropBox(raw: Raw): DropBox {
  return {
    number: number(raw.number) ?? 0,
    stream: String(raw.arc ?? raw.stream ?? ""),
    where: String(raw.where ?? ""),
    share: number(raw.share),
    since: number(raw.since),
    until: number(raw.until),
    arrived: number(raw.arrived) ?? 0,
    shed: number(raw.shed) ?? 0,
  };
}

const BUCKETS_PER_OCTAVE = 8;

/** Delays by the middle of their bucket in seconds; buckets are parts of an octave of microseconds. */
export function delayBuckets(raw: unknown): [number, number][] {
  if (!isRecord(raw)) return [];
  return Object.entries(raw)
    .map(([index, count]): [number, number] => [
      2 ** ((Number(index) + 0.5) / BUCKETS_PER_OCTAVE) / 1e6,
      Number(count),
    ])
    .sort(([one], [other]) => one - other);
}

function rate(now: number, before: number | undefined, seconds: number): number {
  return before === undefined ? 0 : Math.max(0, (now - before) / seconds);
}

function each<T>(items: unknown, read: (raw: Raw, name: string) => T): Record<string, T> {
  if (!isRecord(items)) return {};
  return Object.fromEntries(
    Object.entries(items).map(([name, raw]) => [name, read(isRecord(raw) ? raw : { waiting: raw }, name)]),
  );
}

function number(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function isRecord(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
