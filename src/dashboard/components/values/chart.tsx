import type { ComponentChildren } from "preact";
import { axisEnd } from "../../data/chart.ts";

/** One bar of a chart: its parts from the bottom, and a mark above or across them. */
export interface Bar {
  readonly key: string;
  /** Text below the axis; shown for some bars only. */
  readonly label: string;
  /** All figures of the bar in words, shown while the pointer is over it. */
  readonly title: string;
  readonly parts: readonly { readonly kind: "completed" | "failed" | "running"; readonly value: number }[];
  /** Value of the mark; null for no mark. */
  readonly mark: number | null;
}

interface ChartProps {
  readonly title: string;
  /** The figures of the chart in words, for people who do not see it. */
  readonly summary: string;
  readonly bars: readonly Bar[];
  readonly format: (value: number) => string;
  /** Returns the end of the axis for the highest value. */
  readonly endOf?: (max: number) => number;
  /** The legend. */
  readonly children: ComponentChildren;
}

const [WIDTH, HEIGHT] = [720, 160];
/** Share of a bar's room that is left empty. */
const GAP = 0.25;
/** Maximum labels below the axis. */
const MAX_LABELS = 6;

/** Bars over time, scaled to the highest one. */
export function Chart({ title, summary, bars, format, endOf = axisEnd, children }: ChartProps) {
  const heightOf = ({ parts, mark }: Bar) =>
    Math.max(
      mark ?? 0,
      parts.reduce((sum, { value }) => sum + value, 0),
    );
  const end = endOf(Math.max(0, ...bars.map(heightOf)));
  const y = (value: number) => HEIGHT - (value / end) * HEIGHT;
  const room = WIDTH / Math.max(1, bars.length);
  const every = Math.ceil(bars.length / MAX_LABELS);
  return (
    <figure class="card chart">
      <figcaption>
        <h2>{title}</h2>
        <span class="legend">{children}</span>
      </figcaption>
      <div class="chart-axis" aria-hidden="true">
        <span>{format(end)}</span>
        <span>0</span>
      </div>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={summary}>
        {bars.map(({ key, title, parts, mark }, i) => {
          const [x, width] = [room * (i + GAP / 2), room * (1 - GAP)];
          let top = 0;
          return (
            <g key={key}>
              <title>{title}</title>
              <rect x={room * i} y={0} width={room} height={HEIGHT} class="chart-room" />
              {parts.map(({ kind, value }) => {
                top += value;
                return (
                  <rect
                    key={kind}
                    class={`chart-${kind}`}
                    {...{ x, width }}
                    y={y(top)}
                    height={(value / end) * HEIGHT}
                  />
                );
              })}
              {mark !== null && mark > 0 && <rect class="chart-mark" x={x} y={y(mark)} width={width} height={2} />}
            </g>
          );
        })}
      </svg>
      <div class="chart-labels" aria-hidden="true">
        {bars.map(({ key, label }, i) => (
          <span key={key}>{i % every === 0 ? label : ""}</span>
        ))}
      </div>
    </figure>
  );
}
