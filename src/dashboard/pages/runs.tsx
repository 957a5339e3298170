import { computed, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { Run, RunStatus, RunSummary } from "../../client/client.ts";
import type { RunStats } from "../../wire/runs/run.ts";
import { now } from "../clock.ts";
import { GuideLink } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { NoMatch, Notice } from "../components/notice.tsx";
import { Checklist } from "../components/onboarding/checklist.tsx";
import { TestHook } from "../components/onboarding/testHook.tsx";
import { RunFilters } from "../components/run/runFilters.tsx";
import { AgeCell, StatusCell } from "../components/tables/cells.tsx";
import { List } from "../components/tables/list.tsx";
import { Pills, stateChoices } from "../components/tables/pills.tsx";
import { access } from "../data/access.ts";
import { hooksUrl } from "../data/commands.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { firstRun } from "../data/onboarding/firstRun.ts";
import { HOOKS_TOKEN } from "../data/onboarding/steps.ts";
import { matchesRun, RUN_STATUSES, runConditions, statusOf } from "../data/run/runFilter.ts";
import { runsAhead } from "../data/run/runsAhead.ts";
import { runStats, service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { address, type Place, withQuery } from "../router.ts";
import { firstWords, visible } from "../text.ts";
import { count, duration } from "../time.ts";
import { allTokens, describeUsage } from "../usage.ts";

export function RunsPage({ place: { query } }: { place: Place }) {
  const status = statusOf(query);
  const { list, stats } = useLiveRuns(query);
  // Computed only if a queued run is shown, and without rendering the whole page for each event.
  const ahead = useMemo(() => computed(() => runsAhead(list.view.value.rows)), [list]);
  const isFiltered = status !== null || Object.keys(runConditions(query, 0)).length > 0;
  const countOf = (value: RunStatus | null) => count(stats?.runs[value ?? "total"] ?? 0) + (stats?.capped ? "+" : "");
  return (
    <>
      <PageHead title="Runs">
        <Pills
          label="Runs by state"
          query={query}
          parameter="status"
          choices={stateChoices(RUN_STATUSES)}
          countOf={(value) => (stats ? countOf(value as RunStatus | null) : "–")}
        />
      </PageHead>
      <RunFilters query={query} />
      <List
        list={list}
        label="Runs, newest first"
        noun={["run", "runs"]}
        kind="runs"
        columns={["Run", "Result", "State", "Tokens", "Duration", "Age"]}
        widths="minmax(0, 4fr) minmax(0, 5fr) 104px 68px 84px 84px"
        cells={(run) => <RunCells run={run} ahead={ahead} query={query} />}
        empty={<NoRuns isFiltered={isFiltered} />}
      />
    </>
  );
}

/** A row of the list. Only a response has the reply and the usage; events lack them. */
type RunRow = RunSummary & Partial<Pick<Run, "reply" | "usage">>;

const withReply = (shown: RunRow, newer: RunRow): RunRow => ({ ...shown, ...newer });

const titleOf = ({ name, kind }: RunRow): string => name || (kind === "wake" ? "Wake" : "Hook");

interface CellsProps {
  readonly run: RunRow;
  /** The runs that queued ones wait behind, as far as they are in the list. */
  readonly ahead: ReadonlySignal<ReadonlyMap<string, RunRow>>;
  readonly query: URLSearchParams;
}

/** The key of a session that one run has for itself. */
const OF_ITS_OWN = /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function RunCells({ run, ahead, query }: CellsProps) {
  const { runId, mapping, sessionKey, agentId, status, error, reply, usage, createdAt, attempts } = run;
  const title = visible(titleOf(run));
  const result = error ? visible(error.message) : firstWords(reply ?? "");
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={address("/runs/:runId", runId)} dir="auto" title={title}>
          {title}
        </a>
        {sessionKey !== null && !OF_ITS_OWN.test(sessionKey) && (
          <bdi class="id muted" title={sessionKey}>
            {visible(sessionKey)}
          </bdi>
        )}
      </span>
      <span role="cell" class="cell-message">
        {status === "queued" && !error ? (
          <Waiting ahead={ahead.value.get(runId)} />
        ) : (
          <bdi title={result}>{result}</bdi>
        )}
        {attempts > 1 && <span class="muted">attempt {attempts}</span>}
        {agentId && <span class="muted">{visible(agentId)}</span>}
        {mapping && (
          <a class="chip" href={withQuery(query, { mapping })} title="Show only runs of this hook">
            {mapping}
          </a>
        )}
      </span>
      <StatusCell status={status} />
      <span role="cell" class="cell-usage" title={usage ? describeUsage(usage) : undefined}>
        {usage ? (
          <>
            {allTokens(usage)}
            <span class="unit"> tokens</span>
          </>
        ) : (
          <span class="none">–</span>
        )}
      </span>
      <span role="cell" class="cell-time">
        <RunDuration run={run} />
      </span>
      <AgeCell time={createdAt} />
    </>
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

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <NoMatch rows="runs" path="/runs" />;
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
  const status = statusOf(query);
  const conditions = () => runConditions(query, now.peek());
  const fields = { id: "runId", time: "createdAt", filters: [query.toString()], merge: withReply } as const;
  const list = useRows<RunRow>(fields, async (page, options) => {
    const filter = { ...(status && { status }), ...conditions() };
    const { runs, nextCursor } = await service.runs.list({ ...page, ...filter }, options);
    return { rows: runs.map(({ deliveries: _, ...run }) => run), nextCursor };
  });
  const withoutStatus = new URLSearchParams([...query].filter(([name]) => name !== "status"));
  const stats = useQuery((signal) => runStats(conditions(), signal), withoutStatus.toString(), { isLive: true });
  const countSoon = useThrottle(stats.reload);
  const reloadSoon = useThrottle(() => void list.reload());
  useLiveList(
    list,
    { topics: ["runs"] },
    {
      onStart: countSoon,
      run: (run) => {
        countSoon();
        if (conditions().search) return reloadSoon(); // Only the service compares the words.
        const matches = matchesRun(run, status, conditions());
        if (matches) list.put(run);
        else list.remove(run.runId);
        if (matches && run.endedAt !== null) reloadSoon(); // Events lack the reply and the usage.
      },
    },
  );
  return { list, stats: stats.value };
}
