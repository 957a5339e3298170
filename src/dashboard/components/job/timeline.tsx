import { useMemo } from "preact/hooks";
import type { JobSummary, StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { type Axis, axisOf, barOf, endOf, isStepStale, shownStepStatus, usualEndOf } from "../../data/job/timeline.ts";
import { shownText } from "../../text.ts";
import { duration } from "../../time.ts";
import { Rows } from "../tables/rows.tsx";
import { StatusMark } from "../values/status.tsx";

interface TimelineProps {
  readonly job: JobSummary;
  readonly steps: readonly StepSummary[];
  readonly hrefOf: (stepKey: string) => string;
}

const MAX_TICKS = 6;

/** The steps of a job as bars on a time axis. */
export function Timeline({ job, steps, hrefOf }: TimelineProps) {
  const present = now.value;
  const end = endOf(job, present);
  const axis = useMemo(() => axisOf(job, steps, end, MAX_TICKS), [job, steps, end]);
  const usualEnd = usualEndOf(job);
  return (
    <div class="timeline">
      <div class="axis" aria-hidden="true">
        {axis.ticks.map((tick) => (
          <span key={tick} style={{ left: share(axis.from + tick, axis) }}>
            {tick === 0 ? "0" : duration(tick)}
          </span>
        ))}
        {usualEnd !== null && usualEnd <= axis.to && (
          <i class="usual-end" title="The usual end" style={{ left: share(usualEnd, axis) }} />
        )}
      </div>
      <Rows
        rows={steps}
        idOf={(step) => step.stepId}
        label="Steps, oldest first"
        kind="steps"
        columns={["Step", "State", "Time", "Duration"]}
        cells={(step) => <StepCells {...{ job, step, axis, end }} now={present} href={hrefOf(step.stepKey)} />}
      />
    </div>
  );
}

interface StepProps {
  readonly job: JobSummary;
  readonly step: StepSummary;
  readonly axis: Axis;
  /** The end of the job. */
  readonly end: number;
  readonly now: number;
  readonly href: string;
}

function StepCells({ job, step, axis, end, now, href }: StepProps) {
  const { attempts, progress, message } = step;
  const status = shownStepStatus(step, job);
  const stepName = shownText(step.stepName);
  const { from, to, earlierFrom } = barOf(step, end);
  const kind = isStepStale(step, job, now) ? "stale" : status;
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={href} dir="auto" title={message ? `${stepName}\n${shownText(message)}` : stepName}>
          {stepName}
        </a>
        {attempts > 1 && <span class="muted attempts">attempt {attempts}</span>}
      </span>
      <span role="cell" class="cell-status">
        <StatusMark status={status} stale={kind === "stale"} />
      </span>
      <span role="cell" class="cell-bar">
        {axis.ticks.map((tick) => (
          <i key={tick} class="gridline" style={{ left: share(axis.from + tick, axis) }} />
        ))}
        {earlierFrom !== null && (
          <span
            class="bar bar-earlier"
            title="Earlier attempts"
            style={{ left: share(earlierFrom, axis), width: width(earlierFrom, from, axis) }}
          />
        )}
        <span class={`bar bar-${kind}`} style={{ left: share(from, axis), width: width(from, to, axis) }}>
          {status === "running" && <span class="bar-done" style={{ width: `${progress}%` }} />}
        </span>
        <span class="unseen">{describe(step, axis, from)}</span>
      </span>
      <span role="cell" class="cell-time">
        {duration(to - from)}
      </span>
    </>
  );
}

const share = (time: number, { from, to }: Axis): string => `${(((time - from) / (to - from)) * 100).toFixed(3)}%`;
const width = (start: number, end: number, { from, to }: Axis): string =>
  `${(((end - start) / (to - from)) * 100).toFixed(3)}%`;

const describe = ({ progress, message }: StepSummary, axis: Axis, from: number): string =>
  `started after ${duration(from - axis.from)}, at ${Math.floor(progress)} %${message ? `: ${message}` : ""}`;
