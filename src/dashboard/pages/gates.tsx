import { useEffect } from "preact/hooks";
import type { Gate, GateStatus } from "../../client/client.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { resultOf } from "../components/gate/jobGates.tsx";
import { GuideLink, Notice } from "../components/notice.tsx";
import { Pills } from "../components/tables/filters.tsx";
import { type Column, List, RowName } from "../components/tables/list.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { openGates } from "../data/gate/openGates.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useLiveList, useRows } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { address, type Place } from "../router.ts";
import { plainText } from "../text.ts";

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
        columns={COLUMNS}
        empty={<NoGates status={status} />}
      />
    </>
  );
}

const COLUMNS: readonly Column<Gate>[] = [
  {
    title: "Question",
    name: "name",
    width: "minmax(0, 4fr)",
    cell: ({ jobId, jobName, key, title }) => (
      <RowName href={address("/jobs/:jobId", jobId)} name={title} id={jobName ?? jobId} idTitle={`${jobId} · ${key}`} />
    ),
  },
  { title: "Message", name: "message", width: "minmax(0, 5fr)", cell: (gate) => <Message gate={gate} /> },
  { title: "Status", name: "status", width: "112px", cell: ({ status }) => <StatusMark status={status} /> },
  { title: "Age", name: "age", width: "84px", cell: ({ createdAt }) => <When time={createdAt} /> },
];

function Message({ gate }: { gate: Gate }) {
  const facts = gate.message && plainText(gate.message);
  return (
    <>
      {facts && <bdi title={facts}>{facts}</bdi>}
      {gate.status !== "open" && <span class="muted">{resultOf(gate)}</span>}
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
  const list = useRows({ rows: "gates", id: "gateId", time: "createdAt", filter: { status } }, (page, options) =>
    service.gates.list({ status, ...page }, options),
  );
  useLiveList(
    list,
    { topics: ["jobs"] },
    {
      job: ({ waitingFor }) => {
        if (waitingFor?.length > 0) list.reloadSoon();
      },
    },
  );
  useEffect(() => {
    let known = openGates.peek();
    return openGates.subscribe((count) => {
      if (known !== null && count !== known) list.reloadSoon();
      known = count;
    });
  }, [list]);
  return list;
}
