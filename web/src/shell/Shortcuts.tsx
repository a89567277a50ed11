import { ACTIONS } from "./actions";

const SECTIONS = ["Edit", "Select", "View", "Add", "Network", "Run"] as const;
const SIGNS: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Delete: "Del",
  Escape: "Esc",
};

/** Every key, by what it is for. */
export function Shortcuts() {
  return (
    <div className="shortcuts">
      {SECTIONS.map((section) => {
        const actions = ACTIONS.filter((action) => action.section === section && action.keys);
        if (actions.length === 0) return null;
        return (
          <section key={section}>
            <h3>{section}</h3>
            <dl>
              {actions.map((action) => (
                <div key={action.id}>
                  <dt>{action.title}</dt>
                  <dd>
                    {action.keys!.map((keys) => (
                      <kbd key={keys}>
                        {keys === "+"
                          ? keys
                          : keys
                              .split("+")
                              .map((key) => SIGNS[key] ?? key)
                              .join(" ")}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        );
      })}
      <section>
        <h3>In expressions and graphs</h3>
        <dl>
          <div>
            <dt>Offer completions</dt>
            <dd>
              <kbd>Ctrl Space</kbd>
            </dd>
          </div>
          <div>
            <dt>Move a point of a graph, faster with Shift</dt>
            <dd>
              <kbd>← ↑ ↓ →</kbd>
            </dd>
          </div>
          <div>
            <dt>Add a point, remove it</dt>
            <dd>
              <kbd>Enter</kbd>
              <kbd>Del</kbd>
            </dd>
          </div>
          <div>
            <dt>Drag without the grid</dt>
            <dd>
              <kbd>Alt</kbd>
            </dd>
          </div>
        </dl>
      </section>
    </div>
  );
}
