import { useEffect, useRef } from "preact/hooks";
import { type JobSummary, SignalboxError, type Step, type StepSummary } from "../../client/client.ts";
import { now } from "../clock.ts";
import { service } from "../data/service.ts";
import { barOf, endOf, isStepStale } from "../data/timeline.ts";
import { type Query, useQuery } from "../data/useQuery.ts";
import { useThrottle } from "../data/useThrottle.ts";
import { absolute, duration } from "../time.ts";
import { Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { JsonBlock } from "./json.tsx";
import { Failure } from "./notice.tsx";
import { ProgressBar } from "./progress.tsx";
import { StatusMark } from "./status.tsx";
import { Toasts } from "./toasts.tsx";

interface StepPanelProps {
  readonly job: JobSummary;
  readonly stepKey: string;
  /** The step's row of the timeline, or undefined if the timeline lacks it. */
  readonly summary: StepSummary | undefined;
  readonly onClose: () => void;
}

/** One step with its output, beside the job. */
export function StepPanel({ job, stepKey, summary, onClose }: StepPanelProps) {
  const { jobId } = job;
  const dialog = useRef<HTMLDialogElement>(null);
  const query = useQuery(
    (signal) => service.jobs.step(jobId, stepKey, { signal }),
    `${job.createdAt} ${stepKey}`, // The job may be deleted and created again.
  );
  useReloadOnEvent(summary, query);
  const { value, error, reload } = query;
  useEffect(() => dialog.current?.showModal(), []);
  const present = now.value;
  const end = endOf(job, present);
  const step = summary ?? value;
  const stale = step !== null && isStepStale(step, job, present);
  return (
    <dialog ref={dialog} class="panel" aria-labelledby="step-title" onClose={onClose}>
      {/* The dialog covers the page's own toasts. */}
      <Toasts />
      <div class="panel-head">
        <h2 id="step-title">
          <bdi>{step?.stepName ?? stepKey}</bdi>
        </h2>
        <form method="dialog">
          <button type="submit" class="icon-button" aria-label="Close">
            <Icon name="cancel" />
          </button>
        </form>
      </div>
      {step && (
        <>
          <p class="headline">
            <StatusMark status={step.status} stale={stale} />
            <ProgressBar value={step.progress} status={step.status} stale={stale} label="Progress of the step" />
          </p>
          {step.message && (
            <p class="said">
              <bdi>{step.message}</bdi>
            </p>
          )}
          <Facts
            facts={[
              ["Key", <bdi class="id">{step.stepKey}</bdi>],
              ["Attempts", step.attempts],
              ["Duration", duration(barOf(step, end).to - barOf(step, end).from)],
              ["Current attempt started", absolute(step.startedAt)],
              ["First reported", absolute(step.createdAt)],
              ["Last reported", absolute(step.lastReportAt)],
            ]}
          />
        </>
      )}
      {error !== null && <StepError error={error} retry={reload} />}
      {value?.output && <JsonBlock title="Output" value={value.output} file={`${jobId}-${stepKey}-output`} />}
      {value && !value.output && (
        <p class="muted">{step?.status === "running" ? "No output yet." : "This step has no output."}</p>
      )}
    </dialog>
  );
}

function StepError({ error, retry }: { error: unknown; retry: () => void }) {
  if (!(error instanceof SignalboxError && error.code === "step_not_found"))
    return <Failure error={error} retry={retry} />;
  return <p class="muted">Step not found: no report has created it.</p>;
}

/** Reloads the step after an event, at a limited rate, because events lack the output. */
function useReloadOnEvent(summary: StepSummary | undefined, { value, error, reload }: Query<Step>): void {
  const reloadSoon = useThrottle(reload);
  useEffect(() => {
    if (summary && (value ? summary.updatedAt > value.updatedAt : error !== null)) reloadSoon();
  }, [summary?.updatedAt, value]);
}
