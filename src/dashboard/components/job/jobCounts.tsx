import { useEffect, useState } from "preact/hooks";
import type { Stats } from "../../../client/client.ts";
import { useThrottle } from "../../data/live/useLive.ts";
import { withQuery } from "../../router.ts";
import { countText, Pill } from "../tables/filters.tsx";

const COUNTS = [
  ["All", "total", {}],
  ["Running", "running", { status: "running" }],
  ["Stale", "stale", { stale: "true" }],
  ["Completed", "completed", { status: "completed" }],
  ["Failed", "failed", { status: "failed" }],
  ["Cancelled", "cancelled", { cancelled: "true" }],
] as const;

/** The filters that a link of the counts sets; the others are removed. */
const COUNTED = { status: null, stale: null, cancelled: null } as const;

/** The number of jobs in each state that match the other filters, as links that choose the state. */
export function JobCounts({ stats, query }: { stats: Stats | null; query: URLSearchParams }) {
  return (
    <nav class="counts" aria-label="Jobs by state">
      <SpokenCounts stats={stats} />
      {COUNTS.map(([title, key, wanted]) => {
        const href = withQuery(query, { ...COUNTED, ...wanted });
        const isHere = withQuery(query, {}) === href && query.getAll("status").length < 2;
        const rows = key === "cancelled" ? undefined : (stats?.jobs[key] ?? null);
        return (
          <Pill key={key} kind={key} href={href} isCurrent={isHere} rows={rows} isCapped={stats?.capped}>
            {title}
          </Pill>
        );
      })}
    </nav>
  );
}

const ANNOUNCE_EVERY_MS = 30_000;

/** The counts for screen readers, announced at a limited rate. */
function SpokenCounts({ stats }: { stats: Stats | null }) {
  const [announced, setAnnounced] = useState(stats);
  const announce = useThrottle(() => setAnnounced(stats), ANNOUNCE_EVERY_MS);
  useEffect(() => {
    if (stats) announce();
  }, [stats]);
  return (
    <span class="unseen" role="status">
      {announced && spoken(announced)}
    </span>
  );
}

function spoken({ jobs, capped }: Stats): string {
  const [total, running, stale, failed] = [jobs.total, jobs.running, jobs.stale, jobs.failed].map((rows) =>
    countText(rows, capped),
  );
  return `${total} jobs: ${running} running, ${stale} stale, ${failed} failed`;
}
