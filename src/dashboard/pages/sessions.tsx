import { useMemo } from "preact/hooks";
import type { Session } from "../../client/client.ts";
import { EmptyState } from "../components/emptyState.tsx";
import { WaitingEvents } from "../components/session/waitingEvents.tsx";
import { AgeCell } from "../components/tables/cells.tsx";
import { List } from "../components/tables/list.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { LiveList } from "../data/live/liveList.ts";
import { useLiveList } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { service } from "../data/service.ts";
import { address } from "../router.ts";
import { visible } from "../text.ts";
import { useTitle } from "../title.ts";

export function SessionsPage() {
  useTitle("Sessions");
  const list = useMemo(
    () =>
      new LiveList<Session>({
        idOf: (session) => session.sessionKey,
        createdAt: (session) => session.lastUsedAt,
        load: async (page, options) => {
          const { sessions, nextCursor } = await service.sessions.list(page, options);
          return { rows: sessions, nextCursor };
        },
      }),
    [],
  );
  const reloadSoon = useThrottle(() => void list.reload());
  // The start or the end of a run changes its session's time of use, and with it the order of the list.
  useLiveList(list, { topics: ["runs"] }, { run: reloadSoon });
  return (
    <>
      <div class="page-head line">
        <h1>Sessions</h1>
        <a class="button" href={address("/sessions/:sessionKey", "main")}>
          Main session
        </a>
      </div>
      <WaitingEvents />
      <List
        list={list}
        label="Sessions, most recently used first"
        noun={["session", "sessions"]}
        kind="sessions"
        columns={["Session", "State", "Last used"]}
        cells={({ sessionKey, agentId, busy, lastUsedAt }) => (
          <>
            <span role="cell" class="cell-name">
              <a href={address("/sessions/:sessionKey", sessionKey)} dir="auto">
                {visible(sessionKey)}
              </a>
              {agentId && <span class="muted"> {agentId}</span>}
            </span>
            <span role="cell" class="cell-status">
              {busy ? <span class="status status-running">Busy</span> : <span class="muted">Idle</span>}
            </span>
            <AgeCell time={lastUsedAt} />
          </>
        )}
        empty={
          <EmptyState
            title="No sessions yet"
            command={agentHookCommand({ sessionKey: "hook:greetings" })}
            guide="tutorials/first-agent-hook"
          >
            This page shows the conversations of agents. Hooks with the same <code>sessionKey</code> continue one
            conversation. Start the first one:
          </EmptyState>
        }
      />
    </>
  );
}
