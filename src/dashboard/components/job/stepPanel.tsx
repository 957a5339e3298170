import { useEffect, useRef } from "preact/hooks";
import { type JobSummary, SignalboxError, type Step, type StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { barOf, endOf, isStepStale, shownStepStatus } from "../../data/job/timeline.ts";
import { useThrottle } from "../../data/live/useThrottle.ts";
import { service } from "../../data/service.ts";
import { type Query, useQuery } from "../../data/useQuery.ts";
import { shownText } from "../../text.ts";
import { duration } from "../../time.ts";
import { Toasts } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";
import { IconButton } from "../iconButton.tsx";
import { Failure } from "../notice.tsx";
import { Clamp } from "../values/clamp.tsx";
import { Facts } from "../values/facts.tsx";
import { JsonBlock } from "../values/json.tsx";
import { ProgressBar } from "../values/progress.tsx";
import { RichText } from "../values/richText.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { FailedAttempts } from "./failedAttempts.tsx";
import { FailurePanel } from "./failurePanel.tsx";
import { Links } from "./links.tsx";
import { StepLog } from "./stepLog.tsx";

interface StepPanelProps {
  readonly job: JobSummary;
  readonly stepKey: string;
  /** The rows of the timeline, oldest first. */
  readonly steps: readonly StepSummary[];
  /** Opens another step in the same panel. */
  readonly onMove: (stepKey: string) => void;
  readonly onClose: () => void;
}

/** One step with its output, beside the job. The arrows, and j and k, move to the next and the previous step. */
export function StepPanel({ job, stepKey, steps, onMove, onClose }: StepPanelProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const at = steps.findIndex((step) => step.stepKey === stepKey);
  const [previous, next] = at < 0 ? [] : [steps[at - 1], steps[at + 1]];
  const move = (step: StepSummary | undefined) => step && onMove(step.stepKey);
  const onKeyDown = (event: KeyboardEvent) => {
    const isOther = event.ctrlKey || event.metaKey || event.altKey || !MOVES.has(event.key);
    if (isOther || (event.target as Element).closest("input, textarea, [tabindex='0']")) return;
    event.preventDefault();
    move(MOVES.get(event.key) === 1 ? next : previous);
  };
  return (
    <dialog ref={dialog} class="panel" aria-labelledby="step-title" onClose={onClose} onKeyDown={onKeyDown}>
      {/* The dialog covers the page's own toasts. */}
      <Toasts />
      <form method="dialog" class="panel-acts">
        <IconButton label="Previous step" icon="back" isInert={!previous} onClick={() => move(previous)} />
        <IconButton label="Next step" icon="next" isInert={!next} onClick={() => move(next)} />
        <button type="submit" class="icon-button" aria-label="Close" autofocus>
          <Icon name="cancel" />
        </button>
      </form>
      <StepContent key={stepKey} job={job} stepKey={stepKey} summary={steps[at]} />
    </dialog>
  );
}

/** The keys that move to another step, with the direction. */
const MOVES: ReadonlyMap<string, 1 | -1> = new Map([
  ["j", 1],
  ["ArrowRight", 1],
  ["k", -1],
  ["ArrowLeft", -1],
]);

interface StepContentProps {
  readonly job: JobSummary;
  readonly stepKey: string;
  /** The step's row of the timeline, or undefined if the timeline lacks it. */
  readonly summary: StepSummary | undefined;
}

function StepContent({ job, stepKey, summary }: StepContentProps) {
  const { jobId } = job;
  const query = useQuery(
    (signal) => service.jobs.step(jobId, stepKey, { signal }),
    `${job.createdAt} ${stepKey}`, // The job may be deleted and created again.
  );
  useReloadOnEvent(summary, query);
  const { value, error, reload } = query;
  const present = now.value;
  const end = endOf(job, present);
  const step = summary ?? value;
  const stale = step !== null && isStepStale(step, job, present);
  return (
    <>
      <Clamp as="h2" lines={3} title={step?.stepName ?? stepKey}>
        <bdi id="step-title">{shownText(step?.stepName ?? stepKey)}</bdi>
      </Clamp>
      {step && (
        <>
          <p class="headline">
            <StatusMark status={shownStepStatus(step, job)} stale={stale} />
            <ProgressBar
              value={step.progress}
              status={shownStepStatus(step, job)}
              stale={stale}
              label="Progress of the step"
            />
          </p>
          {step.status === "failed" && <FailurePanel message={step.message} />}
          {step.message && step.status !== "failed" && (
            <div class="said">
              <RichText text={step.message} isClamped />
            </div>
          )}
          <Facts
            facts={[
              ["Key", <bdi class="id">{step.stepKey}</bdi>],
              ["Attempts", step.attempts],
              ["Duration", duration(barOf(step, end).to - barOf(step, end).from)],
              ["Current attempt started", <When time={step.startedAt} />],
              ["First reported", <When time={step.createdAt} />],
              ["Last reported", <When time={step.lastReportAt} />],
            ]}
          />
        </>
      )}
      <Links links={step?.links} />
      <StepLog jobId={jobId} stepKey={stepKey} />
      <FailedAttempts attempts={value?.failedAttempts} />
      {error !== null && <StepError error={error} retry={reload} />}
      {value?.output && <JsonBlock title="Output" value={value.output} file={`${jobId}-${stepKey}-output`} />}
      {value && !value.output && (
        <p class="muted">{step?.status === "running" ? "No output yet." : "This step has no output."}</p>
      )}
    </>
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
