import { placements } from "../canvas/geometry";
import { type Alignment, aligned, type ItemId, type NodeId, viewOf } from "../model";
import { doing } from "../shell/actions";
import { currentDocument, editor } from "../state/editor";

const ALIGNMENTS: [Alignment, string][] = [
  ["left", "Left edges"],
  ["right", "Right edges"],
  ["top", "Top edges"],
  ["bottom", "Bottom edges"],
  ["across", "Spread across"],
  ["down", "Spread down"],
];

export function align(how: Alignment): void {
  const { group, flat, selection } = editor();
  const document = currentDocument();
  const rects = placements(document, viewOf(document, group, flat));
  const items = selection.flatMap((id) => {
    const rect = rects.get(id);
    return rect && !/^(from|to)\//.test(id) ? [{ id: id as ItemId, ...rect }] : [];
  });
  editor().run({ type: "move", positions: aligned(items, how) });
}

/** What can be done with several parts at once. */
export function Several({ selection }: { selection: NodeId[] }) {
  return (
    <>
      <header className="heading">
        <div>
          <h2>{selection.length} parts</h2>
          <p className="subtitle">selected together</p>
        </div>
      </header>
      <section>
        <h3>Align</h3>
        <div className="buttons">
          {ALIGNMENTS.map(([how, title]) => (
            <button key={how} type="button" onClick={() => align(how)}>
              {title}
            </button>
          ))}
        </div>
      </section>
      <section>
        <h3>Together</h3>
        <div className="buttons">
          <button type="button" onClick={() => doing("group")}>
            Group
          </button>
          <button type="button" onClick={() => doing("duplicate")}>
            Duplicate
          </button>
          <button type="button" onClick={() => doing("copy")}>
            Copy
          </button>
          <button type="button" className="danger" onClick={() => doing("remove")}>
            Remove
          </button>
        </div>
      </section>
    </>
  );
}
