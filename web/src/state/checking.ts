// The node's own checker looks at the draft while it is edited: problems at their fields, schemas on arcs.

import { inputsOf, isBlank, type Network, placed, tidy } from "../model";
import { api } from "../service/api";
import { useEditor } from "./editor";

const WAIT_MS = 250;

export function keepChecking(): () => void {
  let timer = 0;
  let running: AbortController | null = null;
  const check = async () => {
    running?.abort();
    const mine = new AbortController();
    running = mine;
    const document = useEditor.getState().history.present;
    useEditor.setState({ checking: "busy" });
    try {
      const { ok, problems, schemas } = await api.check(tidy(document.network), mine.signal);
      if (mine.signal.aborted) return;
      useEditor.setState({
        // Whoever begins has made no mistake yet.
        problems: isBlank(document.network) ? [] : problems.map((problem) => placed(document, problem)),
        // Of a network with problems the node derives no schemas: those of before still help, and inputs have their own.
        schemas: ok ? schemas : { ...useEditor.getState().schemas, ...inputSchemas(document.network) },
        checking: "idle",
      });
    } catch {
      if (mine.signal.aborted) return;
      useEditor.setState({ checking: "offline" });
      timer = window.setTimeout(check, 3000);
    }
  };
  const later = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(check, WAIT_MS);
  };
  later();
  return useEditor.subscribe((state, before) => {
    if (state.history.present.network !== before.history.present.network) later();
  });
}

/** The schemas of the inputs, as the document has them. */
function inputSchemas(network: Network): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputsOf(network)).map(([name, { schema }]) => [
      name,
      Object.entries(schema)
        .map(([attribute, type]) => `${attribute} ${type}`)
        .join(", "),
    ]),
  );
}
