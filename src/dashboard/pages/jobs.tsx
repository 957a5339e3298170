import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { jobCounts } from "../../client/calls/page.ts";
import type { JobFilter, Stats } from "../../client/client.ts";
import { now } from "../clock.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { JobCells, jobTitles, jobWidths } from "../components/job/jobCells.tsx";
import { JobCounts } from "../components/job/jobCounts.tsx";
import { JobErrors } from "../components/job/jobErrors.tsx";
import { JobFilters } from "../components/job/jobFilters.tsx";
import { JobSelectionBar } from "../components/job/jobSelectionBar.tsx";
import { JobViews } from "../components/job/jobViews.tsx";
import { Notice } from "../components/notice.tsx";
import { Checklist } from "../components/onboarding/checklist.tsx";
import { SampleJob } from "../components/onboarding/sampleJob.tsx";
import { TestHook } from "../components/onboarding/testHook.tsx";
import { List } from "../components/tables/list.tsx";
import { neededApiToken } from "../data/commands.ts";
import { takeFirst } from "../data/first.ts";
import { type JobRow, jobList, lacksMetadata, readMetadata } from "../data/job/jobRows.ts";
import { emptyTitle, isFiltered, spanStart, toFilter, withoutState } from "../data/job/jobSearch.ts";
import { shownList } from "../data/job/shownJobs.ts";
import { liveState } from "../data/live/live.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { firstJob } from "../data/onboarding/firstJob.ts";
import { service } from "../data/service.ts";
import { address, type Place } from "../router.ts";

const countJobs = jobCounts(service.call);

/** Interval of checks for changes without an event: jobs that become stale or too old for the filter. */
const CLOCK_EVERY_MS = 10_000;

export function JobsPage({ place: { query } }: { place: Place }) {
  const { list, stats } = useLiveJobs(query);
  return (
    <>
      <PageHead title="Jobs">
        <JobCounts stats={stats} query={query} />
      </PageHead>
      <JobFilters query={query} rows={() => list.view.peek().rows} />
      <JobViews query={query} />
      {query.getAll("status").join() === "failed" && <JobErrors query={query} />}
      <div style={jobWidths()}>
        <List
          list={list}
          label="Jobs, newest first"
          noun={["job", "jobs"]}
          kind="jobs"
          columns={jobTitles()}
          cells={(job) => <JobCells job={job} />}
          empty={<NoJobs query={query} />}
        />
      </div>
      <NewMetadata key={query.toString()} list={list} query={query} />
      <JobSelectionBar onGone={(jobId) => list.remove(jobId)} />
    </>
  );
}

/** Reads the metadata of rows that events have added; shows nothing. */
function NewMetadata({ list, query }: { list: LiveList<JobRow>; query: URLSearchParams }) {
  const { rows } = list.view.value;
  const readSoon = useThrottle(() => {
    readMetadata(list, toFilter(query, now.peek())).catch(() => {
      // The chips are missing until the next change; the list shows the error.
    });
  });
  const newest = rows.find(lacksMetadata)?.jobId;
  useEffect(() => {
    if (newest !== undefined) readSoon();
  }, [newest]);
  return null;
}

function NoJobs({ query }: { query: URLSearchParams }) {
  if (isFiltered(query)) {
    return (
      <Notice title={emptyTitle(query)}>
        Each word must begin a word of the name. Use <code>id:</code> for the start of an id, <code>key=value</code> for
        metadata and <code>status:failed</code> for a state. <a href={address("/")}>Show all jobs</a>
      </Notice>
    );
  }
  return (
    <Checklist
      title="No jobs yet"
      tutorials={firstJob(neededApiToken())}
      token={neededApiToken()}
      guide="tutorials/first-job"
      end={<TestHook />}
    >
      <p>This page shows each job as it progresses.</p>
      <SampleJob />
      <p>Three steps lead to one of your own, which appears here as soon as it exists:</p>
    </Checklist>
  );
}

function useLiveJobs(query: URLSearchParams): { list: LiveList<JobRow>; stats: Stats | null } {
  const key = query.toString();
  const filter = useMemo(() => toFilter(query, now.peek()), [key]);
  const list = useMemo(
    () => shownList(key, () => jobList(() => toFilter(query, now.peek()), key === "" ? takeFirst("jobs") : undefined)),
    [key],
  );
  const { stats, reloadSoon } = useStats(query);
  useLiveList(
    list,
    { topics: ["jobs"], filter },
    {
      onStart: reloadSoon,
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
  useEffect(() => {
    let turn = Math.floor(now.value / CLOCK_EVERY_MS);
    return now.subscribe((time) => {
      const present = Math.floor(time / CLOCK_EVERY_MS);
      if (present === turn || liveState.value !== "live") return;
      turn = present;
      reloadSoon();
      const start = spanStart(query, time);
      if (start) list.dropBefore(start);
      if (filter.stale !== undefined) void list.reload();
    });
  }, [list]);
  return { list, stats };
}

/** Returns the counts of the jobs that match the filters other than states, and a throttled function that loads them. */
function useStats(query: URLSearchParams): { stats: Stats | null; reloadSoon: () => void } {
  const [stats, setStats] = useState<Stats | null>(null);
  const latest = useRef(0);
  const filterOf = (): JobFilter => toFilter(withoutState(query), now.peek());
  const reloadSoon = useThrottle(() => {
    latest.current += 1;
    const request = latest.current;
    countJobs(filterOf()).then(
      (counted) => {
        if (request === latest.current) setStats(counted); // A slower response is about earlier filters.
      },
      () => {
        // The list shows the error; the next change loads the counts.
      },
    );
  });
  return { stats, reloadSoon };
}
