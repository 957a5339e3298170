import { styleText } from "node:util";
import stringWidth from "string-width";
import type { JobSummary } from "../../client/client.ts";
import { printNote, SERVICE_BACK, SERVICE_LOST } from "../commands/list.ts";
import { cleanJson, cleanLine } from "./cleanText.ts";
import { cut, outputWidth } from "./columns.ts";
import { cancelNote, jobState } from "./jobState.ts";
import { LiveBlock } from "./liveBlock.ts";
import type { LiveJobs } from "./liveJobs.ts";
import { type Column, tableLines } from "./table.ts";
import { age, formatOf, percent, print } from "./words.ts";

/** Displays changes of the watched jobs. */
export interface JobView {
  changed(job: JobSummary): void;
  removed(jobId: string): void;
  /** Displays whether events arrive: false while the service, or its own source of events, is unavailable. */
  live(isLive: boolean): void;
  close(): void;
}

/** Prints one line of JSON for each event, in the form of the service's live events. */
export const jsonView = (): JobView => {
  const printEvent = (type: string, data: unknown) => print([cleanJson({ type, data })]);
  return {
    changed: (job) => printEvent("job", job),
    removed: (jobId) => printEvent("job_removed", { jobId }),
    live: (live) => printEvent("state", { live }),
    close() {},
  };
};

/** Prints one line for each change, for logs and pipes. */
export function lineView(): JobView {
  let wasLost = false;
  return {
    changed(job) {
      const { updatedAt, progress, message } = job;
      const state = `${percent(progress).padStart(5)}  ${jobState(job).padEnd(9)}`;
      const note = cancelNote(job);
      const text = [note && `(${note})`, cleanLine(message ?? "")].filter(Boolean).join(" ");
      print([`${updatedAt}  ${titleOf(job)}  ${state}  ${text}`.trimEnd()]);
    },
    removed: (jobId) => print([`${new Date().toISOString()}  ${cleanLine(jobId)}  removed`]),
    live(isLive) {
      if (isLive === wasLost) printNote(isLive ? SERVICE_BACK : SERVICE_LOST);
      wasLost = !isLive;
    },
    close() {},
  };
}

/** Draws one job with its bar on a terminal. */
export const barView = (jobs: LiveJobs): JobView =>
  blockView((width) => {
    const [job] = [...jobs.running, ...jobs.ended];
    return job ? barLines(job, width) : [];
  });

/** Draws a bar for each job that the terminal has room for: running jobs, newest first, then ended ones. */
export const boardView = (jobs: LiveJobs): JobView =>
  blockView((width, height) => {
    const newest = jobs.running.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    const all = [...newest, ...jobs.ended.toReversed()];
    const shown = all.slice(0, Math.max(1, height - 1));
    const failed = jobs.ended.filter(({ status }) => status === "failed").length;
    const counts = `${newest.length} running, ${jobs.ended.length - failed} completed, ${failed} failed`;
    const more = all.length > shown.length ? `; ${all.length - shown.length} not shown` : "";
    return [
      ...tableLines(shown, boardColumns(shown, width < 100 ? 10 : 20), { width, titles: false }),
      styleText("dim", cut(all.length === 0 ? "No job is running. Waiting for one …" : counts + more, width)),
    ];
  });

/** The id has a column of its own only where every job has a name; otherwise it stands in for a missing name. */
const boardColumns = (jobs: readonly JobSummary[], barWidth: number): readonly Column<JobSummary>[] => [
  { title: "", of: ({ name, jobId }) => name ?? jobId, least: 12 },
  {
    title: "",
    of: ({ progress }) => bar(progress, barWidth),
    format: (job) => formatOf(jobState(job)),
  },
  { title: "", of: ({ progress }) => percent(progress), right: true },
  { title: "", of: jobState, format: (job) => formatOf(jobState(job)) },
  { title: "", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "", of: (job) => cancelNote(job) ?? job.message, least: 12 },
  {
    title: "",
    of: ({ jobId }) => (jobs.every(({ name }) => name) ? jobId : null),
    format: () => "dim",
    optional: true,
  },
];

/** Returns the name of a job and its id. */
const titleOf = ({ name, jobId }: JobSummary): string =>
  [cut(cleanLine(name ?? ""), MAX_NAME), cleanLine(jobId)].filter(Boolean).join("  ");

/** Maximum width of a name in a line for logs and pipes. */
const MAX_NAME = 100;

function barLines(job: JobSummary, width: number): string[] {
  const { name, jobId, progress, currentStep, message, createdAt } = job;
  const state = jobState(job);
  const tail = `${percent(progress).padStart(5)}  ${state}  ${age(createdAt)}`;
  const shown = bar(progress, Math.max(0, Math.min(60, width - tail.length - 1)));
  const step = currentStep && `${currentStep.stepName} (${percent(currentStep.progress)})`;
  return [
    ...headingLines(cleanLine(name ?? ""), cleanLine(jobId), width),
    cut(`${shown} ${tail}`, width).replace(shown, (text) => styleText(formatOf(state), text)),
    ...[step, message, cancelNote(job)].flatMap((text) => (text ? [cut(cleanLine(text), width)] : [])),
  ];
}

/** Returns the name and the id on one line, or on two if they do not fit. */
function headingLines(name: string, jobId: string, width: number): string[] {
  if (!name) return [styleText("bold", cut(jobId, width))];
  const fits = stringWidth(`${name}  ${jobId}`) <= width;
  const id = styleText("dim", cut(jobId, width));
  return fits ? [`${styleText("bold", name)}  ${id}`] : [styleText("bold", cut(name, width)), id];
}

function blockView(lines: (width: number, height: number) => string[]): JobView {
  let isLive = true;
  const block = new LiveBlock(() => {
    const lost = isLive ? [] : [styleText("yellow", cut(SERVICE_LOST, outputWidth()))];
    const height = (process.stdout.rows || 24) - 1 - lost.length; // the cursor needs the last row
    return [...lines(outputWidth(), height).slice(0, Math.max(1, height)), ...lost];
  });
  return {
    changed: block.changed,
    removed: block.changed,
    live(now) {
      isLive = now;
      block.changed();
    },
    close: () => block.close(),
  };
}

/** Returns a progress bar of `width` columns. The last column is filled only at 100. */
function bar(progress: number, width: number): string {
  const filled = Math.floor((Math.min(100, Math.max(0, progress)) / 100) * width);
  return "█".repeat(filled) + "░".repeat(width - filled);
}
