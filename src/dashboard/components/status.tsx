import { Icon, type IconName } from "./icon.tsx";

const TITLES: Readonly<Record<string, readonly [title: string, icon: IconName]>> = {
  running: ["Running", "running"],
  completed: ["Completed", "completed"],
  failed: ["Failed", "failed"],
  queued: ["Queued", "queued"],
  dropped: ["Dropped", "dropped"],
  pending: ["Pending", "queued"],
  sent: ["Sent", "completed"],
};

/** A state as a word with an icon and a colour. */
export function StatusMark({ status, stale = false }: { status: string; stale?: boolean }) {
  const [title, icon] = TITLES[status] ?? [status, "queued"];
  const kind = stale ? "stale" : status;
  return (
    <span
      class={`status status-${kind}`}
      title={stale ? "Running, but without a report for longer than expected" : undefined}
    >
      <Icon name={stale ? "warn" : icon} />
      {stale ? "Stale" : title}
    </span>
  );
}
