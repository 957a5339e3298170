import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Run, RunSummary } from "../../client/client.ts";
import type { RunStats } from "../../wire/runs/run.ts";
import { now } from "../clock.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { GuideLink, Notice } from "../components/notice.tsx";
import { Checklist } from "../components/onboarding/checklist.tsx";
import { TestHook } from "../components/onboarding/firstRecords.tsx";
import { FilterChips, Pills, SpanFilter, stateChoices, TextFilter } from "../components/tables/filters.tsx";
import { type Column, List, RowName } from "../components/tables/list.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { access } from "../data/access.ts";
import { hooksUrl } from "../data/commands.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useRows } from "../data/live/useLive.ts";
import { firstRun } from "../data/onboarding/firstRun.ts";
import { HOOKS_TOKEN } from "../data/onboarding/steps.ts";
import { matchesRun, RUN_STATUSES, runFilter } from "../data/run/runFilter.ts";
import { runsAhead } from "../data/run/runsAhead.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place, withQuery } from "../router.ts";
import { firstWords, visible } from "../text.ts";
import { duration } from "../time.ts";
import { allTokens, describeUsage } from "../usage.ts";

export function RunsPage({ place: { query } }: { place: Place }) {
  const { list, stats } = useLiveRuns(query);
  // Computed only if a queued run is shown, and without rendering the whole page for each event.
  const ahead = useMemo(() => computed(() => runsAhead(list.view.value.rows)), [list]);
  return (
    <>
      <PageHead title="Runs">
        <Pills
          label="Runs by state"
          query={query}
          parameter="status"
          choices={stateChoices(RUN_STATUSES)}
          counts={stats?.runs ?? null}
          isCapped={stats?.capped}
        />
      </PageHead>
      <RunFilters query={query} />
      <List
        list={list}
        label="Runs, newest first"
        noun={["run", "runs"]}
        kind="runs"
        columns={columnsOf(ahead, query)}
        isFiltered={Object.keys(runFilter(query, 0)).length > 0}
        empty={<NoRuns />}
      />
    </>
  );
}

/** A row of the list. Only a response has the reply and the usage; events lack them. */
type RunRow = RunSummary & Partial<Pick<Run, "reply" | "usage">>;

const withReply = (shown: RunRow, newer: RunRow): RunRow => ({ ...shown, ...newer });

const titleOf = ({ name, kind }: RunRow): string => name || (kind === "wake" ? "Wake" : "Hook");

/** The key of a session that one run has for itself. */
const OF_ITS_OWN = /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @param ahead the runs that queued ones wait behind, as far as they are in the list */
const columnsOf = (
  ahead: ReadonlySignal<ReadonlyMap<string, RunRow>>,
  query: URLSearchParams,
): readonly Column<RunRow>[] => [
  { title: "Run", name: "name", width: "minmax(0, 4fr)", cell: (run) => <RunName run={run} /> },
  {
    title: "Result",
    name: "message",
    width: "minmax(0, 5fr)",
    cell: (run) => <Result run={run} ahead={ahead} query={query} />,
  },
  { title: "State", name: "status", width: "104px", cell: ({ status }) => <StatusMark status={status} /> },
  { title: "Tokens", name: "usage", width: "68px", cell: ({ usage = null }) => <Tokens usage={usage} /> },
  { title: "Duration", name: "time", width: "84px", cell: (run) => <RunDuration run={run} /> },
  { title: "Age", name: "age", width: "84px", cell: ({ createdAt }) => <When time={createdAt} /> },
];

function RunName({ run }: { run: RunRow }) {
  const { runId, sessionKey } = run;
  const id = sessionKey !== null && !OF_ITS_OWN.test(sessionKey) ? sessionKey : null;
  return <RowName href={address("/runs/:runId", runId)} name={titleOf(run)} id={id} />;
}

interface ResultProps {
  readonly run: RunRow;
  readonly ahead: ReadonlySignal<ReadonlyMap<string, RunRow>>;
  readonly query: URLSearchParams;
}

function Result({ run, ahead, query }: ResultProps) {
  const { runId, mapping, agentId, status, error, reply, attempts } = run;
  const result = error ? visible(error.message) : firstWords(reply ?? "");
  return (
    <>
      {status === "queued" && !error ? <Waiting ahead={ahead.value.get(runId)} /> : <bdi title={result}>{result}</bdi>}
      {attempts > 1 && <span class="muted">attempt {attempts}</span>}
      {agentId && <span class="muted">{visible(agentId)}</span>}
      {mapping && (
        <a class="chip" href={withQuery(query, { mapping })} title="Show only runs of this hook">
          {mapping}
        </a>
      )}
    </>
  );
}

function Tokens({ usage }: Pick<Run, "usage">) {
  if (!usage) return <span class="none">–</span>;
  return (
    <span title={describeUsage(usage)}>
      {allTokens(usage)}
      <span class="unit"> tokens</span>
    </span>
  );
}

/** Shows what a queued run waits for. The page of the run has the details. */
function Waiting({ ahead }: { ahead: RunRow | undefined }) {
  if (!ahead) return <span class="muted">Waits for its session or a worker</span>;
  return (
    <span class="muted">
      Waits for{" "}
      <a class="above" href={address("/runs/:runId", ahead.runId)}>
        <bdi>{visible(titleOf(ahead))}</bdi>
      </a>
    </span>
  );
}

function RunDuration({ run: { startedAt, endedAt } }: { run: RunSummary }) {
  const present = now.value;
  if (!startedAt) return <span class="none">–</span>;
  return <>{duration((endedAt ? Date.parse(endedAt) : present) - Date.parse(startedAt))}</>;
}

function NoRuns() {
  if (!access.value?.hooksUrl) {
    return (
      <Notice title="No runs yet">
        This page shows each run that a hook starts. Hooks are off: set <code>hooks.enabled</code> and{" "}
        <code>hooks.token</code> in the configuration file. <GuideLink page="tutorials/first-agent-hook" />
      </Notice>
    );
  }
  return (
    <Checklist
      title="No runs yet"
      tutorials={firstRun(hooksUrl())}
      token={HOOKS_TOKEN}
      guide="tutorials/first-agent-hook"
    >
      <TestHook isPrimary />
      <p>This page shows each run that a hook starts, with its reply. Three steps lead to the first one:</p>
    </Checklist>
  );
}

function useLiveRuns(query: URLSearchParams): { list: LiveList<RunRow>; stats: RunStats | null } {
  const filterOf = () => runFilter(query, now.peek());
  const fields = { id: "runId", time: "createdAt", filter: [...query], merge: withReply } as const;
  const list = useRows<"runs", RunRow>({ rows: "runs", ...fields }, async (page, options) => {
    const { runs, nextCursor } = await service.runs.list({ ...page, ...filterOf() }, options);
    return { runs: runs.map(({ deliveries: _, ...run }) => run), nextCursor };
  });
  const withoutStatus = new URLSearchParams([...query].filter(([name]) => name !== "status"));
  const stats = useQuery(
    (signal) => service.runStats(runFilter(withoutStatus, now.peek()), { signal }),
    withoutStatus.toString(),
    {
      isLive: true,
    },
  );
  const onRun = (run: RunSummary) => {
    stats.reloadSoon();
    const filter = filterOf();
    if (filter.search) return list.reloadSoon(); // Only the service compares the words.
    const matches = matchesRun(run, filter);
    if (matches) list.put(run);
    else list.remove(run.runId);
    if (matches && run.endedAt !== null) list.reloadSoon(); // Events lack the reply and the usage.
  };
  useLiveList(list, { topics: ["runs"] }, { onStart: stats.reloadSoon, run: onRun });
  return { list, stats: stats.value };
}

/** The filters that are shown as chips, with their titles. */
const CHIPS = { search: "name", mapping: "hook", sessionKey: "session", createdFrom: "from", createdBefore: "before" };

/** The filters of the list of runs: words of the name, hook, session and time. */
function RunFilters({ query }: { query: URLSearchParams }) {
  return (
    <search class="filters line">
      <TextFilter query={query} name="search" title="Words of the name, or an id" />
      <TextFilter query={query} name="mapping" title="Hook: name of a mapping" suggest={mappingNames} />
      <TextFilter query={query} name="sessionKey" title="Session: its whole key" suggest={sessionKeys} />
      <SpanFilter query={query} title="Accepted" />
      <FilterChips query={query} titles={CHIPS} />
    </search>
  );
}

const mappingNames = async () => (await service.hookRequests.hooks()).hooks.flatMap(({ mappings }) => mappings);

const sessionKeys = async () =>
  (await service.sessions.list({ limit: 100 })).sessions.map(({ sessionKey }) => sessionKey);
