import Type from "typebox";
import { deliveryFault, recipientOn } from "../../models/commands/addDelivery.ts";
import { ID_CURSOR_PATTERN } from "../../models/commands/idCursor.ts";
import { listDeliveries, viewDelivery } from "../../models/commands/readDeliveries.ts";
import { CHANNELS } from "../../shared/configSession.ts";
import { AppError } from "../../shared/errors.ts";
import { route } from "../route.ts";
import * as s from "../schemas.ts";

const closed = { additionalProperties: false } as const;
const State = Type.Enum(["pending", "sent", "failed"]);

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
        limit: s.paging.limit,
        cursor: Type.Optional(
          Type.String({ pattern: ID_CURSOR_PATTERN, description: "The nextCursor of the page before." }),
        ),
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
  summary: "Begin a failed delivery anew; what of it was sent is not sent again",
  schemas: { params: Type.Object({ deliveryId: s.Identifier("As the run's deliveries name it.") }) },
  answers: { 202: s.Delivery },
  errors: ["delivery_not_found", "delivery_state_conflict"],
  async handler({ params }, { stores, queues, channels, firstRoute, clock }) {
    const { deliveryId } = params;
    const failed = await stores.deliveries.find(deliveryId);
    const route = (await stores.sessions.route()) ?? firstRoute;
    const to = failed.to ?? recipientOn(failed.channel, route);
    const fault = deliveryFault(failed.channel, to, channels);
    if (fault) throw new AppError("delivery_state_conflict", { detail: fault });
    const delivery = await stores.deliveries.retry(deliveryId, to);
    await queues.deliver({ deliveryId, channel: delivery.channel }, `retry-${clock.now().getTime()}`);
    return { status: 202, body: viewDelivery(delivery) };
  },
});

export const deliveryRoutes = [getDeliveries, retryDelivery];
