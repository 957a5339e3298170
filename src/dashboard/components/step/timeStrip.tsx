import { useMemo } from "preact/hooks";
import type { Gate, JobSummary, StepSummary } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { type Axis, axisOf, endOf, gateLane, lanesOf, type Mark, usualEndOf } from "../../data/job/timeline.ts";
import { isNarrow } from "../../narrow.ts";
import { visible } from "../../text.ts";
import { duration } from "../../time.ts";

interface TimeStripProps {
  readonly job: JobSummary;
  readonly steps: readonly StepSummary[];
  readonly gates: readonly Gate[];
  readonly selected: string | null;
  readonly hrefOf: (stepKey: string) => string;
}

/** Maximum number of ticks: fewer on a phone, so that their labels have room. */
const [MAX_TICKS, MAX_NARROW_TICKS] = [6, 4];

/** When the steps of a job ran and when it waited for people, at a glance. The list below says the same in words. */
export function TimeStrip({ job, steps, gates, selected, hrefOf }: TimeStripProps) {
  const end = endOf(job, now.value);
  const lanes = useMemo(() => lanesOf(job, steps, end), [job.status, steps, end]);
  const waits = gateLane(gates, end);
  const axis = axisOf(job, [...lanes, waits], end, isNarrow.value ? MAX_NARROW_TICKS : MAX_TICKS);
  const usualEnd = usualEndOf(job);
  return (
    <div class="strip" aria-hidden="true">
      {axis.ticks.map((tick) => (
        <i key={tick} class={`tick${isLate(tick, axis)}`} style={{ left: share(tick, axis) }}>
          <span>{tick === 0 ? "0" : duration(tick)}</span>
        </i>
      ))}
      {usualEnd !== null && usualEnd <= axis.to && (
        <i class="usual-end" title="The usual end" style={{ left: share(usualEnd - axis.from, axis) }} />
      )}
      {waits.length > 0 && <Lane marks={waits} axis={axis} />}
      {lanes.map((marks, at) => (
        <Lane key={at} marks={marks} axis={axis} selected={selected} hrefOf={hrefOf} />
      ))}
    </div>
  );
}

interface LaneProps extends Partial<Pick<TimeStripProps, "selected" | "hrefOf">> {
  readonly marks: readonly Mark[];
  readonly axis: Axis;
}

function Lane({ marks, axis, selected, hrefOf }: LaneProps) {
  return (
    <div class="lane">
      {marks.map(({ kind, from, to, title, label, stepKey }) => {
        const key = `${kind} ${from} ${stepKey}`;
        const props = {
          class: `mark mark-${kind}${stepKey !== undefined && stepKey === selected ? " is-selected" : ""}${isLate(from - axis.from, axis)}`,
          title: visible(`${title}, ${duration(to - from)}`),
          style: { left: share(from - axis.from, axis), width: share(to - from, axis) },
        };
        if (stepKey === undefined || !hrefOf)
          return (
            <span key={key} {...props}>
              {label && <bdi>{visible(label)}</bdi>}
            </span>
          );
        return (
          <a
            key={key}
            {...props}
            href={hrefOf(stepKey)}
            data-beside={selected === null ? undefined : true}
            tabIndex={-1}
          />
        );
      })}
    </div>
  );
}

/** The share of the axis from which a text would leave the strip: it stands to the left of its place. */
const LATE = 0.85;
const isLate = (ms: number, { from, to }: Axis): string => (ms / (to - from) > LATE ? " is-late" : "");

/** Returns a part of the axis in percent. */
const share = (ms: number, { from, to }: Axis): string => `${((ms / (to - from)) * 100).toFixed(3)}%`;
