import { useEffect, useMemo } from "preact/hooks";
import type { RunStatus, RunSummary } from "../../client/client.ts";
import { now } from "../clock.ts";
import { EmptyState } from "../components/emptyState.tsx";
import { List } from "../components/list.tsx";
import { Notice } from "../components/notice.tsx";
import { StatusMark } from "../components/status.tsx";
import { When } from "../components/when.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { followLive } from "../data/live.ts";
import { LiveList } from "../data/liveList.ts";
import { service } from "../data/service.ts";
import { useThrottle } from "../data/useThrottle.ts";
import { address, type Place, withQuery } from "../router.ts";
import { duration } from "../time.ts";
import { useTitle } from "../title.ts";

const STATUSES = ["queued", "running", "completed", "failed", "dropped"] as const;

export function RunsPage({ place: { query } }: { place: Place }) {
  useTitle("Runs");
  const status = STATUSES.find((one) => one === query.get("status")) ?? null;
  const sessionKey = query.get("sessionKey");
  const list = useLiveRuns(status, sessionKey);
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
        <nav class="counts" aria-label="Runs by state">
          {[null, ...STATUSES].map((one) => (
            <a
              key={one}
              class="count"
              href={withQuery(query, { status: one })}
              aria-current={one === status ? "true" : undefined}
            >
              {one === null ? "All" : `${one.charAt(0).toUpperCase()}${one.slice(1)}`}
            </a>
          ))}
        </nav>
      </div>
      {sessionKey !== null && (
        <p class="filters">
          <a class="chip" href={withQuery(query, { sessionKey: null })} title="Remove this filter">
            session <bdi>{sessionKey}</bdi> ×
          </a>
        </p>
      )}
      <List
        list={list}
        idOf={(run) => run.runId}
        label="Runs, newest first"
        noun={["run", "runs"]}
        kind="runs"
        columns={["Run", "Result", "State", "Duration", "Age"]}
        cells={(run) => <RunCells run={run} />}
        empty={<NoRuns isFiltered={status !== null || sessionKey !== null} />}
      />
    </>
  );
}

/** A row of the list. Only a response has the reply; events lack it. */
type RunRow = RunSummary & { readonly reply?: string | null };

function RunCells({ run }: { run: RunRow }) {
  const { runId, name, kind, sessionKey, status, error, reply, createdAt, attempts } = run;
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={address("/runs/:runId", runId)} dir="auto">
          {name || (kind === "wake" ? "Wake" : "Hook")}
        </a>
        <bdi class="id">{sessionKey}</bdi>
      </span>
      <span role="cell" class="cell-message">
        <bdi>{error?.message ?? reply ?? ""}</bdi>
        {attempts > 1 && <span class="muted">attempt {attempts}</span>}
      </span>
      <span role="cell" class="cell-status">
        <StatusMark status={status} />
      </span>
      <span role="cell" class="cell-time">
        <RunDuration run={run} />
      </span>
      <span role="cell" class="cell-age">
        <When time={createdAt} />
      </span>
    </>
  );
}

function RunDuration({ run: { startedAt, endedAt } }: { run: RunSummary }) {
  const present = now.value;
  if (!startedAt) return <>–</>;
  return <>{duration((endedAt ? Date.parse(endedAt) : present) - Date.parse(startedAt))}</>;
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Notice title="No runs match">
        <a href={address("/runs")}>Show all runs</a>
      </Notice>
    );
  }
  return (
    <EmptyState
      title="No runs yet"
      command={agentHookCommand({ name: "First run" })}
      guide="tutorials/first-agent-hook"
    >
      This page shows each run that a hook starts, with its reply. Start the first one:
    </EmptyState>
  );
}

function useLiveRuns(status: RunStatus | null, sessionKey: string | null): LiveList<RunRow> {
  const list = useMemo(
    () =>
      new LiveList<RunRow>({
        idOf: (run) => run.runId,
        createdAt: (run) => run.createdAt,
        merge: (shown, newer) => ({ ...shown, ...newer }),
        load: async ({ limit, cursor, signal }) => {
          const query = {
            limit,
            cursor: cursor ?? undefined,
            ...(status && { status }),
            ...(sessionKey && { sessionKey }),
          };
          const { runs, nextCursor } = await service.runs.list(query, { signal });
          return { rows: runs.map(({ deliveries: _, ...run }) => run), nextCursor };
        },
      }),
    [status, sessionKey],
  );
  const reloadSoon = useThrottle(() => void list.reload());
  useEffect(() => {
    void list.reload();
    const stop = followLive(
      { topics: ["runs"] },
      {
        onStart: () => void list.reload(),
        run: (run) => {
          const matches = (!status || run.status === status) && (!sessionKey || run.sessionKey === sessionKey);
          if (matches) list.put(run);
          else list.remove(run.runId);
          if (matches && run.status === "completed") reloadSoon(); // Events lack the reply.
        },
      },
    );
    return () => {
      stop();
      list.close();
    };
  }, [list]);
  return list;
}
