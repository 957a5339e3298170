import { useEffect, useMemo, useState } from "preact/hooks";
import type { Job, StepSummary } from "../../client/client.ts";
import { type ProgressPoint, roundEstimate, timeLeft } from "../../shared/timeLeft.ts";
import { now } from "../clock.ts";
import { JobGates } from "../components/gate/jobGates.tsx";
import { Icon } from "../components/icon.tsx";
import { CancelNote } from "../components/job/cancelJob.tsx";
import { ChildJobs } from "../components/job/childJobs.tsx";
import { FailurePanel } from "../components/job/failurePanel.tsx";
import { JobActions } from "../components/job/jobActions.tsx";
import { Links } from "../components/job/links.tsx";
import { isNotified, useNotification } from "../components/job/notifyWhenDone.tsx";
import { StepPanel } from "../components/job/stepPanel.tsx";
import { Steps } from "../components/job/steps.tsx";
import { Failure, NotFound } from "../components/notice.tsx";
import { Clamp } from "../components/values/clamp.tsx";
import { Facts } from "../components/values/facts.tsx";
import { JsonBlock } from "../components/values/json.tsx";
import { ProgressBar } from "../components/values/progress.tsx";
import { RichText } from "../components/values/richText.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { isMissing, JobRecord, type JobSnapshot } from "../data/job/jobRecord.ts";
import { isStale, shownStatus, stepsText, titleOf } from "../data/job/jobRows.ts";
import { neighbours, shownRow } from "../data/job/shownJobs.ts";
import { endOf } from "../data/job/timeline.ts";
import { followLive } from "../data/live/live.ts";
import { service } from "../data/service.ts";
import { address, goBackTo, navigate, type Place, withQuery } from "../router.ts";
import { shownText } from "../text.ts";
import { clockTime, duration } from "../time.ts";
import { useTitle } from "../title.ts";

/** Intervals of polling for a job that does not exist yet: soon at first, because its page may be opened as it is created. */
const [MIN_POLL_MS, MAX_POLL_MS] = [3_000, 30_000];

export function JobPage({ place: { id: jobId, query } }: { place: Place }) {
  const record = useMemo(() => new JobRecord(service.jobs, jobId, shownRow(jobId)), [jobId]);
  const snapshot = record.snapshot.value;
  const { job, error, isDeleted } = snapshot;
  const [isRefused, setRefused] = useState(false);
  const isAwaited = isRefused && job === null;
  useTitle(job ? titleOf(job) : jobId, job ? stateOf(job) : undefined);
  useNotification(job);
  useEffect(() => () => record.close(), [record]);
  useEffect(() => {
    if (isAwaited) return pollWithBackoff(() => record.reload());
    return followLive(
      { job: jobId },
      {
        onStart: () => void record.reload(),
        staysConnected: () => isNotified(jobId),
        onRefused: () => {
          setRefused(true);
          if (record.snapshot.peek().job) void record.reload();
        },
        job: (job) => record.applyJob(job),
        job_removed: () => record.markDeleted(),
        step: (step) => record.applyStep(step),
      },
    );
  }, [record, isAwaited]);
  const stepKey = query.get("step");
  return (
    <>
      <JobCrumbs jobId={jobId} />
      {job ? <JobView {...snapshot} job={job} /> : <JobError jobId={jobId} error={error} record={record} />}
      {job && error !== null && <Failure error={error} retry={() => record.reload()} />}
      {job && stepKey !== null && !isDeleted && (
        <StepPanel
          job={job}
          stepKey={stepKey}
          steps={snapshot.steps}
          onMove={(step) => navigate(withQuery(query, { step }), { replace: true })}
          onClose={() => goBackTo(withQuery(query, { step: null }), { replace: true })}
        />
      )}
    </>
  );
}

const stateOf = (job: Job): string => (isStale(job, now.value) ? "stale" : shownStatus(job));

/** Calls `poll` at growing intervals while the page is visible. Returns a function that ends this. */
function pollWithBackoff(poll: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const pollIn = (ms: number) => {
    timer = setTimeout(() => {
      if (!document.hidden) poll();
      pollIn(Math.min(2 * ms, MAX_POLL_MS));
    }, ms);
  };
  pollIn(MIN_POLL_MS);
  return () => clearTimeout(timer);
}

function JobError({ jobId, error, record }: { jobId: string; error: unknown; record: JobRecord }) {
  if (!error) return null;
  if (!isMissing(error)) {
    return <Failure error={error} retry={() => record.reload()} />;
  }
  return (
    <NotFound title="Job not found">
      <bdi class="id">{jobId}</bdi> was deleted or not created yet. This page shows it once it exists.{" "}
      <a href={address("/")}>See all jobs</a>
    </NotFound>
  );
}

function JobView({ job, isRow, steps, hasMoreSteps, messages, points, isDeleted }: JobSnapshot & { job: Job }) {
  const { jobId, description, progress, message, input, metadata, output } = job;
  const title = titleOf(job);
  const stale = isStale(job, now.value);
  const hrefOf = (key: string) => withQuery(new URLSearchParams(), { step: key });
  return (
    <>
      {isDeleted && (
        <p class="gone" role="alert">
          <Icon name="trash" /> This job was deleted. This page shows its last state.{" "}
          <a href={address("/")}>See all jobs</a>
        </p>
      )}
      <div class="page-head">
        <div>
          <Clamp as="h1" lines={3} title={title}>
            <bdi>{shownText(title)}</bdi>
          </Clamp>
          {title !== jobId && <bdi class="id muted">{jobId}</bdi>}
        </div>
        <JobActions job={job} isRow={isRow} isDeleted={isDeleted} />
      </div>
      <section class="card" aria-label="Progress">
        <div class="headline">
          <StatusMark status={shownStatus(job)} stale={stale} />
          <ProgressBar value={progress} status={shownStatus(job)} stale={stale} label={`Progress of ${title}`} />
        </div>
        {shownStatus(job) === "failed" ? (
          <FailurePanel message={message} failedSteps={steps.filter(isFailed)} hrefOf={hrefOf} />
        ) : (
          <div class="said" aria-live="polite">
            <RichText text={message ?? "No message yet"} isClamped />
          </div>
        )}
        {messages.length > 1 && <EarlierMessages messages={messages.slice(1)} />}
        <CancelNote job={job} />
        {stale && !job.cancel && <StaleNote job={job} />}
        <JobFacts job={job} points={points} />
        {stepsText(job.stepCounts) && <p class="muted">{stepsText(job.stepCounts)}</p>}
        <Links links={job.links} />
        {description && (
          <div class="description">
            <RichText text={description} isClamped />
          </div>
        )}
      </section>
      {!isDeleted && <JobGates job={job} />}
      <ChildJobs job={job} />
      {(!isRow || steps.length > 0) && <Steps job={job} steps={steps} hasMoreSteps={hasMoreSteps} hrefOf={hrefOf} />}
      {output && <JsonBlock title="Output" value={output} file={`${jobId}-output`} />}
      {input && <JsonBlock title="Input" value={input} file={`${jobId}-input`} />}
      {metadata && <JsonBlock title="Metadata" value={metadata} file={`${jobId}-metadata`} />}
    </>
  );
}

const isFailed = ({ status }: StepSummary): boolean => status === "failed";

function EarlierMessages({ messages }: { messages: JobSnapshot["messages"] }) {
  const present = now.value;
  return (
    <details class="earlier">
      <summary>Earlier messages ({messages.length})</summary>
      <ol tabIndex={0} aria-label="Earlier messages, newest first">
        {messages.map(({ text, at }) => (
          <li key={`${at} ${text}`}>
            <time dateTime={at}>{clockTime(at, present)}</time> <bdi title={text}>{shownText(text)}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
}

function StaleNote({ job: { lastReportAt, createdAt } }: { job: Job }) {
  const since = Date.parse(lastReportAt ?? createdAt);
  return (
    <p class="silent">
      <Icon name="warn" /> No report for {duration(now.value - since)}. Check that the code that does the work is still
      running.
    </p>
  );
}

/** The way back to the list of jobs, and to the jobs above and below in it. */
function JobCrumbs({ jobId }: { jobId: string }) {
  const { above, below } = useMemo(() => neighbours(jobId), [jobId]);
  const sides = [
    ["back", "Previous job of the list", above],
    ["next", "Next job of the list", below],
  ] as const;
  return (
    <p class="crumbs job-crumbs">
      <a href={address("/")} data-up>
        <Icon name="back" /> Jobs
      </a>
      <span class="neighbours">
        {sides.map(
          ([icon, title, id]) =>
            id !== undefined && (
              <a key={icon} href={address("/jobs/:jobId", id)} data-beside aria-label={title} title={title}>
                <Icon name={icon} />
              </a>
            ),
        )}
      </span>
    </p>
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
  const { status, createdAt, lastReportAt, staleAfterSeconds, cancel } = job;
  const present = now.value;
  const isWorking = shownStatus(job) === "running" && !isStale(job, present) && !cancel;
  const left = isWorking ? (timeLeft(points, present) ?? usualTimeLeft(job, present)) : null;
  const took = duration(endOf(job, present) - Date.parse(createdAt));
  return (
    <Facts
      facts={[
        ["Created", <When time={createdAt} />],
        ["Last report", lastReportAt ? <When time={lastReportAt} /> : "none yet"],
        [
          status === "running" ? "Running for" : "Duration",
          job.usual ? `${took}, usually ${duration(job.usual.p50Ms)}` : took,
        ],
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
