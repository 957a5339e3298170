import type { Job, JobSummary, Status, Step } from "../../../client/client.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { cancelNote, jobState } from "../../terminal/jobState.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, duration, formatOf, percent, print, printRecord, rowLines, section } from "../../terminal/words.ts";
import { type ListOptions, printList } from "../list.ts";
import { type FilterOptions, filterOf, withFilters } from "./filter.ts";

/** Returns the displayed state of a step: its status, or `stale`. */
const stateOf = ({ status, stale }: { status: Status; stale: boolean }): string => (stale ? "stale" : status);

const COLUMNS: readonly Column<JobSummary>[] = [
  { title: "JOB ID", of: ({ jobId }) => jobId, optional: true },
  { title: "NAME", of: ({ name }) => name, instead: ({ jobId }) => jobId, least: 8 },
  { title: "STATUS", of: jobState, format: (job) => formatOf(jobState(job)) },
  { title: "DONE", of: ({ progress }) => percent(progress), right: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "MESSAGE", of: ({ message }) => message, least: 8 },
];

/** The fields that the table needs. */
const SHOWN = ["name", "status", "stale", "cancel", "progress", "createdAt", "message"] as const;

/** `jobs list`: prints jobs, newest first. */
export const listJobs: Define = (command, environment) =>
  withExamples(
    listCommand(
      withFilters(
        command.option(
          "--search <text>",
          "only jobs with these words in the name, or whose id or name starts with this text",
        ),
      ),
    ),
    "signalbox jobs list --status failed --created-from yesterday",
    "signalbox jobs list --search 'sales report'",
    "signalbox jobs list --metadata team=sales --all --json",
  ).action(async (options: ServiceOptions & FilterOptions & ListOptions & { readonly search?: string }) => {
    const filter = { ...filterOf(options), search: options.search };
    const fields = options.json ? undefined : SHOWN;
    return printList(await environment(), options, {
      read: (client, page) => client.jobs.list({ ...filter, ...page, ...(fields && { fields }) }),
      rowsOf: ({ jobs }) => jobs,
      columns: COLUMNS,
      nothing: "No jobs match.",
    });
  });

/** `jobs get ID` */
export const getJob: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<jobId>", "id of the job")
        .option("--steps", "include the steps")
        .option("--json", "print one line of JSON"),
    ),
    "signalbox jobs get report-7 --steps",
    "signalbox jobs get report-7 --json",
  ).action(async (jobId: string, options: JsonOptions & { readonly steps?: boolean }) =>
    withService(await environment(), options, async ({ client }) => {
      const job = await client.jobs.get(jobId, options.steps ? { include: "steps" } : {});
      printRecord(options, job, jobLines(job));
    }),
  );

function jobLines(job: Job): string[] {
  const { progress, currentStep, createdAt, updatedAt, lastReportAt, cancel } = job;
  const { steps, input, metadata, output } = job;
  const gates = job.waitingFor.join(", ") || null;
  return [
    ...rowLines([
      ["Job", job.jobId],
      ["Name", job.name],
      ["Description", job.description],
      ["Status", statusLine(job)],
      ["Reason", cancel?.reason ?? null],
      ["Progress", percent(progress)],
      ["Message", job.message],
      ["Step", currentStep && `${currentStep.stepName} (${percent(currentStep.progress)})`],
      ["Waiting for", gates],
      ["Created", `${createdAt} (${age(createdAt)} ago)`],
      ["Updated", `${updatedAt} (${age(updatedAt)} ago)`],
      ["Last report", lastReportAt && `${lastReportAt} (${age(lastReportAt)} ago)`],
    ]),
    ...section("Input", input),
    ...section("Metadata", metadata),
    ...(steps ? ["", ...(steps.length > 0 ? tableLines(steps, STEP_COLUMNS) : ["The job has no steps."])] : []),
    ...section("Output", output),
  ];
}

function statusLine(job: Job): string {
  const { status, stale, cancel } = job;
  const details = [stale ? "without a report for too long (stale)" : null, cancelNote(job)].filter(Boolean);
  return [status === "failed" && cancel ? "failed (cancelled)" : status, ...details].join(", ");
}

const STEP_COLUMNS: readonly Column<Step>[] = [
  { title: "STEP", of: ({ stepKey }) => stepKey, optional: true },
  { title: "NAME", of: ({ stepName }) => stepName, least: 8 },
  { title: "STATUS", of: stateOf, format: (step) => formatOf(stateOf(step)) },
  { title: "DONE", of: ({ progress }) => percent(progress), right: true },
  { title: "TRIES", of: ({ attempts }) => String(attempts) },
  { title: "TOOK", of: (step) => (step.status === "running" ? age(step.startedAt) : took(step)) },
  { title: "MESSAGE", of: ({ message }) => message, least: 8 },
];

const took = ({ startedAt, updatedAt }: Step) => duration(Date.parse(updatedAt) - Date.parse(startedAt));

/** `jobs cancel ID`: requests that a job be cancelled, and says so. */
export const cancelJob: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<jobId>", "id of the job")
        .option("--reason <text>", "why the result is no longer wanted")
        .option("--force", "fail the job at once, because the code that does the work is gone")
        .option("--json", "print the job as one line of JSON"),
    ),
    "signalbox jobs cancel report-7 --reason 'The report is no longer needed'",
    "signalbox jobs cancel report-7 --reason 'The machine is gone' --force",
  ).action(async (jobId: string, options: JsonOptions & { readonly reason?: string; readonly force?: boolean }) => {
    const { reason, force, json } = options;
    return withService(await environment(), options, async ({ client }) => {
      const job = await client.jobs.cancel(jobId, { ...(reason !== undefined && { reason }), ...(force && { force }) });
      const done = force ? `${jobId} is cancelled.` : `Cancellation of ${jobId} is requested.`;
      print([json ? cleanJson(job) : cleanLine(done)]);
    });
  });
