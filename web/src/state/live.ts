// Live figures: the latest sample, and some minutes of them for charts.

import { create } from "zustand";
import { api } from "../service/api";
import { dropBox, readSample } from "../service/sample";
import { connect } from "../service/socket";
import type { DropBox, Sample } from "../service/types";
import { useNode } from "./node";

export const SAMPLES_MOST = 600;
const ASK_EVERY_MS = 2000;
/** How many drop boxes are shown that are no longer in place. */
const WITHDRAWN_MOST = 20;

interface LiveStore {
  isOpen: boolean;
  sample: Sample | null;
  /** Earlier samples, the oldest first. */
  samples: Sample[];
  /** The drop boxes in place. */
  drops: DropBox[];
  /** Those of before, the latest first. */
  withdrawn: DropBox[];
}

export const useLive = create<LiveStore>()(() => ({
  isOpen: false,
  sample: null,
  samples: [],
  drops: [],
  withdrawn: [],
}));

export function keepListening(): () => void {
  let waiting: unknown = null;
  let isAsked = false;
  const show = () => {
    isAsked = false;
    const { sample: before, samples } = useLive.getState();
    const sample = readSample(waiting, before, weightOf);
    if (!sample) return;
    useLive.setState({ sample, samples: [...samples, sample].slice(-SAMPLES_MOST) });
    if (sample.dropboxes > 0 || useLive.getState().drops.length > 0) void askDrops();
  };
  const connection = connect(
    (message) => {
      // The latest sample wins: a page that is busy draws only the last one.
      waiting = message;
      if (isAsked) return;
      isAsked = true;
      window.setTimeout(show, 0);
    },
    (isOpen) => useLive.setState({ isOpen }),
  );
  // Where no socket comes through, such as behind some proxies, the figures are asked for.
  const timer = window.setInterval(() => {
    const { isOpen } = useLive.getState();
    const { reach, info } = useNode.getState();
    if (isOpen || reach !== "connected" || info?.state === "empty") return;
    api.statistics().then(
      (statistics) => {
        waiting = { ...statistics, state: info?.state };
        show();
      },
      () => {},
    );
  }, ASK_EVERY_MS);
  return () => {
    connection.close();
    window.clearInterval(timer);
  };
}

/** Ask where tuples are shed, and were. */
export async function askDrops(): Promise<void> {
  try {
    const log = await api.dropboxes();
    const all = log.map(dropBox).reverse();
    useLive.setState({
      drops: all.filter(({ until }) => until === null),
      withdrawn: all.filter(({ until }) => until !== null).slice(0, WITHDRAWN_MOST),
    });
  } catch {
    // The next sample asks again.
  }
}

function weightOf(output: string): number {
  return useNode.getState().deployed?.network.outputs?.[output]?.quality?.weight ?? 1;
}
