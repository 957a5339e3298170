import Type from "typebox";
import { deliveryFault, recipientOn } from "../../models/deliveries/addDelivery.ts";
import { listDeliveries, viewDelivery } from "../../models/deliveries/readDeliveries.ts";
import { CHANNELS } from "../../shared/config/formats/channelNames.ts";
import { AppError } from "../../shared/errors.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const State = Type.Enum(["pending", "sent", "failed"]);

const params = Type.Object({ deliveryId: s.Identifier("As the run's deliveries name it.") });

const getDeliveries = route({
  method: "get",
  path: "/api/deliveries",
  operationId: "listDeliveries",
  tag: "deliveries",
  summary: "Replies on their way to people, newest first; `state=failed` for those that have failed",
  schemas: {
    query: Type.Object(
      {
        state: Type.Optional(Type.Array(State, { minItems: 1, description: "May be repeated: any of them." })),
        channel: Type.Optional(Type.Enum(CHANNELS)),
        ...s.idPaging,
      },
      closed,
    ),
  },
  answers: { 200: Type.Object({ deliveries: Type.Array(s.Delivery), nextCursor: s.nextCursor }, closed) },
  errors: [],
  async handler({ query }, { stores }) {
    const { limit = 100, ...rest } = query;
    return { status: 200, body: await listDeliveries(stores, { limit, ...rest }) };
  },
});

const retryDelivery = route({
  method: "post",
  path: "/api/deliveries/:deliveryId/retry",
  operationId: "retryDelivery",
  tag: "deliveries",
  summary: "Begin a failed delivery anew, or try one that waits at once; what of it was sent is not sent again",
  schemas: { params },
  answers: { 202: s.Delivery },
  errors: ["delivery_not_found", "delivery_state_conflict"],
  async handler({ params }, { stores, queues, channels, initialReplyTarget, clock }) {
    const { deliveryId } = params;
    const found = await stores.deliveries.find(deliveryId);
    const target = (await stores.sessions.replyTarget()) ?? initialReplyTarget;
    const to = found.to ?? recipientOn(found.channel, target);
    const fault = deliveryFault(found.channel, to, channels);
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
  tag: "deliveries",
  summary: "Give a delivery up that was not sent wholly; a part that is being handed over may still arrive",
  schemas: { params },
  answers: { 200: s.Delivery },
  errors: ["delivery_not_found", "delivery_state_conflict"],
  async handler({ params: { deliveryId } }, { stores: { deliveries }, queues }) {
    const delivery = await deliveries.cancel(deliveryId);
    const next = await deliveries.findNext(delivery.lane);
    if (next)
      await queues.deliver({ deliveryId: next._id, channel: next.channel }, { occasion: `after-${deliveryId}` });
    return { status: 200, body: viewDelivery(delivery) };
  },
});

export const deliveryRoutes = [getDeliveries, retryDelivery, cancelDelivery];
