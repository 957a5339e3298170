import type { EventType } from "../../config/formats/eventTypes.ts";
import type { Config } from "../../config/schema/config.ts";

/** The events that somebody may want to be notified of. Others are not noted. */
export interface WantedEvents {
  /** The types that rules handle. */
  readonly types: ReadonlySet<EventType>;
  /** Whether jobs and runs may have a `callbackUrl`. */
  readonly callbacks: boolean;
}

export const NO_EVENTS: WantedEvents = { types: new Set(), callbacks: false };

/** Returns the events that the rules of a configuration need. */
export function wantedEvents({ notify, outbound }: Pick<Config, "notify" | "outbound">): WantedEvents {
  const types = notify.flatMap(({ on, after = 1 }): readonly EventType[] => [
    // A recovery is sent only by a rule that has announced the job as stale.
    ...on.filter((type) => type !== "job.recovered" || on.includes("job.stale")),
    // A completion ends a row of failures.
    ...(after > 1 ? (["job.completed"] as const) : []),
  ]);
  return { types: new Set(types), callbacks: outbound !== undefined };
}
