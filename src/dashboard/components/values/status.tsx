import { Icon, type IconName } from "../icon.tsx";

const TITLES: Readonly<Record<string, readonly [title: string, icon: IconName]>> = {
  running: ["Running", "running"],
  completed: ["Completed", "completed"],
  failed: ["Failed", "failed"],
  cancelled: ["Cancelled", "dropped"],
  "left-open": ["Left open", "dropped"],
  queued: ["Queued", "queued"],
  dropped: ["Dropped", "dropped"],
  pending: ["Pending", "queued"],
  sent: ["Sent", "completed"],
  open: ["Open", "help"],
  answered: ["Answered", "completed"],
  expired: ["Expired", "queued"],
  withdrawn: ["Withdrawn", "dropped"],
  waiting: ["Waiting", "help"],
  accepted: ["Accepted", "completed"],
  filtered: ["Filtered", "dropped"],
  refused: ["Refused", "failed"],
};

const NOTES: Readonly<Record<string, string>> = {
  "left-open": "The job ended while this step was still running",
};

/** A state as a word with an icon and a colour. */
export function StatusMark({ status, stale = false }: { status: string; stale?: boolean }) {
  const [title, icon] = TITLES[status] ?? [status, "queued"];
  const kind = stale ? "stale" : status;
  return (
    <span
      class={`status status-${kind}`}
      title={stale ? "Running, but without a report for longer than expected" : NOTES[status]}
    >
      <Icon name={stale ? "warn" : icon} />
      {stale ? "Stale" : title}
    </span>
  );
}
