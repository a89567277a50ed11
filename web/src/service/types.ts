// What the node answers, as far as the editor uses it.

import type { Json, Network, Problem } from "../model";

export type Role = "viewer" | "operator" | "owner";
export type NodeState = "starting" | "empty" | "running" | "paused" | "failed" | "stopping";

export interface NodeInfo {
  version: string;
  root: string;
  runner: string;
  state: NodeState;
  error: string | null;
  network: { name: string; revision: string } | null;
  log_end: number;
  caller: { name: string; role: Role };
}

export interface Checked {
  ok: boolean;
  problems: Problem[];
  schemas: Record<string, string>;
}

export interface Deployed {
  network: Network;
  revision: string;
}

/** What a deployment would change, as lines for people, and what would be lost. */
export interface Difference {
  lines: string[];
  lost: string[];
}

/** A query at a connection point, and the names of its outputs. */
export interface Attached {
  name: string;
  outputs: string[];
  error: string | null;
}

export interface BoxSample {
  received: number;
  emitted: number;
  /** Tuples received, and emitted, per second. */
  rate: number;
  emitRate: number;
  cost_us: number | null;
  selectivity: number | null;
  late: number;
  rejected: number;
}

export interface ArcSample {
  rate: number;
  waiting: number;
  oldest_ms: number | null;
}

export interface OutputSample {
  rate: number;
  tuples: number;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  utility: number | null;
  fraction: number;
  waiting: number;
  shed: number;
}

export interface DropBox {
  number: number;
  /** The arc on which it stands. */
  stream: string;
  /** The predicate of the tuples that it sheds, if it looks at values. */
  where: string;
  share: number | null;
  since: number | null;
  until: number | null;
  arrived: number;
  shed: number;
}

/** One message of the live socket, in the editor's terms. */
export interface Sample {
  at: number;
  state: NodeState;
  boxes: Record<string, BoxSample>;
  arcs: Record<string, ArcSample>;
  inputs: Record<string, { rate: number; tuples: number }>;
  outputs: Record<string, OutputSample>;
  /** How many drop boxes are in place. */
  dropboxes: number;
  bottleneck: string | null;
}

/** A predicate on an arc, before whose tuples the node pauses. */
export interface Breakpoint {
  name: string;
  arc: string;
  where: string;
  stops: number;
  /** The tuple that the node waits before now. */
  stop: { superbox: string; seq: number; tuple: Tuple } | null;
  /** Why it can pause nothing in the network that runs. */
  problem: string;
}

/** A train that ran. */
export interface Train {
  superbox: string;
  lo: number;
  hi: number;
  received: number;
  emitted: number;
  run_us: number;
  boxes: string[];
  reads: string[];
  writes: string[];
}

/** The network before and after the optimiser. */
export interface Optimised {
  enabled: boolean;
  drawn: Network;
  running: Network;
  switches: { says: string[]; cost_before: number; cost_after: number; switch_ms: number }[];
}

export type Tuple = Record<string, Json>;
