import { checkDeliveries } from "./checkDeliveries.ts";
import { checkHooks, checkRuns, checkSessions } from "./checkHooks.ts";
import { checkReads, checkReports, checkRunReads } from "./checkJobs.ts";
import { checkNotifications } from "./checkNotifications.ts";
import type { History } from "./history.ts";
import type { Violation } from "./violation.ts";

/** Returns all violations in a history; a pure function. */
export function check(history: History): Violation[] {
  const refused = history.refusals.map(({ what, status, text }) => `${what} was answered ${status}: ${text}`);
  return [
    ...checkReports(history),
    ...checkReads(history),
    ...checkRunReads(history),
    ...checkHooks(history),
    ...checkRuns(history),
    ...checkSessions(history),
    ...checkDeliveries(history),
    ...checkNotifications(history),
    ...refused.map((what): Violation => ({ kind: "refused", what })),
    ...history.crashes.map((what): Violation => ({ kind: "crashed", what })),
  ];
}
