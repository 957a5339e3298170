import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { JobSummary, Step, StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { isMissing } from "../../data/errors.ts";
import { barOf, endOf, isStepStale, shownStepStatus } from "../../data/job/timeline.ts";
import { service } from "../../data/service.ts";
import { type Query, useQuery } from "../../data/useQuery.ts";
import { isNarrow } from "../../narrow.ts";
import { shownText } from "../../text.ts";
import { duration } from "../../time.ts";
import { IconButton } from "../buttons.tsx";
import { Toasts } from "../frame/toasts.tsx";
import { Icon } from "../icon.tsx";
import { FailedAttempts, FailurePanel } from "../job/failures.tsx";
import { Links } from "../job/links.tsx";
import { Failure } from "../notice.tsx";
import { Clamp } from "../values/clamp.tsx";
import { Facts } from "../values/facts.tsx";
import { JsonBlock } from "../values/json.tsx";
import { ProgressBar } from "../values/progress.tsx";
import { RichText } from "../values/richText.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { StepLog } from "./stepLog.tsx";

interface StepPanelProps {
  readonly job: JobSummary;
  readonly stepKey: string;
  /** The steps in the order of the list. */
  readonly steps: readonly StepSummary[];
  /** Opens another step in the same panel. */
  readonly onMove: (stepKey: string) => void;
  readonly onClose: () => void;
}

/**
 * One step with its output and its log: beside the list of steps, in a narrow window in a sheet above the page. The arrows to
 * the sides move to the next and the previous step, in the sheet also j and k.
 */
export function StepPanel(props: StepPanelProps) {
  const isSheet = isNarrow.value;
  const box = useRef<HTMLDialogElement & HTMLElement>(null);
  useMoves(box, props);
  useEffect(() => {
    if (isSheet) box.current?.showModal();
  }, [isSheet]);
  useFocusOnClose(box);
  const content = (
    <>
      <PanelActs {...props} isSheet={isSheet} />
      <StepContent
        key={props.stepKey}
        {...props}
        summary={props.steps.find(({ stepKey }) => stepKey === props.stepKey)}
      />
    </>
  );
  if (!isSheet)
    return (
      <section ref={box} class="card panel" aria-labelledby="step-title">
        {content}
      </section>
    );
  return (
    <dialog ref={box} class="panel" aria-labelledby="step-title" onClose={props.onClose}>
      {/* The dialog covers the page's own toasts. */}
      <Toasts />
      {content}
    </dialog>
  );
}

function PanelActs({ stepKey, steps, onMove, onClose, isSheet }: StepPanelProps & { readonly isSheet: boolean }) {
  const [previous, next] = neighboursOf(steps, stepKey);
  const move = (step: StepSummary | undefined) => step && onMove(step.stepKey);
  return (
    <form method="dialog" class="panel-acts">
      <IconButton label="Previous step" icon="back" isInert={!previous} onClick={() => move(previous)} />
      <IconButton label="Next step" icon="next" isInert={!next} onClick={() => move(next)} />
      {isSheet ? (
        <button type="submit" class="icon-button" aria-label="Close" autofocus>
          <Icon name="cancel" />
        </button>
      ) : (
        <IconButton label="Close" icon="cancel" class="panel-close" onClick={onClose} />
      )}
    </form>
  );
}

/** The keys that move to another step, with the direction. */
const MOVES: ReadonlyMap<string, 1 | -1> = new Map([
  ["ArrowRight", 1],
  ["ArrowLeft", -1],
]);
const SHEET_MOVES: ReadonlyMap<string, 1 | -1> = new Map([...MOVES, ["j", 1], ["k", -1]]);

const neighboursOf = (steps: readonly StepSummary[], stepKey: string) => {
  const at = steps.findIndex((step) => step.stepKey === stepKey);
  return at < 0 ? [] : [steps[at - 1], steps[at + 1]];
};

function useMoves(box: { readonly current: HTMLElement | null }, { stepKey, steps, onMove }: StepPanelProps): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const dialog = document.querySelector("dialog[open]");
      const direction = (dialog ? SHEET_MOVES : MOVES).get(event.key);
      if (!direction || event.ctrlKey || event.metaKey || event.altKey) return;
      if (dialog && dialog !== box.current) return;
      if ((event.target as Element).closest("input, textarea, select, [tabindex='0']")) return;
      const step = neighboursOf(steps, stepKey)[direction === 1 ? 1 : 0];
      event.preventDefault();
      if (step) onMove(step.stepKey);
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [stepKey, steps]);
}

/** Moves the focus from a panel that closes to the row of its step. A dialog does so by itself. */
function useFocusOnClose(box: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(
    () => () => {
      if (!box.current?.contains(document.activeElement)) return;
      document.querySelector<HTMLElement>(".table-steps a[aria-current]")?.focus();
    },
    [],
  );
}

interface StepContentProps {
  readonly job: JobSummary;
  readonly stepKey: string;
  /** The step's row of the list, or undefined if the list lacks it. */
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
      <Clamp as="h2" lines={3} class="large" title={step?.stepName ?? stepKey}>
        <bdi id="step-title">{shownText(step?.stepName ?? stepKey)}</bdi>
      </Clamp>
      {step && (
        <>
          <p class="headline line">
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
            <div class="said large">
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
  if (!isMissing(error, "step")) return <Failure error={error} retry={retry} />;
  return <p class="muted">Step not found: no report has created it.</p>;
}

/** Reloads the step after an event, at a limited rate, because events lack the output. */
function useReloadOnEvent(summary: StepSummary | undefined, { value, error, reloadSoon }: Query<Step>): void {
  useEffect(() => {
    if (summary && (value ? summary.updatedAt > value.updatedAt : error !== null)) reloadSoon();
  }, [summary?.updatedAt, value]);
}
