import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";

/** The cell of a row for its state. */
export function StatusCell({ status }: { status: Parameters<typeof StatusMark>[0]["status"] }) {
  return (
    <span role="cell" class="cell-status">
      <StatusMark status={status} />
    </span>
  );
}

/** The cell of a row for the time since something happened. */
export function AgeCell({ time }: { time: string }) {
  return (
    <span role="cell" class="cell-age">
      <When time={time} />
    </span>
  );
}

/** The first row of a plain table. */
export function TableHead({ columns }: { columns: readonly string[] }) {
  return (
    <thead class="muted">
      <tr>
        {columns.map((title) => (
          <th key={title} scope="col">
            {title}
          </th>
        ))}
      </tr>
    </thead>
  );
}
