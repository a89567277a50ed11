// The breakpoints of the node, and the train that was stepped last, as long as it is seen to travel.

import { create } from "zustand";
import { api } from "../service/api";
import type { Breakpoint, Train } from "../service/types";
import { useNode } from "./node";

interface Stepping {
  breakpoints: Breakpoint[];
  train: Train | null;
}

export const useStepping = create<Stepping>()(() => ({ breakpoints: [], train: null }));

const ASK_EVERY_MS = 1500;

export async function askBreakpoints(): Promise<void> {
  try {
    useStepping.setState({ breakpoints: await api.breakpoints() });
  } catch {
    // A node without a network has none; one that is away is asked again.
    if (useNode.getState().info?.state === "empty") useStepping.setState({ breakpoints: [] });
  }
}

/** Ask now and then, as others may set breakpoints, and a node pauses by itself. */
export function keepAskingBreakpoints(): () => void {
  const timer = window.setInterval(() => {
    const { reach, info } = useNode.getState();
    if (reach === "connected" && info?.state !== "empty") void askBreakpoints();
  }, ASK_EVERY_MS);
  return () => window.clearInterval(timer);
}

/** The breakpoint at which the node waits. */
export function stopped(breakpoints: Breakpoint[]): Breakpoint | undefined {
  return breakpoints.find(({ stop }) => stop !== null);
}

export const HOP_MS = 550;
const SEEN_MS = 2500;
let timer = 0;

/** Show a train on its way, and then for a while where it went. */
export function showTrain(train: Train): void {
  window.clearTimeout(timer);
  useStepping.setState({ train });
  timer = window.setTimeout(
    () => useStepping.setState({ train: null }),
    (train.boxes.length + 1) * HOP_MS + SEEN_MS,
  );
}
