import type { Delivery } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { type FirstPending, waitsFor } from "../../data/delivery/waitsFor.ts";
import { address } from "../../router.ts";
import { plainText, visible } from "../../text.ts";
import { type Column, RowName } from "../tables/list.tsx";
import { StatusMark } from "../values/status.tsx";
import { When } from "../values/when.tsx";
import { DeliveryActions, partsOf } from "./deliveryList.tsx";

/** The columns of the list of deliveries. @param first the deliveries that are sent first */
export const deliveryColumns = (first: FirstPending): readonly Column<Delivery>[] => [
  { title: "To", name: "name", width: "minmax(0, 3fr)", cell: (delivery) => <Recipient delivery={delivery} /> },
  {
    title: "Message",
    name: "message",
    width: "minmax(0, 6fr)",
    cell: (delivery) => (
      <>
        <Words delivery={delivery} />
        <Progress delivery={delivery} first={first} />
      </>
    ),
  },
  { title: "State", name: "status", width: "96px", cell: ({ state }) => <StatusMark status={state} /> },
  { title: "Age", name: "age", width: "84px", cell: ({ createdAt }) => <When time={createdAt} /> },
  { title: "Actions", name: "acts", width: "224px", cell: (delivery) => <DeliveryActions delivery={delivery} /> },
];

function Recipient({ delivery }: { delivery: Delivery }) {
  const { channel, to } = delivery;
  const [href, title] = sourceOf(delivery);
  const id = to ?? (channel === "wake" ? "main session" : "no recipient");
  return <RowName href={href} name={channel} title={title} id={id} />;
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
