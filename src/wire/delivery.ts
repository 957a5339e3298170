import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

export const DeliveryKind = Type.Enum(["channel", "webhook", "wake"], {
  description:
    "Kind of the delivery: a text to a chat (`channel`), a signed request (`webhook`), or an event of the main session (`wake`).",
});

export const DeliveryState = Type.Enum(["pending", "sent", "failed"], {
  description: "`pending` until all parts are sent, or until the delivery fails or is cancelled.",
});

/** A message of a delivery. */
export const DeliveryPart = Type.Object(
  {
    state: Type.Enum(["pending", "sending", "sent"], { description: "Whether the part was sent." }),
    id: s.nullable(Type.String(), {
      description: "The id of the message at the chat service; null before it is sent.",
    }),
  },
  s.named("DeliveryPart"),
);

/** A delivery as the API shows it. */
export const Delivery = Type.Object(
  {
    deliveryId: Type.String({ description: "Identifies the delivery." }),
    runId: s.nullable(Type.String(), {
      description: "The run whose reply is delivered; null for a turn of the main session.",
    }),
    runName: Type.Optional(s.nullable(Type.String(), { description: "Name of the run. Only in lists." })),
    kind: DeliveryKind,
    rule: s.nullable(Type.String(), {
      description:
        "The rule of `notify` whose event is delivered; null for a reply, a `callbackUrl` and a test of a channel.",
    }),
    eventType: s.nullable(Type.String(), {
      description: "Type of the event that is delivered, such as `job.failed`; null for a reply.",
    }),
    channel: Type.String({
      description: "The channel that the text is sent to, such as `telegram`. For other kinds the kind itself.",
    }),
    to: s.nullable(Type.String(), {
      description:
        "The recipient in the notation of the channel; null if no recipient was known. For a webhook its rule, or the host of the `callbackUrl`.",
    }),
    preview: s.nullable(Type.String(), {
      description:
        "The first words of the text, at most 120 characters on one line; null for a webhook. A question shows its title, because its text has the link that answers it.",
    }),
    state: DeliveryState,
    attempts: Type.Integer({ description: "Number of attempts so far. One attempt can send several parts." }),
    lastStatus: s.nullable(Type.Integer(), {
      description: "For a webhook, the status code of the latest response; null if there was none.",
    }),
    parts: Type.Array(DeliveryPart, {
      description: "The messages into which the reply is split; empty before the first attempt.",
    }),
    maybeTwice: Type.Boolean({
      description: "True if a part may have arrived twice, because the connection broke while it was sent.",
    }),
    reason: s.nullable(Type.String(), { description: "Why the delivery failed or waits; null otherwise." }),
    notBefore: s.nullable(s.Timestamp("Time of the next attempt; null if the delivery does not have to wait.")),
    createdAt: s.Timestamp("When the delivery was created."),
    sentAt: s.nullable(s.Timestamp("When the last part was sent.")),
  },
  s.named("Delivery"),
);

export type Delivery = Static<typeof Delivery>;

/** A changed delivery for a caller that may not read deliveries. */
export const DeliveryReceipt = {
  unless: ["runs:read"],
  schema: Type.Pick(Delivery, ["deliveryId", "state", "notBefore", "createdAt", "sentAt"], s.named("DeliveryReceipt")),
} as const;

/** The number of deliveries in each state. */
export const DeliveryCounts = Type.Object(
  {
    total: s.Count("Number of all deliveries."),
    pending: s.Count("Number of deliveries that are not sent yet."),
    sent: s.Count("Number of deliveries that were sent."),
    failed: s.Count("Number of deliveries that failed or were cancelled."),
    capped: Type.Boolean({
      description: "Whether more than 10,000 deliveries match, so that each number is a lower bound.",
    }),
  },
  s.named("DeliveryCounts"),
);
export type DeliveryCounts = Static<typeof DeliveryCounts>;
