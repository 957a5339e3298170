import type { SessionStores } from "../sessions/sessionStores.ts";
import type { Deliveries } from "./deliveries.ts";

/** The collection of deliveries with its queries, and those of the sessions that name where replies go. */
export interface DeliveryStores extends SessionStores {
  readonly deliveries: Deliveries;
}
