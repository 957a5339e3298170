import { useState } from "preact/hooks";
import type { HookRequestRow, RequestOutcome } from "../../wire/hookRequest.ts";
import { GuideLink } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { NoMatch, Notice } from "../components/notice.tsx";
import { HookList } from "../components/request/hookList.tsx";
import { TryMapping } from "../components/request/tryMapping.tsx";
import { AgeCell, StatusCell } from "../components/tables/cells.tsx";
import { FilterChips } from "../components/tables/filterChips.tsx";
import { List } from "../components/tables/list.tsx";
import { Pills, stateChoices } from "../components/tables/pills.tsx";
import { access, hasScope } from "../data/access.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useReloadEvery } from "../data/live/reloadEvery.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { requestSummary } from "../data/requestSummary.ts";
import { hookRequests } from "../data/service.ts";
import { address, type Place } from "../router.ts";
import { visible } from "../text.ts";

const OUTCOMES = ["accepted", "dropped", "failed", "filtered", "refused"] as const;
/** The filters that the page shows as chips. */
const CHIPS = [
  ["hook", "hook"],
  ["mapping", "mapping"],
] as const;
const POLL_EVERY_MS = 5_000;

export function RequestsPage({ place: { query } }: { place: Place }) {
  const outcome = OUTCOMES.find((one) => one === query.get("outcome")) ?? null;
  const mapping = query.get("mapping");
  const hook = query.get("hook");
  const list = useRequests({ outcome, mapping, hook });
  const [isTrying, setTrying] = useState(false);
  return (
    <>
      <PageHead title="Hooks">
        <Pills label="Requests by outcome" query={query} parameter="outcome" choices={stateChoices(OUTCOMES)} />
        {hasScope(access.value, "runs:write") && (
          <button type="button" aria-expanded={isTrying} onClick={() => setTrying(!isTrying)}>
            Try a mapping
          </button>
        )}
      </PageHead>
      <HookList current={hook}>
        {isTrying && <TryMapping hook="" headers={{}} body="" />}
        <FilterChips query={query} filters={CHIPS} />
        <List
          list={list}
          label="Requests to hooks, newest first"
          noun={["request", "requests"]}
          kind="requests"
          columns={["Event", "Result", "Outcome", "Runs", "Age"]}
          widths="minmax(0, 4fr) minmax(0, 5fr) 110px 84px 84px"
          cells={(request) => <RequestCells request={request} />}
          empty={<NoRequests isFiltered={outcome !== null || mapping !== null || hook !== null} />}
        />
      </HookList>
    </>
  );
}

function RequestCells({ request }: { request: HookRequestRow }) {
  const { requestId, hook, mapping, event, object, outcome, reason, repeated, runIds, jobIds, createdAt } = request;
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={address("/requests/:requestId", requestId)} dir="auto" title={visible(event ?? hook)}>
          {visible(event ?? hook)}
        </a>
        <bdi class="id muted">
          {[event === null ? null : hook, mapping === hook ? null : (mapping ?? "no mapping")]
            .filter((one) => one !== null)
            .map(visible)
            .join(" · ")}
        </bdi>
      </span>
      <span role="cell" class="cell-message">
        <bdi title={reason ?? undefined}>{visible(requestSummary(request))}</bdi>
        {(object !== null || repeated) && (
          <span class="muted">{repeated ? "repeats an earlier request" : visible(object ?? "")}</span>
        )}
      </span>
      <StatusCell status={outcome} />
      <span role="cell" class="cell-time">
        {jobIds.length || runIds.length}
        <span class="unit"> {countedAs(jobIds.length > 0 ? "job" : "run", jobIds.length || runIds.length)}</span>
      </span>
      <AgeCell time={createdAt} />
    </>
  );
}

const countedAs = (noun: string, count: number): string => (count === 1 ? noun : `${noun}s`);

function NoRequests({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <NoMatch rows="requests" path="/requests" />;
  return (
    <Notice title="No requests yet">
      This page shows each request to a hook with its outcome. Set <code>hooks.keepRequests</code> in the configuration,
      for example to <code>7d</code>. <GuideLink page="how-to/see-why-a-webhook-did-nothing" />
    </Notice>
  );
}

interface Filters {
  readonly outcome: RequestOutcome | null;
  readonly mapping: string | null;
  readonly hook: string | null;
}

function useRequests({ outcome, mapping, hook }: Filters): LiveList<HookRequestRow> {
  const list = useRows<HookRequestRow>(
    { id: "requestId", time: "createdAt", filters: [outcome, mapping, hook] },
    async (page, options) => {
      const filters = { ...(outcome && { outcome }), ...(mapping && { mapping }), ...(hook && { hook }) };
      const { requests, nextCursor } = await hookRequests.list({ ...page, ...filters }, options);
      return { rows: requests, nextCursor };
    },
  );
  const reloadSoon = useThrottle(() => void list.reload());
  useLiveList(list, { topics: ["runs"] }, { run: reloadSoon }); // A run that starts or ends changes its request.
  useReloadEvery(reloadSoon, POLL_EVERY_MS); // No live events report requests without runs.
  return list;
}
