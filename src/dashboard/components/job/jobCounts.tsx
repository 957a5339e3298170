import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Stats } from "../../../client/client.ts";
import { useThrottle } from "../../data/live/useThrottle.ts";
import { withQuery } from "../../router.ts";
import { count } from "../../time.ts";

const COUNTS = [
  ["All", "total", {}],
  ["Running", "running", { status: "running" }],
  ["Stale", "stale", { stale: "true" }],
  ["Completed", "completed", { status: "completed" }],
  ["Failed", "failed", { status: "failed" }],
] as const;

/** The filters that a link of the counts sets; the others are removed. */
const COUNTED = { status: null, stale: null, cancelled: null } as const;

/** The number of jobs in each state that match the other filters, as links that choose the state. */
export function JobCounts({ stats, query }: { stats: Stats | null; query: URLSearchParams }) {
  return (
    <nav class="counts" aria-label="Jobs by state">
      <SpokenCounts stats={stats} />
      {COUNTS.map(([title, key, wanted]) => {
        return (
          <CountLink key={key} query={query} wanted={wanted} kind={key}>
            {title} <b class={stats?.jobs[key] ? "some" : undefined}>{stats ? counted(stats, key) : "–"}</b>
          </CountLink>
        );
      })}
      <CountLink query={query} wanted={{ cancelled: "true" }} kind="cancelled">
        Cancelled
      </CountLink>
    </nav>
  );
}

/** Returns a count; with a plus if more jobs match than were counted. */
const counted = ({ jobs, capped }: Stats, key: keyof Stats["jobs"]): string => count(jobs[key]) + (capped ? "+" : "");

interface CountLinkProps {
  readonly query: URLSearchParams;
  readonly wanted: Readonly<Record<string, string>>;
  readonly kind: string;
  readonly children: ComponentChildren;
}

/** A link to the list with other filters. */
function CountLink({ query, wanted, kind, children }: CountLinkProps) {
  const href = withQuery(query, { ...COUNTED, ...wanted });
  const isHere = withQuery(query, {}) === href && query.getAll("status").length < 2;
  return (
    <a href={href} class={`count count-${kind}`} aria-current={isHere ? "true" : undefined}>
      {children}
    </a>
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

const spoken = (stats: Stats): string =>
  `${counted(stats, "total")} jobs: ${counted(stats, "running")} running, ${counted(stats, "stale")} stale, ${counted(stats, "failed")} failed`;
