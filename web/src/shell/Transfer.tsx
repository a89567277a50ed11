import { useState } from "react";
import { formProblem, type Network, parseText, pythonOf, writeJson, writeYaml } from "../model";
import { currentDocument, editor } from "../state/editor";
import { shell } from "../state/shell";

const FORMS = {
  yaml: { title: "YAML", suffix: "yaml", write: writeYaml },
  json: { title: "JSON", suffix: "json", write: writeJson },
  python: { title: "Python", suffix: "py", write: pythonOf },
};

/** The network as a text to copy or save: YAML, JSON, or Python code for the builder. */
export function ExportDialog() {
  const [form, setForm] = useState<keyof typeof FORMS>("yaml");
  const { network } = currentDocument();
  let text = "";
  let failure = "";
  try {
    text = FORMS[form].write(network);
  } catch (error) {
    failure = (error as Error).message;
  }
  const save = () => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = `${network.name}.${FORMS[form].suffix}`;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label="form">
        {Object.entries(FORMS).map(([name, { title }]) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={form === name}
            onClick={() => setForm(name as keyof typeof FORMS)}
          >
            {title}
          </button>
        ))}
      </div>
      {failure ? (
        <p className="problem">{failure}</p>
      ) : (
        <textarea
          className="mono"
          rows={20}
          readOnly
          value={text}
          aria-label={`the network as ${FORMS[form].title}`}
        />
      )}
      <footer className="buttons">
        <button
          type="button"
          disabled={failure !== ""}
          onClick={() => navigator.clipboard.writeText(text).then(() => shell().say("Copied.", "done"))}
        >
          Copy
        </button>
        <button type="button" className="primary" disabled={failure !== ""} onClick={save}>
          Save as a file
        </button>
      </footer>
    </>
  );
}

/** A network from a file or a text, in place of the draft; undo brings that back. */
export function ImportDialog({ onClose }: { onClose(): void }) {
  const [text, setText] = useState("");
  const [failure, setFailure] = useState("");
  const take = () => {
    try {
      const document = parseText(text);
      const problem = formProblem(document);
      if (problem) return setFailure(problem);
      editor().run({ type: "replace", network: document as Network, layout: {} });
      onClose();
    } catch (error) {
      setFailure((error as Error).message);
    }
  };
  return (
    <>
      <p className="hint">JSON or YAML. It takes the place of the draft; undo brings the draft back.</p>
      <input
        type="file"
        accept=".json,.yaml,.yml"
        aria-label="file of a network"
        onChange={async (event) => setText((await event.target.files?.[0]?.text()) ?? "")}
      />
      <textarea
        className="mono"
        rows={16}
        value={text}
        aria-label="text of a network"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      {failure && (
        <p className="problem" role="alert">
          {failure}
        </p>
      )}
      <footer className="buttons">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="primary" disabled={text.trim() === ""} onClick={take}>
          Import
        </button>
      </footer>
    </>
  );
}
