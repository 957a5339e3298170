import type { AuditAction, AuditEntry } from "../../client/client.ts";
import { GuideLink } from "../components/emptyState.tsx";
import { PageHead } from "../components/frame/pageHead.tsx";
import { NoMatch, NotFound, Notice } from "../components/notice.tsx";
import { FilterChips } from "../components/tables/filterChips.tsx";
import { List } from "../components/tables/list.tsx";
import { access, hasScope } from "../data/access.ts";
import type { LiveList } from "../data/live/liveList.ts";
import { useReloadEvery } from "../data/live/reloadEvery.ts";
import { useLiveList, useRows } from "../data/live/useLiveList.ts";
import { service } from "../data/service.ts";
import { address, navigate, type Place, withQuery } from "../router.ts";
import { absolute } from "../time.ts";
import { useTitle } from "../title.ts";

const ACTIONS: Readonly<Record<AuditAction, string>> = {
  "job.delete": "Deleted a job",
  "jobs.delete": "Deleted jobs",
  "job.cancel": "Cancelled a job by force",
  "token.create": "Created a job token",
  "share.create": "Link to a job created",
  "share.revoke": "Links to a job ended",
  "gate.answer": "Answered a question",
  "gate.withdraw": "Withdrew a question",
  "gate.expire": "A question expired",
  "chat.refused": "Refused a press in a chat",
  "run.retry": "Retried a run",
  "run.again": "Ran a run again",
  "run.cancel": "Cancelled a run",
  "delivery.retry": "Retried a delivery",
  "delivery.cancel": "Cancelled a delivery",
  "event.delete": "Deleted an event",
  "rule.test": "Tested a rule",
  "channel.check": "Checked a channel",
  "channel.test": "Sent a test message",
  "channel.resume": "Resumed a channel",
  "reply-target.set": "Set the reply target",
  "reply-target.clear": "Cleared the reply target",
  "request.replay": "Replayed a request",
  "hook.test": "Tested the agent hook",
  login: "Logged in",
  logout: "Logged out",
  "token.refused": "Token refused",
};

const isAction = (text: string | null): text is AuditAction => text !== null && text in ACTIONS;

/** No live events report new entries. */
const RELOAD_EVERY_MS = 15_000;

export function AuditPage({ place: { query } }: { place: Place }) {
  useTitle("Audit log");
  if (!hasScope(access.value, "admin")) {
    return (
      <NotFound title="The audit log is not shown">
        It needs a token with the scope <code>admin</code>. <a href={address("/")}>See all jobs</a>
      </NotFound>
    );
  }
  return <AuditLog query={query} />;
}

function AuditLog({ query }: { query: URLSearchParams }) {
  const given = query.get("action");
  const action = isAction(given) ? given : null;
  const actor = query.get("actor") || null;
  const list = useAuditLog(action, actor);
  return (
    <>
      <PageHead title="Audit log" />
      <Filters query={query} action={action} actor={actor} />
      <List
        list={list}
        label="Audit log, newest first"
        noun={["entry", "entries"]}
        kind="audit"
        columns={["Who", "Did what", "From", "When (UTC)"]}
        widths="minmax(0, 3fr) minmax(0, 5fr) 150px 160px"
        cells={(entry) => <AuditCells entry={entry} query={query} />}
        empty={<NoEntries isFiltered={action !== null || actor !== null} />}
      />
    </>
  );
}

interface FiltersProps {
  readonly query: URLSearchParams;
  readonly action: AuditAction | null;
  readonly actor: string | null;
}

function Filters({ query, action, actor }: FiltersProps) {
  const show = (name: string, value: string) => navigate(withQuery(query, { [name]: value || null }));
  return (
    <search class="filters line">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          show("actor", String(new FormData(event.currentTarget).get("actor")).trim());
        }}
      >
        <input
          key={actor}
          type="search"
          name="actor"
          defaultValue={actor ?? ""}
          placeholder="Name of a token, cookie:NAME or job-token:JOB"
          aria-label="Who: name of a token, cookie:NAME or job-token:JOB"
        />
      </form>
      <select
        aria-label="Action"
        value={action ?? ""}
        onChange={({ currentTarget: { value } }) => show("action", value)}
      >
        <option value="">Any action</option>
        {Object.entries(ACTIONS).map(([one, title]) => (
          <option key={one} value={one}>
            {title}
          </option>
        ))}
      </select>
      <FilterChips query={query} filters={[["actor", "by"]]} />
    </search>
  );
}

function AuditCells({ entry, query }: { entry: AuditEntry; query: URLSearchParams }) {
  const { actor, action, target, address: from, at, serviceRequestId } = entry;
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={withQuery(query, { actor })} title="Show only entries of this caller" dir="auto">
          {actor}
        </a>
      </span>
      <span role="cell" class="cell-message">
        <span>{ACTIONS[action] ?? action}</span>
        {target !== null && (
          <bdi class="muted" title={target}>
            {target}
          </bdi>
        )}
      </span>
      <span role="cell" class="cell-time" title={serviceRequestId && `Request ${serviceRequestId}`}>
        {from}
      </span>
      <span role="cell" class="cell-age">
        <time dateTime={at} title={absolute(at)}>
          {at.slice(0, 19).replace("T", " ")}
        </time>
      </span>
    </>
  );
}

function NoEntries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <NoMatch rows="entries" path="/audit">
        The name must be the whole one.
      </NoMatch>
    );
  }
  return (
    <Notice title="No entries yet">
      This page shows who deleted, cancelled, retried, answered or withdrew something, created a token or logged in, and
      which tokens were refused. <GuideLink page="how-to/secure" />
    </Notice>
  );
}

function useAuditLog(action: AuditAction | null, actor: string | null): LiveList<AuditEntry> {
  const list = useRows<AuditEntry>({ id: "auditId", time: "at", filters: [action, actor] }, async (page, options) => {
    const filters = { ...(action && { action }), ...(actor && { actor }) };
    const { entries, nextCursor } = await service.audit({ ...page, ...filters }, options);
    return { rows: entries, nextCursor };
  });
  useLiveList(list, { topics: ["jobs"] });
  useReloadEvery(() => void list.reload(), RELOAD_EVERY_MS);
  return list;
}
