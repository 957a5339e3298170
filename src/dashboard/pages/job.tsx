import { useEffect, useMemo, useState } from "preact/hooks";
import type { Job } from "../../client/client.ts";
import { now } from "../clock.ts";
import { JobGates, useJobGates } from "../components/gate/jobGates.tsx";
import { Icon } from "../components/icon.tsx";
import { JobDetails } from "../components/job/jobDetails.tsx";
import { JobHead } from "../components/job/jobHead.tsx";
import { isNotified, useNotification } from "../components/job/notifyWhenDone.tsx";
import { Failure, RecordError } from "../components/notice.tsx";
import { StepPanel } from "../components/step/stepPanel.tsx";
import { Steps } from "../components/step/steps.tsx";
import { takeFirst } from "../data/first.ts";
import { type FirstOfJob, JobRecord, type JobSnapshot } from "../data/job/jobRecord.ts";
import { isStale, shownStatus, titleOf } from "../data/job/jobText.ts";
import { neighbours, shownRow } from "../data/job/shownJobs.ts";
import { orderSteps } from "../data/job/stepOrder.ts";
import { followLive } from "../data/live/live.ts";
import { service } from "../data/service.ts";
import { isNarrow } from "../narrow.ts";
import { address, goBackTo, navigate, type Place, withQuery } from "../router.ts";
import { useTitle } from "../title.ts";

/** Intervals of polling for a job that does not exist yet: soon at first, because its page may be opened as it is created. */
const [MIN_POLL_MS, MAX_POLL_MS] = [3_000, 30_000];

export function JobPage({ place: { id: jobId, query } }: { place: Place }) {
  const record = useMemo(() => new JobRecord(service.jobs, jobId, firstOf(jobId) ?? shownRow(jobId)), [jobId]);
  const snapshot = record.snapshot.value;
  const { job, error } = snapshot;
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
  return (
    <>
      <JobCrumbs jobId={jobId} />
      {job ? (
        <JobView {...snapshot} job={job} query={query} />
      ) : (
        <JobError jobId={jobId} error={error} record={record} />
      )}
      {job && error !== null && <Failure error={error} retry={() => record.reload()} />}
    </>
  );
}

/** Returns the job and the steps that came with the document, if they are of this job. */
function firstOf(jobId: string): FirstOfJob | null {
  const [job, urgent, completed] = [takeFirst("job"), takeFirst("urgent"), takeFirst("completed")];
  if (job?.jobId !== jobId) return null;
  return { job, steps: [...(urgent?.steps ?? []), ...(completed?.steps ?? [])] };
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
  return (
    <RecordError record="job" error={error} retry={() => record.reload()}>
      <bdi class="id">{jobId}</bdi> was deleted or not created yet. This page shows it once it exists.{" "}
      <a href={address("/")}>See all jobs</a>
    </RecordError>
  );
}

function JobView(props: JobSnapshot & { job: Job; query: URLSearchParams }) {
  const { job, steps, isWhole, points, isDeleted, query } = props;
  const selected = isDeleted ? null : query.get("step");
  const ordered = useMemo(() => orderSteps(steps), [steps]);
  const gates = useJobGates(job);
  const hrefOf = (step: string) => withQuery(query, { step });
  return (
    <>
      {isDeleted && (
        <p class="note note-fault line" role="alert">
          <Icon name="trash" /> This job was deleted. This page shows its last state.{" "}
          <a href={address("/")}>See all jobs</a>
        </p>
      )}
      <JobHead {...props} hrefOf={hrefOf} />
      <div class="job-columns columns-2 stack">
        <div>
          {!isDeleted && <JobGates gates={gates} />}
          <Steps {...{ job, steps, ordered, isWhole, selected, hrefOf }} gates={gates.value ?? []} />
        </div>
        {selected !== null && (
          <StepPanel
            job={job}
            stepKey={selected}
            steps={[...ordered.first, ...ordered.completed]}
            onMove={(step) => navigate(withQuery(query, { step }), { replace: true })}
            onClose={() => goBackTo(withQuery(query, { step: null }), { replace: true })}
          />
        )}
        {(selected === null || isNarrow.value) && <JobDetails job={job} points={points} />}
      </div>
    </>
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
    <p class="crumbs line">
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
