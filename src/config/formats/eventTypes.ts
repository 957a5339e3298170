/** The types of the events that `notify` rules can name in `on`, in the order of the reference. */
export const EVENT_TYPES = [
  "job.completed",
  "job.failed",
  "job.stale",
  "job.recovered",
  "job.missing",
  "run.completed",
  "run.failed",
  "run.dropped",
  "delivery.failed",
  "gate.opened",
  "gate.answered",
  "gate.expired",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];
