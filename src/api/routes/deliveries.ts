import Type from "typebox";
import { deliveryFault, recipientOn } from "../../models/deliveries/addDelivery.ts";
import { countDeliveries } from "../../models/deliveries/countDeliveries.ts";
import { kindOf } from "../../models/deliveries/delivery.ts";
import { listDeliveries, viewDelivery } from "../../models/deliveries/readDeliveries.ts";
import { readRunNames } from "../../models/runs/readRuns.ts";
import { CHANNELS } from "../../shared/channelNames.ts";
import { AppError } from "../../shared/errors.ts";
import * as s from "../../wire/blocks.ts";
import { Delivery, DeliveryCounts, DeliveryKind, DeliveryReceipt, DeliveryState } from "../../wire/delivery.ts";
import * as examples from "../examples/gateway.ts";
import { route } from "../routing/route.ts";
import * as q from "../schemas/requests.ts";

const NO_MESSAGE = "The delivery is an event of the main session, for which nothing is left to be sent.";

const params = Type.Object({
  deliveryId: s.Identifier("Identifies the delivery: a `deliveryId` of the list or of a run."),
});

/** The filters other than the state. */
const filters = {
  channel: Type.Optional(Type.Enum(CHANNELS, { description: "Deliveries to this channel." })),
  kind: Type.Optional(DeliveryKind),
  rule: Type.Optional(s.RuleId),
};

const getDeliveries = route({
  method: "get",
  path: "/api/deliveries",
  operationId: "listDeliveries",
  scopes: ["runs:read"],
  tag: "deliveries",
  summary: "List deliveries",
  description:
    "Returns the replies and events that were or will be sent, newest first. Use `state=failed` to find those that need your attention, and `rule` for the events of one rule of `notify`. The list ends when `nextCursor` is null.",
  example: examples.listDeliveries,
  schemas: {
    query: Type.Object(
      {
        state: q.anyOf(Type.Enum(DeliveryState.enum), "Deliveries in this state."),
        ...filters,
        ...q.idPaging,
      },
      q.closed,
    ),
  },
  answers: { 200: Type.Object({ deliveries: s.Rows(Delivery), nextCursor: s.nextCursor }, s.named("DeliveryList")) },
  errors: [],
  async handler({ query }, { stores }) {
    const { limit = 100, ...rest } = query;
    const { deliveries, nextCursor } = await listDeliveries(stores, { limit, ...rest });
    const names = await readRunNames(
      stores,
      deliveries.flatMap(({ runId }) => runId ?? []),
    );
    const named = deliveries.map((one) => ({ ...one, runName: names.get(one.runId ?? "") ?? null }));
    return { status: 200, body: { deliveries: named, nextCursor } };
  },
});

const getDeliveryCounts = route({
  method: "get",
  path: "/api/deliveries/counts",
  operationId: "countDeliveries",
  scopes: ["runs:read"],
  tag: "deliveries",
  summary: "Count deliveries",
  description:
    "Returns the number of deliveries in each state that match the filters, at most 10,000 of them; `capped` is true if there are more.",
  example: examples.countDeliveries,
  schemas: { query: Type.Object(filters, q.closed) },
  answers: { 200: DeliveryCounts },
  errors: [],
  async handler({ query }, { stores }) {
    return { status: 200, body: await countDeliveries(stores, query) };
  },
});

const retryDelivery = route({
  method: "post",
  path: "/api/deliveries/:deliveryId/retry",
  operationId: "retryDelivery",
  scopes: ["runs:write"],
  tag: "deliveries",
  summary: "Retry a delivery",
  description:
    "Sends a failed delivery again, or tries a pending one at once (202). Parts that were already sent are not sent again. A delivery without a recipient uses the recipient of the main session.",
  example: examples.retryDelivery,
  schemas: { params },
  answers: { 202: Delivery },
  receipt: DeliveryReceipt,
  errors: ["delivery_not_found", "delivery_state_conflict"],
  audit: ({ params }) => ({ action: "delivery.retry", target: params.deliveryId }),
  async handler({ params }, { stores, queues, channels, initialReplyTarget, clock }) {
    const { deliveryId } = params;
    const found = await stores.deliveries.find(deliveryId);
    const target = await stores.sessions.currentReplyTarget(initialReplyTarget);
    const to = found.to ?? recipientOn(found.channel, target);
    const kind = kindOf(found);
    const fault = kind === "wake" ? NO_MESSAGE : kind === "channel" ? deliveryFault(found.channel, to, channels) : null;
    if (fault) throw new AppError("delivery_state_conflict", { detail: fault });
    const delivery = await stores.deliveries.retry(deliveryId, to);
    await queues.deliver({ deliveryId, channel: delivery.channel }, { occasion: `retry-${clock.now().getTime()}` });
    return { status: 202, body: viewDelivery(delivery) };
  },
});

const cancelDelivery = route({
  method: "post",
  path: "/api/deliveries/:deliveryId/cancel",
  operationId: "cancelDelivery",
  scopes: ["runs:write"],
  tag: "deliveries",
  summary: "Cancel a delivery",
  description:
    "Stops a delivery that is not completely sent. A part that is being sent at this moment can still arrive.",
  example: examples.cancelDelivery,
  schemas: { params },
  answers: { 200: Delivery },
  receipt: DeliveryReceipt,
  errors: ["delivery_not_found", "delivery_state_conflict"],
  audit: ({ params }) => ({ action: "delivery.cancel", target: params.deliveryId }),
  async handler({ params: { deliveryId } }, { stores: { deliveries }, queues }) {
    const delivery = await deliveries.cancel(deliveryId);
    const next = await deliveries.findNext(delivery.lane);
    if (next)
      await queues.deliver({ deliveryId: next._id, channel: next.channel }, { occasion: `after-${deliveryId}` });
    return { status: 200, body: viewDelivery(delivery) };
  },
});

export const deliveryRoutes = [getDeliveries, getDeliveryCounts, retryDelivery, cancelDelivery];
