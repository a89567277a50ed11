import { ApiError, api } from "../service/api";
import type { Train } from "../service/types";
import { duration } from "../shell/numbers";
import { askBreakpoints, showTrain } from "../state/breakpoints";
import { refresh, useMay, useNode } from "../state/node";
import { shell } from "../state/shell";

async function doing(what: () => Promise<unknown>, said?: string): Promise<void> {
  try {
    await what();
    if (said) shell().say(said, "done");
    await Promise.all([refresh(), askBreakpoints()]);
  } catch (error) {
    shell().say(error instanceof ApiError ? `${error.message} ${error.hint}` : String(error), "error");
  }
}

/** Run one train, and show it on its way. */
async function stepping(): Promise<void> {
  const { train } = await api.step();
  if (train) showTrain(train);
  shell().say(train ? trainText(train) : "No train was due: nothing waits.");
}

const NAMED_MOST = 4;

export function trainText({ boxes, received, emitted, run_us }: Train): string {
  const shown = boxes.slice(0, NAMED_MOST).join(" → ");
  const way = boxes.length > NAMED_MOST ? `${shown} and ${boxes.length - NAMED_MOST} more` : shown;
  return `Train of ${received} tuples through ${way}: ${emitted} came out, in ${duration(run_us / 1000)}.`;
}

/** Pause, resume and step: nothing is dropped meanwhile. */
export function Controls() {
  const state = useNode((each) => each.info?.state);
  const mayOperate = useMay("operator");
  if (!mayOperate || state === undefined || state === "empty") return null;
  const isPaused = state === "paused";
  return (
    <span className="group" role="group" aria-label="run">
      {isPaused || state === "failed" ? (
        <button type="button" onClick={() => doing(api.resume, "It runs again.")} title="Resume (P)">
          ▶ Resume
        </button>
      ) : (
        <button
          type="button"
          onClick={() => doing(api.pause, "Paused: inputs wait, and nothing is dropped.")}
          title="Pause (P)"
        >
          ❚❚ Pause
        </button>
      )}
      {isPaused && (
        <button type="button" onClick={() => doing(stepping)} title="Run one train (S)">
          ↦ Step
        </button>
      )}
    </span>
  );
}

export function togglePause(): void {
  const state = useNode.getState().info?.state;
  if (state === "paused" || state === "failed") void doing(api.resume, "It runs again.");
  else if (state === "running") void doing(api.pause, "Paused: inputs wait, and nothing is dropped.");
}

export function stepOnce(): void {
  if (useNode.getState().info?.state === "paused") void doing(stepping);
}
