import type { Access } from "../../client/client.ts";
import { hasScope } from "./access.ts";

const GROUPS = [
  [
    "Jobs",
    [
      ["/", "Jobs", /^\/(jobs\/|$)/, "jobs:read"],
      ["/history", "History", /^\/history/, "jobs:read"],
      ["/gates", "Questions", /^\/gates/, "jobs:read"],
    ],
  ],
  [
    "Agent",
    [
      ["/requests", "Hooks", /^\/requests/, "runs:read"],
      ["/runs", "Runs", /^\/runs/, "runs:read"],
      ["/budgets", "Budgets", /^\/budgets/, "runs:read"],
      ["/sessions", "Sessions", /^\/sessions/, "runs:read"],
      ["/deliveries", "Deliveries", /^\/deliveries/, "runs:read"],
    ],
  ],
  [
    "Set-up",
    [
      ["/notify", "Notifications", /^\/notify/, "runs:read"],
      ["/channels", "Channels", /^\/channels/, "runs:read"],
      ["/audit", "Audit", /^\/audit/, "admin"],
      ["/settings", "Settings", /^\/settings/, "runs:read"],
    ],
  ],
] as const;

/** The pages about all jobs, or about the service. */
const UNCONFINED: readonly string[] = ["/history", "/settings"];

/**
 * Returns the pages that an access may open, in groups with their title: address, title, the paths that belong to it, and its
 * scope. A token that is confined to some jobs cannot open the pages about the whole service.
 */
export const pageGroups = (access: Access | null) =>
  GROUPS.map(([title, links]) => ({
    title,
    links: links.filter(
      ([path, , , scope]) => hasScope(access, scope) && (!UNCONFINED.includes(path) || access?.jobIdPrefixes === null),
    ),
  })).filter(({ links }) => links.length > 0);
