import type { DeliveryStores } from "../deliveries/deliveryStores.ts";
import type { JobStores } from "../jobs/jobStores.ts";
import type { Alerts } from "./alerts.ts";
import type { Expectations } from "./expectation.ts";
import type { LastScan } from "./lastScan.ts";
import type { LiveMessages } from "./liveMessage.ts";
import type { Outbox } from "./outbox.ts";
import type { Spans } from "./spans.ts";

/** The collections of rules with their queries, and those of the deliveries that rules make. */
export interface NotificationStores extends JobStores, DeliveryStores {
  /** The events that are not dispatched yet. */
  readonly outbox: Outbox;
  readonly alerts: Alerts;
  readonly expectations: Expectations;
  readonly lastScan: LastScan;
  readonly liveMessages: LiveMessages;
  readonly spans: Spans;
}
