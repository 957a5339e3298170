import type { Config } from "../../config/config.ts";
import type { NotificationType } from "../../shared/notifications/catalogue.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import type { NoteNotifier } from "./note.ts";

/** The events that somebody may want to be notified of. Others are not noted. */
export interface WantedNotifications {
  /** The types that rules handle. */
  readonly types: ReadonlySet<NotificationType>;
  /** Whether jobs and runs may have a `callbackUrl`. */
  readonly callbacks: boolean;
}

/** Who is notified of the changes that updates of records make, and which notifications these updates note. */
export interface NoteOptions {
  readonly changes: ChangeNotifier;
  readonly notes: NoteNotifier;
  readonly wanted: WantedNotifications;
}

export const NO_NOTIFICATIONS: WantedNotifications = { types: new Set(), callbacks: false };

/** Returns the events that the rules of a configuration need. */
export function wantedNotifications({ notify, outbound }: Pick<Config, "notify" | "outbound">): WantedNotifications {
  const types = notify.flatMap(({ on, after = 1 }): readonly NotificationType[] => [
    // A recovery is sent only by a rule that has announced the job as stale.
    ...on.filter((type) => type !== "job.recovered" || on.includes("job.stale")),
    // A completion ends a row of failures.
    ...(after > 1 ? (["job.completed"] as const) : []),
  ]);
  return { types: new Set(types), callbacks: outbound !== undefined };
}
