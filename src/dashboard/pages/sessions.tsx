import type { Session } from "../../client/client.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { EmptyState } from "../components/notice.tsx";
import { WaitingEvents } from "../components/session/waitingEvents.tsx";
import { type Column, List } from "../components/tables/list.tsx";
import { When } from "../components/values/when.tsx";
import { agentHookCommand } from "../data/commands.ts";
import { useLiveList, useRows } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { address } from "../router.ts";
import { visible } from "../text.ts";

export function SessionsPage() {
  const list = useRows({ rows: "sessions", id: "sessionKey", time: "lastUsedAt" }, service.sessions.list);
  // The start or the end of a run changes its session's time of use, and with it the order of the list.
  useLiveList(list, { topics: ["runs"] }, { run: list.reloadSoon });
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
        columns={COLUMNS}
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

const COLUMNS: readonly Column<Session>[] = [
  {
    title: "Session",
    name: "name",
    width: "minmax(0, 1fr)",
    cell: ({ sessionKey, agentId }) => (
      <>
        <a href={address("/sessions/:sessionKey", sessionKey)} dir="auto">
          {visible(sessionKey)}
        </a>
        {agentId && <span class="muted"> {agentId}</span>}
      </>
    ),
  },
  {
    title: "State",
    name: "status",
    width: "90px",
    cell: ({ busy }) => (busy ? <span class="status status-running">Busy</span> : <span class="muted">Idle</span>),
  },
  { title: "Last used", name: "age", width: "110px", cell: ({ lastUsedAt }) => <When time={lastUsedAt} /> },
];
