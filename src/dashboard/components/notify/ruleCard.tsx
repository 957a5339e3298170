import { useState } from "preact/hooks";
import type { Delivery, NotifyRule } from "../../../client/client.ts";
import { access, hasScope } from "../../data/access.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { address } from "../../router.ts";
import { plainText, visible } from "../../text.ts";
import { ActButton } from "../buttons.tsx";
import { DeliveryCounts, testResult } from "../delivery/deliveryList.tsx";
import { Facts } from "../values/facts.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";

/** A rule with its latest deliveries, and a button that tests it. */
export function RuleCard({ rule }: { rule: NotifyRule }) {
  const { ruleId, on, where, after, cooldown, latestDeliveries, pending, failed } = rule;
  const query = `rule=${encodeURIComponent(ruleId)}`;
  return (
    <li class="card" aria-labelledby={`rule-${ruleId}`}>
      <div class="headline line">
        <h2 id={`rule-${ruleId}`} class="grow">
          {ruleId}
        </h2>
        <DeliveryCounts query={query} pending={pending} failed={failed} />
      </div>
      <Facts
        facts={[
          ["On", on.join(", ")],
          ["To", <Target target={rule.to} />],
          ["Where", where && <code>{JSON.stringify(where)}</code>],
          ["After", after > 1 && `${after} failures in a row`],
          ["Cooldown", cooldown],
        ]}
      />
      <Test rule={rule} />
      {latestDeliveries.length === 0 ? (
        <p class="muted">This rule has sent nothing yet.</p>
      ) : (
        <>
          <ol class="stack" aria-label={`Latest deliveries of ${ruleId}`}>
            {latestDeliveries.map((delivery) => (
              <LatestDelivery key={delivery.deliveryId} delivery={delivery} />
            ))}
          </ol>
          <p>
            <a href={`${address("/deliveries")}?${query}`}>All deliveries of {ruleId}</a>
          </p>
        </>
      )}
    </li>
  );
}

function Target({ target: { kind, url, channel, to, wakeMode } }: { target: NotifyRule["to"] }) {
  if (kind === "webhook") return <bdi>{url}</bdi>;
  if (kind === "wake") return <>the main session, {wakeMode === "now" ? "at once" : "at its next heartbeat"}</>;
  return (
    <>
      {channel} {to && <bdi class="id">{to}</bdi>}
    </>
  );
}

function LatestDelivery({ delivery }: { delivery: Delivery }) {
  const { eventType, state, lastStatus, reason, preview, createdAt } = delivery;
  const words = plainText(preview ?? "");
  return (
    <li class="line">
      <code>{eventType}</code>
      <StatusMark status={state} />
      <span class="grow cut muted" title={reason ?? words}>
        {lastStatus !== null && `status ${lastStatus}`}
        {lastStatus !== null && reason && ": "}
        {reason ? <bdi>{visible(reason)}</bdi> : <bdi>{words}</bdi>}
      </span>
      <span class="small muted">
        <When time={createdAt} />
      </span>
    </li>
  );
}

/** The button that tests a rule, if the access allows changes, and the result of the latest test. */
function Test({ rule: { ruleId, latestDeliveries } }: { rule: NotifyRule }) {
  const [deliveryId, setDeliveryId] = useState<string | null>(null);
  const { isPending, mutate } = useMutation(ruleId);
  if (!hasScope(access.value, "runs:write")) return null;
  const test = () => mutate(async (id) => setDeliveryId((await service.notify.test(id)).deliveryId), "Test requested");
  return (
    <p class="line">
      <ActButton icon="retry" label="Test" aria-label={`Test ${ruleId}`} disabled={isPending} act={test} />
      <span role="status">
        {deliveryId !== null && testResult(latestDeliveries.find((one) => one.deliveryId === deliveryId))}
      </span>
    </p>
  );
}
