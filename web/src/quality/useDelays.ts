import { useEffect, useState } from "react";
import { api } from "../service/api";
import { delayBuckets } from "../service/sample";

const EVERY_MS = 3000;

/** How the delays of an output are distributed, asked for again and again while it runs. */
export function useDelays(output: string, isRunning: boolean): [number, number][] {
  const [delays, setDelays] = useState<[number, number][]>([]);
  useEffect(() => {
    setDelays([]);
    if (!isRunning) return;
    let isGone = false;
    const ask = () =>
      api.output(output).then(
        ({ statistics }) => !isGone && setDelays(delayBuckets(statistics?.delay_buckets)),
        // Without an answer the graph stands alone.
        () => {},
      );
    void ask();
    const timer = window.setInterval(ask, EVERY_MS);
    return () => {
      isGone = true;
      window.clearInterval(timer);
    };
  }, [output, isRunning]);
  return delays;
}
