import { stored } from "../stored.ts";

/** The columns of the list of jobs besides the name, with their widths. */
export const JOB_COLUMNS = {
  message: { title: "Message", width: "minmax(0, 8fr)" },
  metadata: { title: "Metadata", width: "minmax(0, 4fr)" },
  progress: { title: "Progress", width: "104px" },
  status: { title: "State", width: "104px" },
  duration: { title: "Duration", width: "84px" },
  age: { title: "Age", width: "84px" },
} as const;

export type JobColumn = keyof typeof JOB_COLUMNS;
export const COLUMN_NAMES = Object.keys(JOB_COLUMNS) as JobColumn[];

const columns = stored<readonly JobColumn[]>("signalbox.jobColumns", (json) =>
  Array.isArray(json) ? COLUMN_NAMES.filter((name) => json.includes(name)) : COLUMN_NAMES,
);

/** The shown columns, in their order. */
export const jobColumns = columns.value;

export function showJobColumn(name: JobColumn, isShown: boolean): void {
  columns.set(COLUMN_NAMES.filter((one) => (one === name ? isShown : jobColumns.value.includes(one))));
}
