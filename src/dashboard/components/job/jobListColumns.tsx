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
import { type Column, RowName } from "../tables/list.tsx";
import { ProgressBar } from "../values/progress.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { MetadataChips } from "./metadataChips.tsx";

/** Whether this access can delete and cancel jobs, and the list therefore lets people select some. */
const canSelect = (): boolean => hasScope(access.value, "jobs:write");

/** Returns the columns of the list of jobs that are shown. */
export const jobListColumns = (): Column<JobRow>[] => [
  ...(canSelect() ? [{ title: "Select", name: "select", cell: (job: JobRow) => <Select job={job} /> }] : []),
  { title: "Job", name: "name", cell: (job) => <Name job={job} /> },
  ...jobColumns.value.map((name) => ({ title: JOB_COLUMNS[name].title, name, cell: CELLS[name] })),
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

function Select({ job }: { job: JobRow }) {
  return (
    <input
      type="checkbox"
      aria-label={`Select ${titleOf(job)}`}
      checked={selectedJobs.value.has(job.jobId)}
      onChange={({ currentTarget: { checked } }) => selectJob(job.jobId, checked)}
    />
  );
}

function Name({ job }: { job: JobRow }) {
  const title = titleOf(job);
  return <RowName href={address("/jobs/:jobId", job.jobId)} name={title} id={title === job.jobId ? null : job.jobId} />;
}

const CELLS: Readonly<Record<JobColumn, Column<JobRow>["cell"]>> = {
  message: (job) => <Message job={job} />,
  metadata: ({ metadata }) => <MetadataChips metadata={metadata} max={1} query={place.value.query} />,
  progress: (job) => <Progress job={job} />,
  status: (job) => <State job={job} />,
  duration: (job) => <Duration job={job} />,
  age: ({ createdAt }) => <When time={createdAt} />,
};

function State({ job }: { job: JobRow }) {
  return <StatusMark status={shownStatus(job)} stale={isStale(job, now.value)} />;
}

/** A completed job needs no bar. */
function Progress({ job }: { job: JobRow }) {
  if (job.status === "completed") return <Steps counts={job.stepCounts} />;
  const label = `Progress of ${titleOf(job)}`;
  return <ProgressBar value={job.progress} status={shownStatus(job)} stale={isStale(job, now.value)} label={label} />;
}

function Duration({ job }: { job: JobRow }) {
  const isRunning = job.status === "running";
  return (
    <span title={isRunning ? "Time since it began" : "Time from its beginning to its last change"}>
      {duration(endOf(job, isRunning ? now.value : 0) - Date.parse(job.createdAt))}
    </span>
  );
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
