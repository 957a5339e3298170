import type { NewestJob } from "../../models/jobs/search/newestJob.ts";
import type { Badge } from "./badge.ts";

const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** Returns the badge of a name: the state of its newest ended job, and how long ago it ended. */
export function nameBadge(name: string, newest: NewestJob | null, now: Date): Badge {
  if (!newest) return { label: name, message: "no runs", color: "grey" };
  const { status, endedAt, isCancelled } = newest;
  if (status === "running" || !endedAt) return { label: name, message: "running", color: "blue" };
  const message = `${isCancelled ? "cancelled" : status} ${age(now.getTime() - endedAt.getTime())}`;
  return { label: name, message, color: status === "completed" ? "green" : isCancelled ? "grey" : "red" };
}

function age(ms: number): string {
  const [unit, seconds] = UNITS.find(([, size]) => ms >= size * 1_000) ?? [];
  return seconds === undefined ? "just now" : `${Math.floor(ms / 1_000 / seconds)} ${unit} ago`;
}
