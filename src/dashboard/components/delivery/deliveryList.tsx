import type { Delivery } from "../../../client/client.ts";
import { access, hasScope } from "../../data/access.ts";
import { service } from "../../data/service.ts";
import { useMutation } from "../../data/useMutation.ts";
import { address } from "../../router.ts";
import { count } from "../../time.ts";
import { ActButton } from "../buttons.tsx";
import { Facts } from "../values/facts.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";

/** The deliveries of a run with their state. */
export function DeliveryList({ deliveries }: { deliveries: readonly Delivery[] }) {
  return (
    <ul class="stack">
      {deliveries.map((delivery) => (
        <li key={delivery.deliveryId} class="card">
          <div class="headline line">
            <StatusMark status={delivery.state} />
            <span class="grow">
              <b>{delivery.channel}</b> {delivery.to && <bdi class="id">{delivery.to}</bdi>}
            </span>
            <DeliveryActions delivery={delivery} />
          </div>
          {delivery.reason && (
            <p class={delivery.state === "failed" ? "fault" : "muted"}>
              <bdi>{delivery.reason}</bdi>
            </p>
          )}
          <Facts
            facts={[
              ["Parts", delivery.parts.length > 0 && partsOf(delivery)],
              ["Attempts", delivery.attempts],
              ["Created", <When time={delivery.createdAt} />],
              ["Sent", delivery.sentAt && <When time={delivery.sentAt} />],
              [
                "Next attempt",
                delivery.state === "pending" && delivery.notBefore && <When time={delivery.notBefore} />,
              ],
              ["Note", delivery.maybeTwice && "A part may have been delivered twice."],
            ]}
          />
        </li>
      ))}
    </ul>
  );
}

interface CountsProps {
  /** The query of the deliveries that are counted, such as `channel=slack`. */
  readonly query: string;
  readonly pending: number;
  readonly failed: number;
}

/** The number of pending and of failed deliveries of a channel or a rule, with links to them. */
export function DeliveryCounts({ query, pending, failed }: CountsProps) {
  const hrefOf = (state: string) => `${address("/deliveries")}?${query}&state=${state}`;
  return (
    <p class="line">
      <a href={hrefOf("pending")} class="muted">
        <b>{count(pending)}</b> pending
      </a>
      <a href={hrefOf("failed")} class={failed > 0 ? "fault" : "muted"}>
        <b>{count(failed)}</b> failed in 24 h
      </a>
    </p>
  );
}

export function partsOf({ parts }: Delivery): string {
  const sent = parts.filter(({ state }) => state === "sent").length;
  return `${sent} of ${parts.length} sent`;
}

/** The actions on a delivery, if the access allows changes. Their effect arrives as a live event. */
export function DeliveryActions({ delivery: { deliveryId, state } }: { delivery: Delivery }) {
  const { isPending, mutate } = useMutation(deliveryId);
  if (!hasScope(access.value, "runs:write") || state === "sent") return null;
  return (
    <span class="acts line">
      <ActButton
        icon="retry"
        label={state === "failed" ? "Retry" : "Try now"}
        disabled={isPending}
        act={() => mutate(service.deliveries.retry, "Retrying now")}
      />
      {state === "pending" && (
        <ActButton
          icon="cancel"
          label="Cancel"
          disabled={isPending}
          act={() => mutate(service.deliveries.cancel, "Delivery cancelled")}
        />
      )}
    </span>
  );
}

/** Returns a sentence about the result of a test; it is undefined until a worker has created its delivery. */
export function testResult(delivery: Delivery | undefined): string {
  if (!delivery) return "The test waits for a worker.";
  const { state, reason, lastStatus } = delivery;
  const answer = lastStatus === null ? "" : ` (status ${lastStatus})`;
  if (state === "sent") return `The test was delivered${answer}.`;
  if (state === "failed") return `The test failed${answer}: ${reason}`;
  return reason === null ? "The test is being sent." : `The test is not delivered yet${answer}: ${reason}`;
}
