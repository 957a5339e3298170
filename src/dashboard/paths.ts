/**
 * The paths of the page's router. The server responds to these paths only with the page's document. A segment with a
 * colon holds one percent-encoded identifier.
 */
export const PATHS = [
  "/",
  "/jobs/:jobId",
  "/history",
  "/gates",
  "/runs",
  "/runs/:runId",
  "/budgets",
  "/sessions",
  "/sessions/:sessionKey",
  "/requests",
  "/requests/:requestId",
  "/deliveries",
  "/notify",
  "/channels",
  "/audit",
  "/settings",
  "/login",
] as const;

export type Path = (typeof PATHS)[number];
