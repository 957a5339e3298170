import type { JobSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { access, hasScope } from "../../data/access.ts";
import { JOB_COLUMNS, type JobColumn, jobColumns } from "../../data/job/jobColumns.ts";
import { cancelNote, type JobRow } from "../../data/job/jobRows.ts";
import { selectedJobs, selectJob } from "../../data/job/jobSelection.ts";
import { countOf, isStale, shownStatus, stepsText, titleOf } from "../../data/job/jobText.ts";
import { endOf } from "../../data/job/timeline.ts";
import { address, place } from "../../router.ts";
import { visible } from "../../text.ts";
import { duration } from "../../time.ts";
import { ProgressBar } from "../values/progress.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { MetadataChips } from "./metadataChips.tsx";

/** Whether this access can delete and cancel jobs, and the list therefore lets people select some. */
const canSelect = (): boolean => hasScope(access.value, "jobs:write");

/** The titles of the shown columns. */
export const jobTitles = (): string[] => [
  ...(canSelect() ? ["Select"] : []),
  "Job",
  ...jobColumns.value.map((name) => JOB_COLUMNS[name].title),
];

/** The columns that a window of medium width leaves out. */
const WIDE: readonly JobColumn[] = ["metadata", "duration"];

/** Returns the widths of the shown columns, for wide windows and for narrow ones. */
export function jobWidths(): Record<string, string> {
  const widths = (columns: readonly JobColumn[]) =>
    [...(canSelect() ? ["20px"] : []), "minmax(0, 6fr)", ...columns.map((name) => JOB_COLUMNS[name].width)].join(" ");
  const columns = jobColumns.value;
  return {
    "--job-columns": widths(columns),
    "--job-columns-narrow": widths(columns.filter((name) => !WIDE.includes(name))),
  };
}

/** The cells of a row of the list of jobs. */
export function JobCells({ job }: { job: JobRow }) {
  const { jobId } = job;
  const title = titleOf(job);
  return (
    <>
      {canSelect() && (
        <span role="cell" class="cell-select">
          <input
            type="checkbox"
            aria-label={`Select ${title}`}
            checked={selectedJobs.value.has(jobId)}
            onChange={({ currentTarget: { checked } }) => selectJob(jobId, checked)}
          />
        </span>
      )}
      <span role="cell" class="cell-name">
        <a href={address("/jobs/:jobId", jobId)} dir="auto" title={visible(title)}>
          {visible(title)}
        </a>
        {title !== jobId && <bdi class="id muted">{visible(jobId)}</bdi>}
      </span>
      {jobColumns.value.map((name) => (
        <span key={name} role="cell" class={`cell-${name}`}>
          <Cell name={name} job={job} title={title} />
        </span>
      ))}
    </>
  );
}

function Cell({ name, job, title }: { name: JobColumn; job: JobRow; title: string }) {
  const { progress, createdAt, status, stepCounts } = job;
  const shown = shownStatus(job);
  switch (name) {
    case "message":
      return <Message job={job} />;
    case "metadata":
      return <MetadataChips metadata={job.metadata} max={1} query={place.value.query} />;
    case "progress":
      // A completed job needs no bar.
      if (status === "completed") return <Steps counts={stepCounts} />;
      return (
        <ProgressBar value={progress} status={shown} stale={isStale(job, now.value)} label={`Progress of ${title}`} />
      );
    case "status":
      return <StatusMark status={shown} stale={isStale(job, now.value)} />;
    case "duration":
      return (
        <span title={status === "running" ? "Time since it began" : "Time from its beginning to its last change"}>
          {duration(endOf(job, status === "running" ? now.value : 0) - Date.parse(createdAt))}
        </span>
      );
    case "age":
      return <When time={createdAt} />;
  }
}

function Message({ job }: { job: JobSummary }) {
  const { message, currentStep, status, stepCounts } = job;
  const note = cancelNote(job, now.value);
  return (
    <>
      <bdi title={message === null ? undefined : visible(message)}>{visible(message ?? "")}</bdi>
      {note && <span class="muted">{note}</span>}
      {!note && currentStep && status === "running" ? (
        <span class={stepCounts.failed > 0 ? "fault" : "muted"}>
          <bdi>{visible(currentStep.stepName)}</bdi>
          {currentStep.attempts > 1 && `, attempt ${currentStep.attempts}`}
          {countOf(stepCounts) > 1 && <Steps counts={stepCounts} />}
        </span>
      ) : (
        stepCounts.failed > 0 && status === "running" && <Steps counts={stepCounts} />
      )}
    </>
  );
}

/** How many steps are completed, in red if some have failed. */
const Steps = ({ counts }: { counts: JobSummary["stepCounts"] }) => (
  <span class={counts.failed > 0 ? "fault" : "muted"}>{stepsText(counts)}</span>
);
