import type { Config } from "../../config/config.ts";
import { PROGRESS } from "../../config/notify.ts";
import { traceTarget } from "../../config/otel.ts";
import type { NotificationType } from "../../shared/notifications/catalogue.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import type { NoteNotifier } from "./note.ts";

/** The notifications that somebody may want. Others are not noted. */
export interface WantedNotifications {
  /** The types that rules handle. */
  readonly types: ReadonlySet<NotificationType>;
  /** Whether jobs and runs may have a `callbackUrl`. */
  readonly callbacks: boolean;
  /** Whether traces are sent of jobs and agent runs that end. */
  readonly traces: boolean;
}

/** The receivers of the changes that updates of records make, and the notifications that these updates note. */
export interface NoteOptions {
  readonly changes: ChangeNotifier;
  readonly notes: NoteNotifier;
  readonly wanted: WantedNotifications;
}

/** The types that end a job. */
const JOB_ENDS = ["job.completed", "job.failed"] as const satisfies readonly NotificationType[];

/** Returns the types of the notifications that a rule needs. A message that follows a job ends with the job. */
export const withoutProgress = (on: Config["notify"][number]["on"]): NotificationType[] =>
  on.flatMap((type) => (type === PROGRESS ? JOB_ENDS : [type]));

export const NO_NOTIFICATIONS: WantedNotifications = { types: new Set(), callbacks: false, traces: false };

/** Returns the notifications that the rules of a configuration need. */
export function wantedNotifications({
  notify,
  outbound,
  otel,
}: Pick<Config, "notify" | "outbound" | "otel">): WantedNotifications {
  const types = notify.flatMap(({ on, after = 1 }): readonly NotificationType[] => [
    // A recovery is sent only by a rule that has announced the job as stale.
    ...withoutProgress(on).filter((type) => type !== "job.recovered" || on.includes("job.stale")),
    // A completion ends a row of failures.
    ...(after > 1 ? (["job.completed"] as const) : []),
  ]);
  return { types: new Set(types), callbacks: outbound !== undefined, traces: traceTarget(otel) !== undefined };
}
