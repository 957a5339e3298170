import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobSummary, Stats } from "../../client/client.ts";
import { now } from "../clock.ts";
import { EmptyState } from "../components/emptyState.tsx";
import { List } from "../components/list.tsx";
import { Notice } from "../components/notice.tsx";
import { ProgressBar } from "../components/progress.tsx";
import { StatusMark } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { createJobCommand } from "../data/commands.ts";
import { isStale, jobList, titleOf } from "../data/jobRows.ts";
import { isFiltered, SPANS, searchText, spanStart, toFilter, withSearch } from "../data/jobSearch.ts";
import { followLive, liveState } from "../data/live.ts";
import type { LiveList } from "../data/liveList.ts";
import { service } from "../data/service.ts";
import { useThrottle } from "../data/useThrottle.ts";
import { address, place as here, navigate, type Place, withQuery } from "../router.ts";
import { count } from "../time.ts";
import { useTitle } from "../title.ts";

/** The last shown list, so that going back to it shows the same rows. */
let lastList: { readonly key: string; readonly list: LiveList<JobSummary> } | undefined;

/** Interval of checks for changes without an event: jobs that become stale or too old for the filter. */
const CLOCK_EVERY_MS = 10_000;

export function JobsPage({ place: { query } }: { place: Place }) {
  useTitle("Jobs");
  const { list, stats } = useLiveJobs(query);
  return (
    <>
      <div class="page-head">
        <h1>Jobs</h1>
        <Counts stats={stats} query={query} />
      </div>
      <Filters query={query} />
      <List
        list={list}
        idOf={(job) => job.jobId}
        label="Jobs, newest first"
        noun={["job", "jobs"]}
        kind="jobs"
        columns={["Job", "Message", "Progress", "State", "Age"]}
        cells={(job) => <JobCells job={job} />}
        empty={<NoJobs query={query} />}
      />
    </>
  );
}

function JobCells({ job }: { job: JobSummary }) {
  const { jobId, message, status, progress, currentStep, createdAt } = job;
  const title = titleOf(job);
  const stale = isStale(job, now.value);
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={address("/jobs/:jobId", jobId)} dir="auto">
          {title}
        </a>
        {title !== jobId && <bdi class="id">{jobId}</bdi>}
      </span>
      <span role="cell" class="cell-message">
        <bdi>{message ?? ""}</bdi>
        {currentStep && status === "running" && (
          <span class="muted">
            <bdi>{currentStep.stepName}</bdi>
            {currentStep.attempts > 1 && `, attempt ${currentStep.attempts}`}
          </span>
        )}
      </span>
      <span role="cell" class="cell-progress">
        <ProgressBar value={progress} status={status} stale={stale} label={`Progress of ${title}`} />
      </span>
      <span role="cell" class="cell-status">
        <StatusMark status={status} stale={stale} />
      </span>
      <span role="cell" class="cell-age">
        <When time={createdAt} />
      </span>
    </>
  );
}

const COUNTS = [
  ["All", "total", {}],
  ["Running", "running", { status: "running" }],
  ["Stale", "stale", { stale: "true" }],
  ["Completed", "completed", { status: "completed" }],
  ["Failed", "failed", { status: "failed" }],
] as const;

function Counts({ stats, query }: { stats: Stats | null; query: URLSearchParams }) {
  return (
    <nav class="counts" aria-label="Jobs by state">
      <SpokenCounts stats={stats} />
      {COUNTS.map(([title, key, wanted]) => {
        const href = withQuery(query, { status: null, stale: null, ...wanted });
        const isHere = withQuery(query, {}) === href && query.getAll("status").length < 2;
        return (
          <a key={key} href={href} class={`count count-${key}`} aria-current={isHere ? "true" : undefined}>
            {title} <b class={stats?.jobs[key] ? "some" : undefined}>{stats ? count(stats.jobs[key]) : "–"}</b>
          </a>
        );
      })}
    </nav>
  );
}

const ANNOUNCE_EVERY_MS = 30_000;

/** The counts for screen readers, announced at a limited rate. */
function SpokenCounts({ stats }: { stats: Stats | null }) {
  const [announced, setAnnounced] = useState(stats);
  const announce = useThrottle(() => setAnnounced(stats), ANNOUNCE_EVERY_MS);
  useEffect(() => {
    if (stats) announce();
  }, [stats]);
  return (
    <span class="unseen" role="status">
      {announced && spoken(announced.jobs)}
    </span>
  );
}

const spoken = ({ total, running, stale, failed }: Stats["jobs"]): string =>
  `${count(total)} jobs: ${count(running)} running, ${count(stale)} stale, ${count(failed)} failed`;

const DEBOUNCE_MS = 250;

function Filters({ query }: { query: URLSearchParams }) {
  const fromAddress = searchText(query);
  const [text, setText] = useState(fromAddress);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const written = useRef(fromAddress); // The address that this field's own search produced.
  const search = (wanted: string) => {
    clearTimeout(timer.current);
    const to = withSearch(here.value.query, wanted);
    written.current = searchText(to);
    navigate(address("/") + (to.size > 0 ? `?${to}` : ""), { replace: true });
  };
  useEffect(() => {
    if (fromAddress === written.current) return; // The user may still be typing.
    clearTimeout(timer.current);
    written.current = fromAddress;
    setText(fromAddress);
  }, [fromAddress]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const times = ["createdFrom", "createdBefore", "updatedFrom", "updatedBefore"].filter((name) => query.has(name));
  return (
    <search class="filters">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search(text);
        }}
      >
        <input
          type="search"
          value={text}
          placeholder="Start of a name, id:… or team=sales"
          aria-label="Search jobs: start of a name, id:… for the start of an id, key=value for metadata"
          onInput={({ currentTarget: { value } }) => {
            setText(value);
            clearTimeout(timer.current);
            timer.current = setTimeout(() => search(value), DEBOUNCE_MS);
          }}
        />
      </form>
      <select
        aria-label="Created"
        value={query.get("created") ?? ""}
        onChange={({ currentTarget: { value } }) => navigate(withQuery(query, { created: value || null }))}
      >
        <option value="">Any time</option>
        {Object.entries(SPANS).map(([key, { title }]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
      {times.map((name) => (
        <a key={name} class="chip" href={withQuery(query, { [name]: null })} title="Remove this filter">
          {name} {query.get(name)} ×
        </a>
      ))}
    </search>
  );
}

function NoJobs({ query }: { query: URLSearchParams }) {
  if (isFiltered(query)) {
    return (
      <Notice title="No jobs match">
        Search looks at the start of the name. Use <code>id:</code> for the start of an id and <code>key=value</code>{" "}
        for metadata. <a href={address("/")}>Show all jobs</a>
      </Notice>
    );
  }
  return (
    <EmptyState title="No jobs yet" command={createJobCommand()} guide="tutorials/first-job">
      This page shows each job as it progresses. Create the first one:
    </EmptyState>
  );
}

function useLiveJobs(query: URLSearchParams): { list: LiveList<JobSummary>; stats: Stats | null } {
  const key = query.toString();
  const filter = useMemo(() => toFilter(query, now.peek()), [key]);
  const list = useMemo(() => {
    if (lastList?.key !== key) lastList = { key, list: jobList(() => toFilter(query, now.peek())) };
    return lastList.list;
  }, [key]);
  const { stats, reloadSoon } = useStats();
  useEffect(() => {
    void list.reload();
    const stop = followLive(
      { topics: ["jobs"], filter },
      {
        onStart: () => {
          void list.reload();
          reloadSoon();
        },
        job: (job) => {
          list.put(job);
          reloadSoon();
        },
        job_removed: ({ jobId }) => {
          list.remove(jobId);
          reloadSoon();
        },
      },
    );
    let turn = Math.floor(now.value / CLOCK_EVERY_MS);
    const stopClock = now.subscribe((time) => {
      const present = Math.floor(time / CLOCK_EVERY_MS);
      if (present === turn || liveState.value !== "live") return;
      turn = present;
      reloadSoon();
      const start = spanStart(query, time);
      if (start) list.dropBefore(start);
      if (filter.stale !== undefined) void list.reload();
    });
    return () => {
      stopClock();
      stop();
      list.close();
    };
  }, [list]);
  return { list, stats };
}

/** Returns the counts of all jobs and a throttled function that reloads them. */
function useStats(): { stats: Stats | null; reloadSoon: () => void } {
  const [stats, setStats] = useState<Stats | null>(null);
  const reloadSoon = useThrottle(() => {
    service.stats().then(setStats, () => {
      // The list shows the error; the next change loads the counts.
    });
  });
  useEffect(reloadSoon, []);
  return { stats, reloadSoon };
}
