import { useState } from "preact/hooks";
import type { HookRequestRow } from "../../wire/hookRequest.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { GuideLink, Notice } from "../components/notice.tsx";
import { HookList } from "../components/request/hookList.tsx";
import { TryMapping } from "../components/request/tryMapping.tsx";
import { FilterChips, Pills, stateChoices } from "../components/tables/filters.tsx";
import { type Column, List, RowName } from "../components/tables/list.tsx";
import { StatusMark } from "../components/values/status.tsx";
import { When } from "../components/values/when.tsx";
import { access, hasScope } from "../data/access.ts";
import { givenFilters } from "../data/filter.ts";
import { useLiveList, useReloadEvery, useRows } from "../data/live/useLive.ts";
import { requestSummary } from "../data/requestSummary.ts";
import { service } from "../data/service.ts";
import { address, type Place } from "../router.ts";
import { visible } from "../text.ts";

const FILTERS = {
  outcome: ["accepted", "dropped", "failed", "filtered", "refused"],
  hook: null,
  mapping: null,
} as const;
const POLL_EVERY_MS = 5_000;

export function RequestsPage({ place: { query } }: { place: Place }) {
  const filter = givenFilters(query, FILTERS);
  const list = useRows({ rows: "requests", id: "requestId", time: "createdAt", filter }, (page, options) =>
    service.hookRequests.list({ ...page, ...filter }, options),
  );
  useLiveList(list, { topics: ["runs"] }, { run: list.reloadSoon }); // A run that starts or ends changes its request.
  useReloadEvery(list.reloadSoon, POLL_EVERY_MS); // No live events report requests without runs.
  const [isTrying, setTrying] = useState(false);
  return (
    <>
      <PageHead title="Hooks">
        <Pills label="Requests by outcome" query={query} parameter="outcome" choices={stateChoices(FILTERS.outcome)} />
        {hasScope(access.value, "runs:write") && (
          <button type="button" aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
            Try a mapping
          </button>
        )}
      </PageHead>
      <HookList current={filter.hook}>
        {isTrying && <TryMapping hook="" headers={{}} body="" />}
        <FilterChips query={query} titles={{ hook: "hook", mapping: "mapping" }} />
        <List
          list={list}
          label="Requests to hooks, newest first"
          noun={["request", "requests"]}
          kind="requests"
          columns={COLUMNS}
          isFiltered={Object.keys(filter).length > 0}
          empty={
            <Notice title="No requests yet">
              This page shows each request to a hook with its outcome. Set <code>hooks.keepRequests</code> in the
              configuration, for example to <code>7d</code>. <GuideLink page="how-to/see-why-a-webhook-did-nothing" />
            </Notice>
          }
        />
      </HookList>
    </>
  );
}

const COLUMNS: readonly Column<HookRequestRow>[] = [
  { title: "Event", name: "name", width: "minmax(0, 4fr)", cell: (request) => <Event {...request} /> },
  { title: "Result", name: "message", width: "minmax(0, 5fr)", cell: (request) => <Result request={request} /> },
  { title: "Outcome", name: "status", width: "110px", cell: ({ outcome }) => <StatusMark status={outcome} /> },
  { title: "Runs", name: "time", width: "84px", cell: (request) => <Started {...request} /> },
  { title: "Age", name: "age", width: "84px", cell: ({ createdAt }) => <When time={createdAt} /> },
];

function Event({ requestId, hook, mapping, event }: HookRequestRow) {
  const parts = [event === null ? null : hook, mapping === hook ? null : (mapping ?? "no mapping")];
  const id = parts.filter((one) => one !== null).join(" · ");
  return <RowName href={address("/requests/:requestId", requestId)} name={event ?? hook} id={id} />;
}

function Result({ request }: { request: HookRequestRow }) {
  const { object, repeated, reason } = request;
  return (
    <>
      <bdi title={reason ?? undefined}>{visible(requestSummary(request))}</bdi>
      {(object !== null || repeated) && (
        <span class="muted">{repeated ? "repeats an earlier request" : visible(object ?? "")}</span>
      )}
    </>
  );
}

/** The number of runs that a request has started, or of jobs that it has reported. */
function Started({ runIds, jobIds }: HookRequestRow) {
  const started = jobIds.length || runIds.length;
  const noun = jobIds.length > 0 ? "job" : "run";
  return (
    <>
      {started}
      <span class="unit"> {started === 1 ? noun : `${noun}s`}</span>
    </>
  );
}
