import { useEffect, useState } from "react";
import { changesBetween, isSame, merged, type Network, type PartChange, tidy } from "../model";
import { ApiError, api } from "../service/api";
import type { Deployed, Difference } from "../service/types";
import { currentDocument, editor, useEditor } from "../state/editor";
import { refresh, useNode } from "../state/node";
import { shell } from "../state/shell";

/** What deploying the draft would change, and the button that does it. */
export function DeployDialog({ onClose }: { onClose(): void }) {
  const document = useEditor((state) => state.history.present);
  const origin = useEditor((state) => state.origin);
  const problems = useEditor((state) => state.problems);
  const deployed = useNode((state) => state.deployed);
  const [difference, setDifference] = useState<Difference | null>(null);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const [accepted, setAccepted] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const network = tidy(document.network);
  const isConflict = deployed !== null && origin?.revision !== deployed.revision;

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again when what is deployed changes
  useEffect(() => {
    if (!deployed) return;
    let isGone = false;
    api.diff(network).then(
      (answer) => !isGone && setDifference(answer),
      (error: ApiError) => !isGone && setFailure(error),
    );
    return () => {
      isGone = true;
    };
  }, [deployed, document]);

  const deploy = async () => {
    setBusy(true);
    try {
      await api.deploy(network, deployed?.revision ?? null, accepted);
      await refresh();
      const now = useNode.getState().deployed;
      editor().setOrigin(now);
      editor().setMode("run");
      shell().say(`${network.name} runs.`, "done");
      onClose();
    } catch (error) {
      if (error instanceof ApiError) {
        setFailure(error);
        if (error.code === "revision_mismatch") await refresh();
      } else setFailure(new ApiError(0, "internal", String(error)));
    } finally {
      setBusy(false);
    }
  };
  const losses = difference?.lost.length ?? 0;
  const asksLoss = losses > 0 || failure?.code === "would_lose";
  if (isConflict && deployed)
    return <Conflict deployed={deployed} origin={origin?.network ?? null} onClose={onClose} />;
  return (
    <div data-testid="deploy">
      {deployed === null ? (
        <p>
          No network runs yet. <strong>{network.name}</strong> starts with{" "}
          {Object.keys(network.boxes ?? {}).length} boxes.
        </p>
      ) : (
        <>
          <Changes changes={changesBetween(deployed.network, network)} />
          {difference && <pre className="lines">{difference.lines.join("\n")}</pre>}
        </>
      )}
      {problems.length > 0 && (
        <p className="problem">{problems.length} problems: the node would refuse this network.</p>
      )}
      {failure && (
        <p className="problem" role="alert">
          {failure.path && <span className="mono">{failure.path}: </span>}
          {failure.message} {failure.hint && <span className="expected">Expected {failure.hint}.</span>}
        </p>
      )}
      {asksLoss && (
        <label className="check">
          <input type="checkbox" checked={accepted} onChange={(event) => setAccepted(event.target.checked)} />{" "}
          Lose what is named above
        </label>
      )}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          className="primary"
          disabled={isBusy || problems.length > 0 || (asksLoss && !accepted)}
          onClick={() => void deploy()}
        >
          {isBusy ? "Deploying…" : "Deploy"}
        </button>
      </footer>
    </div>
  );
}

export function Changes({ changes }: { changes: PartChange[] }) {
  if (changes.length === 0) return <p className="empty">Nothing differs from what runs.</p>;
  return (
    <ul className="changes">
      {changes.map((change) => (
        <li
          key={`${change.kind} ${change.name}`}
          className={`sign-${change.sign === "+" ? "add" : change.sign === "-" ? "remove" : "change"}`}
        >
          <span className="mono">{change.sign}</span> {change.kind}{" "}
          <strong className="mono">{change.name}</strong>
          {change.fields.length > 0 && <span className="subtitle"> {change.fields.join(", ")}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Somebody else deployed since this draft began: take theirs, merge both, or put ours in its place, knowingly. */
function Conflict({
  deployed,
  origin,
  onClose,
}: {
  deployed: Deployed;
  origin: Network | null;
  onClose(): void;
}) {
  const ours = tidy(currentDocument().network);
  const both = origin ? merged(origin, ours, deployed.network) : null;
  const adopt = (network: Network, title: string) => {
    editor().run({ type: "replace", network });
    editor().setOrigin(deployed);
    shell().say(title, "done");
    onClose();
  };
  return (
    <div data-testid="conflict">
      <p>
        <strong>Another network was deployed since you began this draft.</strong> Nothing is overwritten until
        you choose.
      </p>
      {origin && (
        <>
          <h3>They changed</h3>
          <Changes changes={changesBetween(origin, deployed.network)} />
          <h3>You changed</h3>
          <Changes changes={changesBetween(origin, ours)} />
        </>
      )}
      {!origin && (
        <>
          <h3>Yours differs from what runs in</h3>
          <Changes changes={changesBetween(deployed.network, ours)} />
        </>
      )}
      {both && both.conflicts.length > 0 && (
        <p className="problem">Both changed {both.conflicts.join(", ")}: a merge takes yours there.</p>
      )}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          onClick={() => adopt(deployed.network, "This is what runs. Undo brings your draft back.")}
        >
          Take theirs
        </button>
        <button
          type="button"
          onClick={() => {
            editor().setOrigin(deployed);
            shell().say("Your draft stays as it is: look at the difference, then deploy.");
          }}
        >
          Keep mine
        </button>
        {both && !isSame(ours, deployed.network) && (
          <button
            type="button"
            className="primary"
            onClick={() => adopt(both.network, "Both changes are in this draft. Look at it, then deploy.")}
          >
            Merge both
          </button>
        )}
      </footer>
    </div>
  );
}
