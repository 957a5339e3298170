import type { AuditAction, AuditEntry } from "../../client/client.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { GuideLink, NotFound, Notice } from "../components/notice.tsx";
import { FilterChips, SelectFilter, TextFilter } from "../components/tables/filters.tsx";
import { type Column, List } from "../components/tables/list.tsx";
import { access, hasScope } from "../data/access.ts";
import { givenFilters } from "../data/filter.ts";
import { useLiveList, useReloadEvery, useRows } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { address, type Place, withQuery } from "../router.ts";
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
  const filter = givenFilters(query, { action: Object.keys(ACTIONS) as AuditAction[], actor: null });
  const list = useRows({ rows: "entries", id: "auditId", time: "at", filter }, (page, options) =>
    service.audit({ ...page, ...filter }, options),
  );
  useLiveList(list, { topics: ["jobs"] });
  useReloadEvery(list.reloadSoon); // No live events report new entries.
  return (
    <>
      <PageHead title="Audit log" />
      <search class="filters line">
        <TextFilter query={query} name="actor" title="Who: name of a token, cookie:NAME or job-token:JOB" />
        <SelectFilter query={query} name="action" title="Action" any="Any action" options={ACTIONS} />
        <FilterChips query={query} titles={{ actor: "by" }} />
      </search>
      <List
        list={list}
        label="Audit log, newest first"
        noun={["entry", "entries"]}
        kind="audit"
        columns={columnsOf(query)}
        hint="The name must be the whole one."
        isFiltered={Object.keys(filter).length > 0}
        empty={
          <Notice title="No entries yet">
            This page shows who deleted, cancelled, retried, answered or withdrew something, created a token or logged
            in, and which tokens were refused. <GuideLink page="how-to/secure" />
          </Notice>
        }
      />
    </>
  );
}

const columnsOf = (query: URLSearchParams): readonly Column<AuditEntry>[] => [
  {
    title: "Who",
    name: "name",
    width: "minmax(0, 3fr)",
    cell: ({ actor }) => (
      <a href={withQuery(query, { actor })} title="Show only entries of this caller" dir="auto">
        {actor}
      </a>
    ),
  },
  {
    title: "Did what",
    name: "message",
    width: "minmax(0, 5fr)",
    cell: ({ action, target }) => (
      <>
        <span>{ACTIONS[action] ?? action}</span>
        {target !== null && (
          <bdi class="muted" title={target}>
            {target}
          </bdi>
        )}
      </>
    ),
  },
  {
    title: "From",
    name: "time",
    width: "150px",
    cell: ({ address, serviceRequestId }) => (
      <span title={serviceRequestId ? `Request ${serviceRequestId}` : undefined}>{address}</span>
    ),
  },
  {
    title: "When (UTC)",
    name: "age",
    width: "160px",
    cell: ({ at }) => (
      <time dateTime={at} title={absolute(at)}>
        {at.slice(0, 19).replace("T", " ")}
      </time>
    ),
  },
];
