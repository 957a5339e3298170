import type { Delivery } from "../../client/client.ts";
import { access, canWrite } from "../data/access.ts";
import { service } from "../data/service.ts";
import { useMutation } from "../data/useMutation.ts";
import { Facts } from "./facts.tsx";
import { Icon } from "./icon.tsx";
import { StatusMark } from "./status.tsx";
import { When } from "./when.tsx";

/** The deliveries of a run with their state. */
export function DeliveryList({ deliveries }: { deliveries: readonly Delivery[] }) {
  return (
    <ul class="cards">
      {deliveries.map((delivery) => (
        <li key={delivery.deliveryId} class="card">
          <div class="headline">
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

export function partsOf({ parts }: Delivery): string {
  const sent = parts.filter(({ state }) => state === "sent").length;
  return `${sent} of ${parts.length} sent`;
}

/** The actions on a delivery, if the access allows changes. Their effect arrives as a live event. */
export function DeliveryActions({ delivery: { deliveryId, state } }: { delivery: Delivery }) {
  const { isPending, mutate } = useMutation(deliveryId);
  if (!canWrite(access.value) || state === "sent") return null;
  return (
    <span class="acts">
      <button type="button" disabled={isPending} onClick={() => mutate(service.deliveries.retry, "Retrying now")}>
        <Icon name="retry" /> {state === "failed" ? "Retry" : "Try now"}
      </button>
      {state === "pending" && (
        <button
          type="button"
          class="danger"
          disabled={isPending}
          onClick={() => mutate(service.deliveries.cancel, "Delivery cancelled")}
        >
          <Icon name="cancel" /> Cancel
        </button>
      )}
    </span>
  );
}
