import type { Session } from "../../client/client.ts";
import { EmptyState } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { WaitingEvents } from "../components/session/waitingEvents.tsx";
import { AgeCell } from "../components/tables/cells.tsx";
import { List } from "../components/tables/list.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { service } from "../data/service.ts";
import { address } from "../router.ts";
import { visible } from "../text.ts";

export function SessionsPage() {
  const list = useRows<Session>({ id: "sessionKey", time: "lastUsedAt" }, async (page, options) => {
    const { sessions, nextCursor } = await service.sessions.list(page, options);
    return { rows: sessions, nextCursor };
  });
  const reloadSoon = useThrottle(() => void list.reload());
  // The start or the end of a run changes its session's time of use, and with it the order of the list.
  useLiveList(list, { topics: ["runs"] }, { run: reloadSoon });
  return (
    <>
      <PageHead title="Sessions">
        <a class="button" href={address("/sessions/:sessionKey", "main")}>
          Main session
        </a>
      </PageHead>
      <WaitingEvents />
      <List
        list={list}
        label="Sessions, most recently used first"
        noun={["session", "sessions"]}
        kind="sessions"
        columns={["Session", "State", "Last used"]}
        widths="minmax(0, 1fr) 90px 110px"
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
