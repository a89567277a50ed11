import { useState } from "react";
import { openDemo, runDemo } from "../run/demo";
import { useMay, useNode } from "../state/node";
import { doing } from "./actions";

/** What the canvas offers while the draft is empty. */
export function FirstRun() {
  const info = useNode((state) => state.info);
  const mayDeploy = useMay("owner");
  const [isBusy, setBusy] = useState(false);
  const isFresh = info?.state === "empty";
  return (
    <div className="first" data-testid="first-run">
      <div className="card">
        <h2>{isFresh ? "No network runs here yet" : "An empty network"}</h2>
        <p>
          Drag boxes from the left, or press <kbd>A</kbd>. Connect them by dragging from port to port, or
          press <kbd>C</kbd>.
        </p>
        <div className="buttons">
          {isFresh && mayDeploy && (
            <button
              type="button"
              className="primary"
              disabled={isBusy}
              onClick={() => {
                setBusy(true);
                void runDemo().finally(() => setBusy(false));
              }}
            >
              {isBusy ? "Starting the demo…" : "Run the demo"}
            </button>
          )}
          <button type="button" onClick={openDemo}>
            Look at the demo
          </button>
          <button type="button" onClick={() => doing("import")}>
            Import a network
          </button>
          <button type="button" onClick={() => doing("add-input")}>
            Begin with an input
          </button>
        </div>
        <p className="hint">
          The demo finds scans, clusters of active hosts and beacons in connections that this page makes up
          and pushes while it is open.
        </p>
      </div>
    </div>
  );
}
