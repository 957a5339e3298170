import type { Delivery } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { type FirstPending, waitsFor } from "../../data/delivery/waitsFor.ts";
import { address } from "../../router.ts";
import { plainText, visible } from "../../text.ts";
import { AgeCell, StatusCell } from "../tables/cells.tsx";
import { When } from "../values/when.tsx";
import { DeliveryActions, partsOf } from "./deliveryList.tsx";

/** The cells of a row of the list of deliveries. */
export function DeliveryCells({ delivery, first }: { delivery: Delivery; first: FirstPending }) {
  const { channel, to, state, createdAt } = delivery;
  const [href, title] = sourceOf(delivery);
  return (
    <>
      <span role="cell" class="cell-name">
        <a href={href} title={title}>
          {channel}
        </a>
        <bdi class="id muted">{to ?? (channel === "wake" ? "main session" : "no recipient")}</bdi>
      </span>
      <span role="cell" class="cell-message">
        <Words delivery={delivery} />
        <Progress delivery={delivery} first={first} />
      </span>
      <StatusCell status={state} />
      <AgeCell time={createdAt} />
      <span role="cell" class="cell-acts">
        <DeliveryActions delivery={delivery} />
      </span>
    </>
  );
}

/** The first words of what is sent. A webhook has none, and shows its event. */
function Words({ delivery: { preview, eventType, rule } }: { delivery: Delivery }) {
  const event = eventType && (
    <>
      <code>{eventType}</code>
      {rule && <span class="muted"> by {rule}</span>}
    </>
  );
  if (preview === null) return <span>{event}</span>;
  const words = plainText(preview);
  return (
    <span title={words}>
      {event} <bdi>{words}</bdi>
    </span>
  );
}

/** Shows what a pending delivery waits for, and the outcome of the attempts so far. */
function Progress({ delivery, first }: { delivery: Delivery; first: FirstPending }) {
  const { reason, lastStatus, parts, runName, state } = delivery;
  const isPlain = state === "sent" && parts.length === 1;
  const outcome = [
    runName && visible(runName),
    lastStatus !== null && `status ${lastStatus}`,
    parts.length > 0 && !isPlain && partsOf(delivery),
  ]
    .filter(Boolean)
    .join(", ");
  return (
    <span class="muted" title={reason ?? undefined}>
      <Waiting delivery={delivery} first={first} /> {outcome}
      {outcome && reason && ": "}
      {reason && <bdi>{visible(reason)}</bdi>}
    </span>
  );
}

function Waiting({ delivery, first }: { delivery: Delivery; first: FirstPending }) {
  const waiting = waitsFor(delivery, first, now.value);
  switch (waiting?.kind) {
    case "attempt":
      return (
        <>
          Next attempt <When time={waiting.at} />.
        </>
      );
    case "another":
      return <>Waits for another delivery to this recipient.</>;
    case "sending":
      return <>Is being sent.</>;
    case "worker":
      return <>Is sent next.</>;
    default:
      return null;
  }
}

/**
 * Returns the address of what is delivered and its name: the rule of an event, the tested channel, or the run or session of
 * a reply.
 */
function sourceOf({ rule, runId, eventType }: Delivery): readonly [href: string, title: string] {
  if (rule === null && eventType === "test") return [address("/channels"), "Open the channels"];
  if (rule !== null || eventType !== null) return [address("/notify"), "Open the notifications"];
  if (runId) return [address("/runs/:runId", runId), "Open the run"];
  return [address("/sessions/:sessionKey", "main"), "Open the main session"];
}
