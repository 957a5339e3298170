import type { NameHistory } from "../../../wire/history.ts";
import { countsOf } from "../../data/history.ts";
import { clockTime, duration } from "../../time.ts";

type Run = NameHistory["runs"][number];

/** Number of ticks of a row, and the sides of its picture. */
const TICKS = 20;
const [TICK_WIDTH, TICK_HEIGHT] = [9, 36];
/** Height of the cross above a failed job. */
const CROSS = 8;

const titleOf = ({ status, durationMs, startedAt }: Run): string =>
  `${status}, ${duration(durationMs)}, started ${clockTime(startedAt, Date.now())}`;

/** A running job is an outline. */
const inkOf = ({ status }: Run) => ({
  fill: status === "running" ? "none" : "currentColor",
  stroke: status === "completed" ? "none" : "currentColor",
  "stroke-width": 1.6,
});

const longestOf = (runs: readonly Run[]): number => Math.max(1, ...runs.map(({ durationMs }) => durationMs));

/** A cross around a point. */
const cross = (x: number, y: number, size: number): string =>
  `M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;

/** The newest jobs of a name as ticks, the newest at the right: as high as they took long, with a cross for a failed one. */
export function Ticks({ runs }: { readonly runs: readonly Run[] }) {
  const longest = longestOf(runs);
  return (
    <svg
      width={TICKS * TICK_WIDTH}
      height={TICK_HEIGHT + CROSS}
      viewBox={`0 0 ${TICKS * TICK_WIDTH} ${TICK_HEIGHT + CROSS}`}
      role="img"
      aria-label={countsOf(runs)}
    >
      {runs.map((run, i) => {
        const [x, height] = [(TICKS - 1 - i) * TICK_WIDTH + 1, Math.max(3, (run.durationMs / longest) * TICK_HEIGHT)];
        const top = TICK_HEIGHT + CROSS - height;
        return (
          <g key={run.jobId} class={`status-${run.status}`} {...inkOf(run)}>
            <title>{titleOf(run)}</title>
            <rect x={x} y={top} width={TICK_WIDTH - 2} height={height} rx={1} />
            {run.status === "failed" && <path d={cross(x + 3.5, top - CROSS / 2, 2.5)} />}
          </g>
        );
      })}
    </svg>
  );
}

/** Height of the picture and the margin above and below, in pixels; margins at the sides in percent. */
const [HEIGHT, MARGIN, SIDE] = [180, 10, 2];

/** The newest jobs of a name over time: as high as they took long. A failed one is a cross, a running one a ring. */
export function Dots({ runs, usual, now }: Pick<NameHistory, "runs" | "usual"> & { now: number }) {
  const longest = Math.max(longestOf(runs), usual?.p95Ms ?? 0);
  const times = runs.map(({ startedAt }) => Date.parse(startedAt));
  const from = Math.min(now - 1, ...times);
  const to = Math.max(now, ...times);
  const y = (ms: number) => HEIGHT - MARGIN - (ms / longest) * (HEIGHT - 2 * MARGIN);
  return (
    <figure class="dots">
      <figcaption class="line small">
        <span>{duration(longest)}</span>
        {usual && <span class="muted">The line is at the usual {duration(usual.p50Ms)}</span>}
      </figcaption>
      <svg height={HEIGHT} role="img" aria-label={`${countsOf(runs)}, over time`}>
        {usual && (
          <line stroke="currentColor" stroke-dasharray="6 4" x1={0} x2="100%" y1={y(usual.p50Ms)} y2={y(usual.p50Ms)} />
        )}
        {runs.map((run, i) => {
          const x = SIDE + (((times[i] as number) - from) / (to - from)) * (100 - 2 * SIDE);
          return (
            <svg
              key={run.jobId}
              class={`status-${run.status}`}
              {...inkOf(run)}
              x={`${x.toFixed(2)}%`}
              y={y(run.durationMs)}
              overflow="visible"
            >
              <title>{titleOf(run)}</title>
              {run.status === "failed" ? <path d={cross(0, 0, 5)} /> : <circle r={5} />}
            </svg>
          );
        })}
      </svg>
      <p class="line small muted" aria-hidden="true">
        <span>{clockTime(new Date(from).toISOString(), now)}</span>
        <span>now</span>
      </p>
    </figure>
  );
}
