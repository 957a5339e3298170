import { useEffect, useMemo, useState } from "preact/hooks";
import { type Job, SignalboxError } from "../../client/client.ts";
import { now } from "../clock.ts";
import { Confirm } from "../components/confirm.tsx";
import { Command } from "../components/emptyState.tsx";
import { Facts } from "../components/facts.tsx";
import { Icon } from "../components/icon.tsx";
import { JsonBlock } from "../components/json.tsx";
import { Failure, NotFound } from "../components/notice.tsx";
import { ProgressBar } from "../components/progress.tsx";
import { StatusMark } from "../components/status.tsx";
import { StepPanel } from "../components/stepPanel.tsx";
import { Timeline } from "../components/timeline.tsx";
import { showError, showToast } from "../components/toasts.tsx";
import { When } from "../components/when.tsx";
import { copyText, downloadText } from "../copy.ts";
import { access, canWrite } from "../data/access.ts";
import { reportStepCommand } from "../data/commands.ts";
import { JobRecord, type JobSnapshot } from "../data/jobRecord.ts";
import { isStale, titleOf } from "../data/jobRows.ts";
import { followLive } from "../data/live.ts";
import { service } from "../data/service.ts";
import { endOf } from "../data/timeline.ts";
import { address, goBackTo, type Place, place, withQuery } from "../router.ts";
import { clockTime, count, duration } from "../time.ts";
import { useTitle } from "../title.ts";

/** Interval of polling for a job that does not exist yet, so that its page shows it as soon as it is created. */
const POLL_EVERY_MS = 3_000;

export function JobPage({ place: { id: jobId, query } }: { place: Place }) {
  const record = useMemo(() => new JobRecord(service.jobs, jobId), [jobId]);
  const snapshot = record.snapshot.value;
  const { job, error, isDeleted } = snapshot;
  const [isRefused, setRefused] = useState(false);
  const isAwaited = isRefused && job === null;
  useTitle(job ? titleOf(job) : jobId);
  useEffect(() => () => record.close(), [record]);
  useEffect(() => {
    void record.reload();
    if (isAwaited) return pollEvery(POLL_EVERY_MS, () => record.reload());
    return followLive(
      { job: jobId },
      {
        onStart: () => void record.reload(),
        onRefused: () => {
          setRefused(true);
          void record.reload();
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
      <p class="crumbs">
        <a href={address("/")} data-up>
          <Icon name="back" /> Jobs
        </a>
      </p>
      {job ? <JobView {...snapshot} job={job} /> : <JobError jobId={jobId} error={error} record={record} />}
      {job && error !== null && <Failure error={error} retry={() => record.reload()} />}
      {job && stepKey !== null && !isDeleted && (
        <StepPanel
          key={stepKey}
          job={job}
          stepKey={stepKey}
          summary={snapshot.steps.find((step) => step.stepKey === stepKey)}
          onClose={() => goBackTo(withQuery(query, { step: null }), { replace: true })}
        />
      )}
    </>
  );
}

/** Calls `poll` at this interval while the page is visible. Returns a function that ends this. */
function pollEvery(ms: number, poll: () => unknown): () => void {
  const timer = setInterval(() => document.hidden || poll(), ms);
  return () => clearInterval(timer);
}

function JobError({ jobId, error, record }: { jobId: string; error: unknown; record: JobRecord }) {
  if (!error) return null;
  if (!(error instanceof SignalboxError && error.code === "job_not_found")) {
    return <Failure error={error} retry={() => record.reload()} />;
  }
  return (
    <NotFound title="Job not found">
      <bdi class="id">{jobId}</bdi> was deleted or not created yet. This page shows it once it exists.{" "}
      <a href={address("/")}>See all jobs</a>
    </NotFound>
  );
}

function JobView({ job, steps, hasMoreSteps, messages, isDeleted }: JobSnapshot & { job: Job }) {
  const { jobId, description, status, progress, message, input, metadata, output } = job;
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
          <h1>
            <bdi>{title}</bdi>
          </h1>
          {title !== jobId && <bdi class="id muted">{jobId}</bdi>}
        </div>
        <Actions job={job} isDeleted={isDeleted} />
      </div>
      <section class="card" aria-label="Progress">
        <div class="headline">
          <StatusMark status={status} stale={stale} />
          <ProgressBar value={progress} status={status} stale={stale} label={`Progress of ${title}`} />
        </div>
        <p class="said" aria-live="polite">
          <bdi>{message ?? "No message yet"}</bdi>
        </p>
        {messages.length > 1 && <EarlierMessages messages={messages.slice(1)} />}
        {stale && <StaleNote job={job} />}
        <JobFacts job={job} />
        {description && <p class="description">{description}</p>}
      </section>
      <section aria-labelledby="steps-title" class="steps">
        <h2 id="steps-title">
          Steps <span class="muted">{steps.length > 0 && count(steps.length)}</span>
        </h2>
        {steps.length > 0 ? <Timeline job={job} steps={steps} hrefOf={hrefOf} /> : <NoSteps job={job} />}
        {hasMoreSteps && (
          <p class="muted">
            This page shows {count(steps.length)} steps. The API returns all of them:{" "}
            <code>GET /api/jobs/JOB_ID/steps</code>
          </p>
        )}
      </section>
      {output && <JsonBlock title="Output" value={output} file={`${jobId}-output`} />}
      {input && <JsonBlock title="Input" value={input} file={`${jobId}-input`} />}
      {metadata && <JsonBlock title="Metadata" value={metadata} file={`${jobId}-metadata`} />}
    </>
  );
}

function Actions({ job, isDeleted }: { job: Job; isDeleted: boolean }) {
  const { jobId } = job;
  const [isConfirming, setConfirming] = useState(false);
  const currentAccess = access.value;
  const remove = () =>
    service.jobs.delete(jobId).then(() => {
      showToast(`${titleOf(job)} deleted`);
      if (place.value.id === jobId) goBackTo(address("/"));
    }, showError);
  const jobJson = () => JSON.stringify(job, null, 2);
  return (
    <div class="acts">
      <button type="button" onClick={() => copyText(jobJson(), "Job")}>
        <Icon name="copy" /> Copy JSON
      </button>
      <button type="button" onClick={() => downloadText(jobJson(), `${jobId}.json`, true)}>
        <Icon name="download" /> Download
      </button>
      {canWrite(currentAccess) && !isDeleted && (
        <button type="button" class="danger" onClick={() => setConfirming(true)}>
          <Icon name="trash" /> Delete
        </button>
      )}
      {isConfirming && (
        <Confirm
          title="Delete this job?"
          text={`This permanently deletes ${titleOf(job)} and all its steps. Later reports for it are rejected with 404.`}
          action="Delete"
          onYes={remove}
          onClose={() => setConfirming(false)}
        />
      )}
    </div>
  );
}

function NoSteps({ job: { jobId, status } }: { job: Job }) {
  const canReport = status === "running" && canWrite(access.value);
  return (
    <>
      <p class="muted">
        No steps yet. Each step appears with its first report{canReport ? ", for example this one:" : "."}
      </p>
      {canReport && <Command command={reportStepCommand(jobId)} />}
    </>
  );
}

function EarlierMessages({ messages }: { messages: JobSnapshot["messages"] }) {
  const present = now.value;
  return (
    <details class="earlier">
      <summary>Earlier messages ({messages.length})</summary>
      <ol tabIndex={0} aria-label="Earlier messages, newest first">
        {messages.map(({ text, at }) => (
          <li key={`${at} ${text}`}>
            <time dateTime={at}>{clockTime(at, present)}</time> <bdi>{text}</bdi>
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

function JobFacts({ job }: { job: Job }) {
  const { status, createdAt, lastReportAt, staleAfterSeconds } = job;
  const end = endOf(job, now.value);
  return (
    <Facts
      facts={[
        ["Created", <When time={createdAt} />],
        ["Last report", lastReportAt ? <When time={lastReportAt} /> : "none yet"],
        [status === "running" ? "Running for" : "Duration", duration(end - Date.parse(createdAt))],
        ["Stale after", staleAfterSeconds && duration(staleAfterSeconds * 1_000)],
      ]}
    />
  );
}
