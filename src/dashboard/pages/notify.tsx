import { useEffect } from "preact/hooks";
import type { Expectation } from "../../client/client.ts";
import { EmptyState } from "../components/emptyState.tsx";
import { Failure } from "../components/notice.tsx";
import { RuleCard } from "../components/notify/ruleCard.tsx";
import { Facts } from "../components/values/facts.tsx";
import { When } from "../components/values/when.tsx";
import { TEST_RULE } from "../data/commands.ts";
import { followLive } from "../data/live/live.ts";
import { useReloadEvery } from "../data/live/reloadEvery.ts";
import { useThrottle } from "../data/live/useThrottle.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";
import { useTitle } from "../title.ts";

/** Expectations change without live events, and slowly. */
const POLL_EVERY_MS = 30_000;

export function NotifyPage() {
  useTitle("Notifications");
  const { value, error, reload } = useQuery((signal) => service.notify.get({ signal }), "", { isLive: true });
  const reloadSoon = useThrottle(reload);
  useEffect(
    () =>
      followLive(
        { topics: ["deliveries"] },
        {
          onStart: reload,
          delivery: ({ rule }) => {
            if (rule !== null) reloadSoon();
          },
        },
      ),
    [],
  );
  useReloadEvery(reload, POLL_EVERY_MS);
  return (
    <>
      <div class="page-head line">
        <h1>Notifications</h1>
      </div>
      {error !== null && <Failure error={error} retry={reload} />}
      {value?.rules.length === 0 && (
        <EmptyState title="No rules yet" command={TEST_RULE} guide="how-to/get-notified-when-a-job-fails">
          This page shows each rule that sends events to a web server, a chat or the agent, with its latest deliveries.
          Add a rule to <code>notify</code> in the configuration file, then test it:
        </EmptyState>
      )}
      {value && (
        <ul class="stack cards">
          {value.rules.map((rule) => (
            <RuleCard key={rule.ruleId} rule={rule} />
          ))}
        </ul>
      )}
      {value && value.expectations.length > 0 && (
        <section aria-labelledby="expected-title" class="section">
          <h2 id="expected-title">Expected jobs</h2>
          <ul class="stack cards grid">
            {value.expectations.map((expectation) => (
              <ExpectationCard key={expectation.expectationId} expectation={expectation} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function ExpectationCard({ expectation }: { expectation: Expectation }) {
  const { expectationId, name, every, cron, timezone, grace, lastSeenAt, missedAt, nextDueAt } = expectation;
  return (
    <li class="card">
      <h3>{expectationId}</h3>
      {missedAt && (
        <p class="fault">
          Missing: a job was due <When time={missedAt} />
        </p>
      )}
      <Facts
        facts={[
          ["Name", <bdi>{name}…</bdi>],
          cron === null ? ["Expected every", every] : ["Expected by", `${cron} (${timezone})`],
          ["Grace", grace],
          ["Last seen", lastSeenAt ? <When time={lastSeenAt} /> : "never"],
          ["Next due", nextDueAt && <When time={nextDueAt} />],
        ]}
      />
    </li>
  );
}
