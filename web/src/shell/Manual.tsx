import { type ReactNode, useEffect, useState } from "react";

/** The manual page of a box, as docs/boxes.md has it. */
export function Manual({ kind }: { kind: string }) {
  const [pages, setPages] = useState<Record<string, string> | null>(null);
  useEffect(() => {
    void import("../generated/manual.json").then((loaded) => setPages(loaded.default));
  }, []);
  if (!pages) return <p className="hint">Loading…</p>;
  return <article className="manual">{markdown(pages[kind] ?? "There is no page.")}</article>;
}

/** As much of Markdown as the pages use: headings, paragraphs, lists, tables and code. */
function markdown(text: string): ReactNode[] {
  const blocks: ReactNode[] = [];
  const lines = text.split("\n");
  let index = 0;
  const take = (test: (line: string) => boolean): string[] => {
    const taken: string[] = [];
    while (index < lines.length && test(lines[index]!)) taken.push(lines[index++]!);
    return taken;
  };
  while (index < lines.length) {
    const line = lines[index]!;
    const key = index;
    if (line.startsWith("```")) {
      index += 1;
      const code = take((each) => !each.startsWith("```"));
      index += 1;
      const caption = line.slice(3).replace("csv in=", "input ").replace("csv out=", "output ");
      blocks.push(
        <figure key={key}>
          {caption !== "yaml" && caption !== "" && <figcaption>{caption}</figcaption>}
          <pre>{code.join("\n")}</pre>
        </figure>,
      );
    } else if (line.startsWith("#")) {
      index += 1;
      blocks.push(<h3 key={key}>{line.replace(/^#+ /, "")}</h3>);
    } else if (line.startsWith("|")) {
      const [head, , ...rows] = take((each) => each.startsWith("|")).map(cells);
      blocks.push(
        <table key={key}>
          <thead>
            <tr>
              {head!.map((cell, at) => (
                <th key={at} scope="col">
                  {inline(cell)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, at) => (
              <tr key={at}>
                {row.map((cell, column) => (
                  <td key={column}>{inline(cell)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>,
      );
    } else if (line.startsWith("- ")) {
      const items = take((each) => each.startsWith("- ") || each.startsWith("  "))
        .join("\n")
        .split(/\n?^- /m)
        .filter(Boolean);
      blocks.push(
        <ul key={key}>
          {items.map((item, at) => (
            <li key={at}>{inline(item)}</li>
          ))}
        </ul>,
      );
    } else if (line.trim() === "") index += 1;
    else
      blocks.push(
        <p key={key}>
          {inline(take((each) => each.trim() !== "" && !/^(```|\||#|- )/.test(each)).join(" "))}
        </p>,
      );
  }
  return blocks;
}

function cells(row: string): string[] {
  return row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function inline(text: string): ReactNode[] {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part, index) => {
    if (part.startsWith("`")) return <code key={index}>{part.slice(1, -1)}</code>;
    if (part.startsWith("**")) return <strong key={index}>{part.slice(2, -2)}</strong>;
    // Links lead to pages that are not here: their text is enough.
    const link = /^\[([^\]]+)\]/.exec(part);
    return link ? link[1]!.replaceAll("`", "") : part;
  });
}
