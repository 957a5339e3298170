import type { ComponentChildren } from "preact";

interface PlainTableProps<Row> {
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  /** The titles of the columns with the content of their cells. The first cell names its row. */
  readonly columns: readonly (readonly [title: string, cell: (row: Row) => ComponentChildren])[];
}

/** A table of a few rows. */
export function PlainTable<Row>({ rows, idOf, columns }: PlainTableProps<Row>) {
  return (
    <table class="names">
      <thead class="muted">
        <tr>
          {columns.map(([title]) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={idOf(row)}>
            {columns.map(([title, cell], i) =>
              i === 0 ? (
                <th key={title} scope="row" class="cut">
                  {cell(row)}
                </th>
              ) : (
                <td key={title}>{cell(row)}</td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
