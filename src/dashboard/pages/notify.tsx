import type { Delivery, Expectation } from "../../client/client.ts";
import { PageHead } from "../components/frame/pageHead.tsx";
import { EmptyState, Failure } from "../components/notice.tsx";
import { RuleCard } from "../components/notify/ruleCard.tsx";
import { Section } from "../components/section.tsx";
import { Facts } from "../components/values/facts.tsx";
import { When } from "../components/values/when.tsx";
import { TEST_RULE } from "../data/commands.ts";
import { useLive, useReloadEvery } from "../data/live/useLive.ts";
import { service } from "../data/service.ts";
import { useQuery } from "../data/useQuery.ts";

/** Expectations change without live events, and slowly. */
const POLL_EVERY_MS = 30_000;

export function NotifyPage() {
  const { value, error, reload, reloadSoon } = useQuery((signal) => service.notify.get({ signal }), "", {
    isLive: true,
  });
  const delivery = ({ rule }: Delivery) => {
    if (rule !== null) reloadSoon();
  };
  useLive({ topics: ["deliveries"] }, { onStart: reload, delivery });
  useReloadEvery(reload, POLL_EVERY_MS);
  return (
    <>
      <PageHead title="Notifications" />
      {error !== null && <Failure error={error} retry={reload} />}
      {value?.rules.length === 0 && (
        <EmptyState title="No rules yet" command={TEST_RULE} guide="how-to/get-notified-when-a-job-fails">
          This page shows each rule that sends events to a web server, a chat or the agent, with its latest deliveries.
          Add a rule to <code>notify</code> in the configuration file, then test it:
        </EmptyState>
      )}
      {value && (
        <ul class="stack">
          {value.rules.map((rule) => (
            <RuleCard key={rule.ruleId} rule={rule} />
          ))}
        </ul>
      )}
      {value && value.expectations.length > 0 && (
        <Section id="expected" title="Expected jobs">
          <ul class="stack grid">
            {value.expectations.map((expectation) => (
              <ExpectationCard key={expectation.expectationId} expectation={expectation} />
            ))}
          </ul>
        </Section>
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
          ["Name", <bdi>{name}*</bdi>],
          cron === null ? ["Expected every", every] : ["Expected by", `${cron} (${timezone})`],
          ["Grace", grace],
          ["Last seen", lastSeenAt ? <When time={lastSeenAt} /> : "never"],
          ["Next due", nextDueAt && <When time={nextDueAt} />],
        ]}
      />
    </li>
  );
}
