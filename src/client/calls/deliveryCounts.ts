import type { Call, CallOptions } from "../api.ts";
import type { DeliveryKind, DeliveryState } from "../records/runs.ts";

/** The number of deliveries in each state: see `GET /api/deliveries/counts`. */
export type DeliveryCounts = Record<DeliveryState | "total", number> & { capped: boolean };

/** Returns the call that counts the deliveries that match a filter, for the page: it is not part of the client. */
export const deliveryCounts =
  (call: Call) => (filter: { channel?: string; kind?: DeliveryKind; rule?: string }, options?: CallOptions) =>
    call<DeliveryCounts>("GET", "/api/deliveries/counts", { ...options, query: filter });
