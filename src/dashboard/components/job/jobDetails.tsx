import type { Job } from "../../../client/client.ts";
import { type ProgressPoint, roundEstimate, timeLeft } from "../../../shared/timeLeft.ts";
import { now } from "../../clock.ts";
import { countOf, isStale, shownStatus } from "../../data/job/jobText.ts";
import { useReloadEvery } from "../../data/live/useLive.ts";
import { service } from "../../data/service.ts";
import { useQuery } from "../../data/useQuery.ts";
import { address } from "../../router.ts";
import { duration } from "../../time.ts";
import { Facts } from "../values/facts.tsx";
import { JsonBlock } from "../values/json.tsx";
import { RichText } from "../values/richText.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { JobLink } from "./links.tsx";

/** The details of a job as a whole: its times, its output and its input. They are shown while no step is selected. */
export function JobDetails({ job, points }: { job: Job; points: readonly ProgressPoint[] }) {
  const { jobId, description, input, metadata, output } = job;
  return (
    <div class="job-details">
      <section class="card" aria-label="Details">
        <JobFacts job={job} points={points} />
        {description && (
          <div class="description">
            <RichText text={description} isClamped />
          </div>
        )}
      </section>
      <ChildJobs job={job} />
      {output && <JsonBlock title="Output" value={output} file={`${jobId}-output`} />}
      {input && <JsonBlock title="Input" value={input} file={`${jobId}-input`} />}
      {metadata && <JsonBlock title="Metadata" value={metadata} file={`${jobId}-metadata`} />}
    </div>
  );
}

/** The runs by which a job has woken a session. */
function Returns({ job: { returns } }: { job: Job }) {
  return (
    <>
      {returns.map(({ event, runId, at }, i) => (
        <span key={`${event} ${at}`}>
          {i > 0 && ", "}
          {runId === null ? (
            `${event}: the session no longer existed`
          ) : (
            <a href={address("/runs/:runId", runId)}>{event}</a>
          )}
        </span>
      ))}
    </>
  );
}

/** Returns the time to the usual end of a running job; null without a history, and when it takes longer than usual. */
function usualTimeLeft({ expectedEndAt }: Job, present: number): number | null {
  const left = expectedEndAt === null ? 0 : Date.parse(expectedEndAt) - present;
  return left > 0 ? left : null;
}

/** The times of a job. A running one has an estimate from its reports while it progresses steadily, else from its history. */
function JobFacts({ job, points }: { job: Job; points: readonly ProgressPoint[] }) {
  const { createdAt, lastReportAt, staleAfterSeconds, cancel } = job;
  const present = now.value;
  const isWorking = shownStatus(job) === "running" && !isStale(job, present) && !cancel;
  const left = isWorking ? (timeLeft(points, present) ?? usualTimeLeft(job, present)) : null;
  return (
    <Facts
      facts={[
        ["Created", <When time={createdAt} />],
        ["Last report", lastReportAt ? <When time={lastReportAt} /> : "none yet"],
        ["Time left", left !== null && `about ${duration(roundEstimate(left))}`],
        ["Cancel requested", cancel && <When time={cancel.requestedAt} />],
        ["Stale after", staleAfterSeconds && duration(staleAfterSeconds * 1_000)],
        [
          "Returns to",
          job.returnTo && (
            <a href={address("/sessions/:sessionKey", job.returnTo.sessionKey)}>the session that it wakes</a>
          ),
        ],
        ["Returned", job.returns.length > 0 && <Returns job={job} />],
      ]}
    />
  );
}

/** Maximum children that the page lists. */
const MAX_CHILDREN = 100;
/** Interval between reads of the children, because the events of a job do not announce them. */
const RELOAD_EVERY_MS = 5_000;

/** The parent of a job, and its children with their status: a tree of one level. */
function ChildJobs({ job }: { readonly job: Job }) {
  const { jobId, parentJobId, children } = job;
  const { value, reload } = useQuery(
    (signal) => service.jobs.list({ parentJobId: jobId, limit: MAX_CHILDREN }, { signal }),
    jobId,
  );
  const listed = value?.jobs ?? [];
  const isRunning = [job, ...listed].some(({ status }) => status === "running");
  useReloadEvery(() => isRunning && reload(), RELOAD_EVERY_MS);
  if (listed.length === 0 && parentJobId === null) return null;
  const all = countOf(children);
  return (
    <section class="card" aria-label="Related jobs">
      {parentJobId !== null && (
        <p>
          Part of <JobLink jobId={parentJobId} />
        </p>
      )}
      {listed.length > 0 && (
        <>
          <h2>Child jobs</h2>
          <ul class="stack">
            {listed.map((child) => (
              <li key={child.jobId} class="line">
                <StatusMark status={shownStatus(child)} stale={isStale(child, now.value)} />{" "}
                <JobLink jobId={child.jobId} name={child.name ?? child.jobId} />{" "}
                <span class="muted">{Math.floor(child.progress)} %</span>
              </li>
            ))}
          </ul>
          {all > MAX_CHILDREN && (
            <p class="muted">
              The newest {MAX_CHILDREN} of {all.toLocaleString("en")}.
            </p>
          )}
        </>
      )}
    </section>
  );
}
