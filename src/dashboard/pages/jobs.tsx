import { useEffect, useMemo } from "preact/hooks";
import type { Stats } from "../../client/client.ts";
import { now } from "../clock.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { JobCounts } from "../components/job/jobCounts.tsx";
import { JobErrors } from "../components/job/jobErrors.tsx";
import { JobFilters } from "../components/job/jobFilters.tsx";
import { jobListColumns, jobWidths } from "../components/job/jobListColumns.tsx";
import { JobSelectionBar } from "../components/job/jobSelectionBar.tsx";
import { JobViews } from "../components/job/jobViews.tsx";
import { Notice } from "../components/notice.tsx";
import { Checklist } from "../components/onboarding/checklist.tsx";
import { SampleJob, TestHook } from "../components/onboarding/firstRecords.tsx";
import { List } from "../components/tables/list.tsx";
import { neededApiToken } from "../data/commands.ts";
import { takeFirst } from "../data/first.ts";
import { type JobRow, jobList, lacksMetadata, readMetadata } from "../data/job/jobRows.ts";
import { emptyTitle, isFiltered, spanStart, toFilter, withoutState } from "../data/job/jobSearch.ts";
import { shownList } from "../data/job/shownJobs.ts";
import { liveState } from "../data/live/live.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useThrottle } from "../data/live/useLive.ts";
import { firstJob } from "../data/onboarding/firstJob.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place } from "../router.ts";

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
          columns={jobListColumns()}
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
  const others = withoutState(query);
  const stats = useQuery((signal) => service.jobCounts(toFilter(others, now.peek()), { signal }), others.toString(), {
    isLive: true,
  });
  const { reloadSoon } = stats;
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
  return { list, stats: stats.value };
}
