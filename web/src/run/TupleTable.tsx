import type { Json } from "../model";
import type { Tuple } from "../service/types";

/** Tuples as a table; hidden columns come last. */
export function TupleTable({ tuples }: { tuples: Tuple[] }) {
  const names = [...new Set(tuples.slice(0, 50).flatMap((tuple) => Object.keys(tuple)))];
  const columns = [
    ...names.filter((name) => !name.startsWith("#")),
    ...names.filter((name) => name.startsWith("#")),
  ];
  return (
    <div className="table" tabIndex={0} role="region" aria-label="tuples" data-testid="tuples">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" className="mono">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tuples.map((tuple, index) => (
            <tr key={`${tuple["#seq"] ?? ""} ${index}`}>
              {columns.map((column) => (
                <td key={column} className="mono">
                  {shown(tuple[column])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function shown(value: Json | undefined): string {
  if (value === null || value === undefined) return "NULL";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
