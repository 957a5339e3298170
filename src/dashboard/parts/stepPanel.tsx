import { useEffect, useRef } from "preact/hooks";
import type { JobSummary, StepSummary } from "../../client/client.ts";
import { now } from "../clock.ts";
import { useLoaded } from "../loaded.ts";
import { service } from "../service.ts";
import { absolute, duration } from "../time.ts";
import { barOf, endOf } from "../timeline.ts";
import { useStore } from "../useStore.ts";
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
  /** As the timeline knows it; undefined when it does not. */
  readonly known: StepSummary | undefined;
  readonly onClose: () => void;
}

/** One step with its output, beside the job. */
export function StepPanel({ job, stepKey, known, onClose }: StepPanelProps) {
  const { jobId } = job;
  const dialog = useRef<HTMLDialogElement>(null);
  const ended = known?.status === "running" ? "" : (known?.updatedAt ?? "");
  const { value, error, reload } = useLoaded(
    (signal) => service.jobs.step(jobId, stepKey, { signal }),
    `${stepKey} ${ended}`,
  );
  useEffect(() => dialog.current?.showModal(), []);
  const end = endOf(job, useStore(now));
  const step = known ?? value;
  return (
    <dialog ref={dialog} class="panel" aria-labelledby="step-title" onClose={onClose}>
      {/* The page's own are behind it. */}
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
            <StatusMark status={step.status} stale={step.stale} />
            <ProgressBar value={step.progress} status={step.status} stale={step.stale} label="Progress of the step" />
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
              ["This attempt began", absolute(step.startedAt)],
              ["First reported", absolute(step.createdAt)],
              ["Last reported", absolute(step.lastReportAt)],
            ]}
          />
        </>
      )}
      {error !== null && <Failure error={error} retry={reload} />}
      {value?.output && <JsonBlock title="Output" value={value.output} file={`${jobId}-${stepKey}-output`} />}
      {value && !value.output && <p class="muted">This step has left no output.</p>}
    </dialog>
  );
}
