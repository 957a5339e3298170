import type { Figures, HistorySpan, JobHistory } from "../../wire/stats.ts";
import { Failure } from "../components/notice.tsx";
import { Pills } from "../components/tables/pills.tsx";
import { type Bar, Chart } from "../components/values/chart.tsx";
import { durationAxisEnd, periodStart, sumOf } from "../data/chart.ts";
import { useReloadEvery } from "../data/live/reloadEvery.ts";
import { jobHistory } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place, withQuery } from "../router.ts";
import { visible } from "../text.ts";
import { count, duration } from "../time.ts";
import { useTitle } from "../title.ts";

const SPANS: Readonly<Record<HistorySpan, string>> = { hour: "Hour", day: "Day", week: "Week" };
const RELOAD_EVERY_MS = 15_000;

/** Charts of the jobs that started and ended, and of their durations. */
export function HistoryPage({ place: { query } }: { place: Place }) {
  useTitle("History");
  const span = (Object.keys(SPANS) as HistorySpan[]).find((one) => one === query.get("span")) ?? "day";
  const name = query.get("name") ?? "";
  const { value, error, reload } = useQuery(
    (signal) => jobHistory({ span, ...(name !== "" && { name }) }, signal),
    `${span} ${name}`,
  );
  useReloadEvery(reload, RELOAD_EVERY_MS);
  return (
    <>
      <div class="page-head">
        <h1>History</h1>
        <Pills label="Span of time" query={query} parameter="span" choices={Object.entries(SPANS)} current={span} />
      </div>
      {name !== "" && (
        <p class="section-note">
          Jobs named <b dir="auto">{name}</b>. <a href={withQuery(query, { name: null })}>Show all jobs</a>
        </p>
      )}
      {error !== null && <Failure error={error} retry={reload} />}
      {value && <Charts history={value} />}
      {value && <Names history={value} query={query} />}
    </>
  );
}

function Charts({ history: { span, periods } }: { history: JobHistory }) {
  const [started, completed, failed] = (["started", "completed", "failed"] as const).map((field) =>
    sumOf(periods, field),
  ) as [number, number, number];
  const labelOf = (start: string) => periodStart(span, start);
  const jobs = periods.map((period): Bar => {
    const label = labelOf(period.start);
    return {
      key: period.start,
      label,
      mark: period.started,
      title: `${label}: ${inWords(period)}`,
      parts: [
        { kind: "completed", value: period.completed },
        { kind: "failed", value: period.failed },
      ],
    };
  });
  const durations = periods.map(({ start, p50Seconds, p95Seconds }): Bar => {
    const label = labelOf(start);
    const text = p50Seconds === null ? "no job ended" : `p50 ${time(p50Seconds)}, p95 ${time(p95Seconds)}`;
    const parts = [{ kind: "running" as const, value: p50Seconds ?? 0 }];
    return { key: start, label, parts, mark: p95Seconds, title: `${label}: ${text}` };
  });
  return (
    <div class="charts">
      <Chart title="Jobs" summary={inWords({ started, completed, failed })} bars={jobs} format={count}>
        <Key kind="completed" /> completed <Key kind="failed" /> failed <Key kind="mark" /> started
      </Chart>
      <Chart
        title="Duration"
        summary="Durations of the jobs that ended, by period. The table below has them by name."
        bars={durations}
        format={time}
        endOf={durationAxisEnd}
      >
        <Key kind="running" /> p50 <Key kind="mark" /> p95
      </Chart>
    </div>
  );
}

const Key = ({ kind }: { kind: string }) => <i class={`chart-key chart-${kind}`} aria-hidden="true" />;

const inWords = ({ started, completed, failed }: Pick<Figures, "started" | "completed" | "failed">): string =>
  `${count(started)} started, ${count(completed)} completed, ${count(failed)} failed`;

const time = (seconds: number | null): string => (seconds === null ? "–" : duration(seconds * 1_000));

function Names({ history: { names }, query }: { history: JobHistory; query: URLSearchParams }) {
  if (names.length === 0) return <p class="muted section">No job with a name started or ended in this time.</p>;
  return (
    <div class="card section scroll-x" tabIndex={0} role="region" aria-label="Jobs by name">
      <table class="names">
        <thead>
          <tr>
            {["Name", "Started", "Completed", "Failed", "p50", "p95"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map(({ name, started, completed, failed, p50Seconds, p95Seconds }) => (
            <tr key={name}>
              <th scope="row">
                <a href={withQuery(query, { name })} dir="auto" title={visible(name)}>
                  {visible(name)}
                </a>
              </th>
              <td>{count(started)}</td>
              <td>{count(completed)}</td>
              <td class={failed > 0 ? "fault" : undefined}>
                {failed > 0 ? (
                  <a href={`${address("/")}?${new URLSearchParams({ name, status: "failed" })}`}>{count(failed)}</a>
                ) : (
                  0
                )}
              </td>
              <td>{time(p50Seconds)}</td>
              <td>{time(p95Seconds)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
