import { ApiError, api } from "../service/api";
import { refresh, useMay, useNode } from "../state/node";
import { shell } from "../state/shell";

async function doing(what: () => Promise<unknown>, said?: string): Promise<void> {
  try {
    const answer = await what();
    if (said) shell().say(said, "done");
    else if (answer && typeof answer === "object" && "train" in answer)
      shell().say(trainText(answer.train), "info");
    await refresh();
  } catch (error) {
    shell().say(error instanceof ApiError ? `${error.message} ${error.hint}` : String(error), "error");
  }
}

function trainText(train: unknown): string {
  if (!train || typeof train !== "object") return "No train was due: nothing waits.";
  const { superbox, boxes, tuples } = train as { superbox?: string; boxes?: string[]; tuples?: number };
  const where = boxes?.join(" → ") ?? superbox ?? "a superbox";
  return `A train${tuples === undefined ? "" : ` of ${tuples} tuples`} went through ${where}.`;
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
        <button type="button" onClick={() => doing(api.step)} title="Run one train (S)">
          ⏵❘ Step
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
  if (useNode.getState().info?.state === "paused") void doing(api.step);
}
