import type { NameHistory } from "../../wire/history.ts";
import { now } from "../clock.ts";
import { Crumbs, PageHead } from "../components/frame/pageHead.tsx";
import { Dots, Ticks } from "../components/history/runs.tsx";
import { Icon } from "../components/icon.tsx";
import { JobLink } from "../components/job/links.tsx";
import { Failure } from "../components/notice.tsx";
import { Pills } from "../components/tables/filters.tsx";
import { PlainTable } from "../components/tables/plainTable.tsx";
import { Facts } from "../components/values/facts.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { trendOf } from "../data/history.ts";
import { useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place, withQuery } from "../router.ts";
import { shownText, visible } from "../text.ts";
import { duration } from "../time.ts";

const WINDOWS = { "1d": "Day", "7d": "Week", "30d": "Month" } as const;
/** Seconds that the example's jobs took, newest first; a negative number is of a failed one. */
const EXAMPLE_SECONDS = [64, 61, 66, 58, -22, 60, 59, 63, 55, 57, 54, 56, -12, 53, 50, 52, 49, 51, 47, 48];

/** An example of a row, which the page shows while it has no names. */
const EXAMPLE: readonly NameHistory[] = [
  {
    name: "Nightly import",
    runs: EXAMPLE_SECONDS.map((seconds, at) => ({
      jobId: String(at),
      status: seconds < 0 ? "failed" : "completed",
      durationMs: Math.abs(seconds) * 1_000,
      startedAt: new Date(0).toISOString(),
    })),
    usual: { count: 18, p50Ms: 56_000, p95Ms: 66_000 },
    lastFailure: null,
    nextDueAt: null,
  },
];

/** The newest jobs of each name, or of the name that the address has. */
export function HistoryPage({ place: { query } }: { place: Place }) {
  const window = (Object.keys(WINDOWS) as (keyof typeof WINDOWS)[]).find((one) => one === query.get("window")) ?? "7d";
  const [name, cursor] = [query.get("name"), query.get("cursor")];
  const asked = { window, ...(name !== null && { name }), ...(cursor !== null && { cursor }) };
  const { value, error, reload } = useQuery((signal) => service.history(asked, { signal }), JSON.stringify(asked));
  useReloadEvery(reload);
  const one = name === null ? undefined : value?.names[0];
  const withoutPage = new URLSearchParams([...query].filter(([key]) => key !== "cursor"));
  return (
    <>
      {name !== null && <Crumbs href={withQuery(query, { name: null })}>History</Crumbs>}
      <PageHead title={name === null ? "History" : visible(name)}>
        <Pills
          label="Window of time"
          query={withoutPage}
          parameter="window"
          choices={Object.entries(WINDOWS)}
          current={window}
        />
      </PageHead>
      {error !== null && <Failure error={error} retry={reload} />}
      {value?.names.length === 0 && (
        <>
          <p class="muted section">
            No job with a name was created in this time. Each name has a row here, with its last 20 jobs, their usual
            duration and the last failure, such as:
          </p>
          <div class="example" inert aria-hidden="true">
            <Names names={EXAMPLE} query={withoutPage} />
          </div>
        </>
      )}
      {value && name === null && <Names names={value.names} query={withoutPage} />}
      {one && <Runs {...one} />}
      {value && (cursor !== null || value.nextCursor !== null) && (
        <p class="line">
          {cursor !== null && <a href={withQuery(query, { cursor: null })}>First names</a>}
          {value.nextCursor !== null && <a href={withQuery(query, { cursor: value.nextCursor })}>More names</a>}
        </p>
      )}
    </>
  );
}

function Names({ names, query }: { names: readonly NameHistory[]; query: URLSearchParams }) {
  return (
    <ul class="stack" aria-label="Jobs by name, newest first">
      {names.map((one) => (
        <li key={one.name} class="card stack history-name">
          <h2 class="cut">
            <a href={withQuery(query, { name: one.name })} dir="auto" title={visible(one.name)}>
              {visible(one.name)}
            </a>
          </h2>
          <Ticks runs={one.runs} />
          <Figures {...one} />
          <LastFailure {...one} />
        </li>
      ))}
    </ul>
  );
}

/** The usual duration of a name, its trend, and when the next job is due. */
function Figures({ runs, usual, nextDueAt }: NameHistory) {
  const isLate = nextDueAt !== null && Date.parse(nextDueAt) < now.value;
  return (
    <Facts
      facts={[
        ["Usually", usual && duration(usual.p50Ms)],
        ["Trend", trendOf(runs)],
        [isLate ? "Was due" : "Next due", nextDueAt && <When time={nextDueAt} />],
      ]}
    />
  );
}

function LastFailure({ lastFailure }: Pick<NameHistory, "lastFailure">) {
  if (!lastFailure) return null;
  return (
    <p class="whole cut muted">
      <a class="fault" href={address("/jobs/:jobId", lastFailure.jobId)}>
        <Icon name="failed" /> Failed
      </a>{" "}
      <When time={lastFailure.at} />
      {lastFailure.message && (
        <>
          : <bdi title={shownText(lastFailure.message)}>{shownText(lastFailure.message)}</bdi>
        </>
      )}
    </p>
  );
}

/** The jobs of one name, as dots over time and as a list. */
function Runs(one: NameHistory) {
  return (
    <>
      <section class="card" aria-label="Durations">
        <Dots runs={one.runs} usual={one.usual} now={now.value} />
        <Figures {...one} />
        <LastFailure {...one} />
      </section>
      <section class="card scroll-x" tabIndex={0} aria-label="Jobs, newest first">
        <PlainTable
          rows={one.runs}
          idOf={({ jobId }) => jobId}
          columns={[
            ["Job", ({ jobId }) => <JobLink jobId={jobId} />],
            ["State", ({ status }) => <StatusMark status={status} />],
            ["Duration", ({ durationMs }) => duration(durationMs)],
            ["Started", ({ startedAt }) => <When time={startedAt} />],
          ]}
        />
      </section>
    </>
  );
}
