import type { Documents } from "../db/documents.ts";
import type { SessionStores } from "../sessions/sessionStores.ts";
import type { Deliveries } from "./deliveries.ts";
import type { ThreadLinkDoc } from "./threadLink.ts";

/** The collection of deliveries with its queries, and those of the sessions that name where replies go. */
export interface DeliveryStores extends SessionStores {
  readonly deliveries: Deliveries;
  readonly threadLinks: Documents<ThreadLinkDoc>;
}
