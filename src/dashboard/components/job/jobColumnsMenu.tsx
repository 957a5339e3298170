import { COLUMN_NAMES, JOB_COLUMNS, jobColumns, showJobColumn } from "../../data/job/jobColumns.ts";

/** The choice of columns of the list of jobs. */
export function JobColumnsMenu() {
  return (
    <details class="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend class="unseen">Columns of the list</legend>
        {COLUMN_NAMES.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              checked={jobColumns.value.includes(name)}
              onChange={({ currentTarget: { checked } }) => showJobColumn(name, checked)}
            />{" "}
            {JOB_COLUMNS[name].title}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
