import { useEffect } from "preact/hooks";
import type { Gate, GateStatus } from "../../client/client.ts";
import { GuideLink } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { resultOf } from "../components/gate/jobGates.tsx";
import { Notice } from "../components/notice.tsx";
import { AgeCell, StatusCell } from "../components/tables/cells.tsx";
import { List } from "../components/tables/list.tsx";
import { Pills } from "../components/tables/pills.tsx";
import { openGates } from "../data/gate/openGates.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { service } from "../data/service.ts";
import { address, type Place } from "../router.ts";
import { plainText, visible } from "../text.ts";

const STATUSES = [
  ["open", "Open"],
  ["answered", "Answered"],
  ["expired", "Expired"],
  ["withdrawn", "Withdrawn"],
] as const;

export function GatesPage({ place: { query } }: { place: Place }) {
  const [status] = STATUSES.find(([one]) => one === query.get("status")) ?? STATUSES[0];
  const list = useGates(status);
  return (
    <>
      <PageHead title="Questions">
        <Pills
          label="Questions by status"
          query={query}
          parameter="status"
          choices={STATUSES.map(([one, title]) => [one === "open" ? null : one, title] as const)}
        />
      </PageHead>
      <List
        list={list}
        label="Questions, newest first"
        noun={["question", "questions"]}
        kind="gates"
        columns={["Question", "Message", "Status", "Age"]}
        widths="minmax(0, 4fr) minmax(0, 5fr) 112px 84px"
        cells={(gate) => <GateCells gate={gate} />}
        empty={<NoGates status={status} />}
      />
    </>
  );
}

function GateCells({ gate }: { gate: Gate }) {
  const { jobId, jobName, key, title, message, status, createdAt } = gate;
  const facts = message && plainText(message);
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={address("/jobs/:jobId", jobId)}>
          <bdi title={visible(title)}>{visible(title)}</bdi>
        </a>
        <bdi class="id muted" title={`${jobId} · ${key}`}>
          {visible(jobName ?? jobId)}
        </bdi>
      </span>
      <span role="cell" class="cell-message">
        {facts && <bdi title={facts}>{facts}</bdi>}
        {status !== "open" && <span class="muted">{resultOf(gate)}</span>}
      </span>
      <StatusCell status={status} />
      <AgeCell time={createdAt} />
    </>
  );
}

function NoGates({ status }: { status: GateStatus }) {
  if (status !== "open") return <Notice title={`No ${status} questions`}>Jobs have asked nothing of this kind.</Notice>;
  return (
    <Notice title="No open questions">
      A job that needs a decision asks here, with <code>PUT /api/jobs/JOB_ID/gates/KEY</code>, and waits for the answer.{" "}
      <GuideLink page="how-to/ask-a-person" />
    </Notice>
  );
}

/** Returns the gates in a status, which are read again when a job begins or stops to wait. */
function useGates(status: GateStatus): LiveList<Gate> {
  const list = useRows<Gate>({ id: "gateId", time: "createdAt", filters: [status] }, async (page, options) => {
    const { gates, nextCursor } = await service.gates.list({ status, ...page }, options);
    return { rows: gates, nextCursor };
  });
  const reloadSoon = useThrottle(() => void list.reload());
  useLiveList(
    list,
    { topics: ["jobs"] },
    {
      job: ({ waitingFor }) => {
        if (waitingFor?.length > 0) reloadSoon();
      },
    },
  );
  useEffect(() => {
    let known = openGates.peek();
    return openGates.subscribe((count) => {
      if (known !== null && count !== known) reloadSoon();
      known = count;
    });
  }, [list]);
  return list;
}
