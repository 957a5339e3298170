import type { Access } from "../../client/client.ts";
import type { Path } from "../paths.ts";
import { hasScope } from "./access.ts";

const PAGES = [
  { group: "Jobs", path: "/", title: "Jobs", scope: "jobs:read" },
  { group: "Jobs", path: "/history", title: "History", scope: "jobs:read" },
  { group: "Jobs", path: "/gates", title: "Questions", scope: "jobs:read" },
  { group: "Agent", path: "/requests", title: "Hooks", scope: "runs:read" },
  { group: "Agent", path: "/runs", title: "Runs", scope: "runs:read" },
  { group: "Agent", path: "/budgets", title: "Budgets", scope: "runs:read" },
  { group: "Agent", path: "/sessions", title: "Sessions", scope: "runs:read" },
  { group: "Agent", path: "/deliveries", title: "Deliveries", scope: "runs:read" },
  { group: "Set-up", path: "/notify", title: "Notifications", scope: "runs:read" },
  { group: "Set-up", path: "/channels", title: "Channels", scope: "runs:read" },
  { group: "Set-up", path: "/audit", title: "Audit", scope: "admin" },
  { group: "Set-up", path: "/settings", title: "Settings", scope: "runs:read" },
] as const;

/** The pages about all jobs, or about the service. */
const UNCONFINED: readonly string[] = ["/history", "/settings"];

/**
 * Returns the pages that an access may open, in groups. A token that is confined to some jobs cannot open the pages about
 * the whole service.
 */
export function pageGroups(access: Access | null) {
  const pages = PAGES.filter(
    ({ path, scope }) => hasScope(access, scope) && (!UNCONFINED.includes(path) || access?.jobIdPrefixes === null),
  );
  return Map.groupBy(pages, ({ group }) => group);
}

/** Whether a link of the navigation leads to the page at a path, or to the list that has its record. */
export const leadsTo = (link: Path, path: Path | null): boolean =>
  path === link || (link === "/" ? path === "/jobs/:jobId" : Boolean(path?.startsWith(`${link}/`)));
