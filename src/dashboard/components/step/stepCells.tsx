import type { JobSummary, StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { barOf, isStepStale, shownStepStatus } from "../../data/job/timeline.ts";
import { firstWords, visible } from "../../text.ts";
import { duration } from "../../time.ts";
import { StatusMark } from "../values/status.tsx";

interface StepCellsProps {
  readonly job: JobSummary;
  readonly step: StepSummary;
  /** The end of the job. */
  readonly end: number;
  /** The stepKey of the step that the panel shows. */
  readonly selected: string | null;
  readonly href: string;
}

/** The cells of a row of the list of steps. */
export function StepCells({ job, step, end, selected, href }: StepCellsProps) {
  const { stepName, stepKey, attempts, message } = step;
  const { from, to } = barOf(step, end);
  const isFailed = step.status === "failed";
  return (
    <>
      <span role="cell" class="cell-status">
        <StatusMark status={shownStepStatus(step, job)} stale={isStepStale(step, job, now.value)} />
      </span>
      <span role="cell" class="cell-name">
        <a
          href={href}
          dir="auto"
          title={visible(stepName)}
          aria-current={stepKey === selected ? "true" : undefined}
          data-beside={selected === null ? undefined : true}
        >
          {visible(stepName)}
        </a>
        {attempts > 1 && <span class="muted small">attempt {attempts}</span>}
      </span>
      <span
        role="cell"
        class={`cell-message ${isFailed ? "fault" : "muted"}`}
        title={message ? visible(message) : undefined}
      >
        <bdi>{describe(step)}</bdi>
      </span>
      <span role="cell" class="cell-time">
        {duration(to - from)}
      </span>
    </>
  );
}

/** Returns the first words of a step's message; those of a running one follow its progress. */
const describe = ({ status, progress, message }: StepSummary): string =>
  [status === "running" && `${Math.floor(progress)} %`, message && firstWords(message)].filter(Boolean).join(" · ");
