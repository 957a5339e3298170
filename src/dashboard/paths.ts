/**
 * The paths of the page's router. The server responds to these paths only with the page's document. A segment with a
 * colon holds one percent-encoded identifier.
 */
export const PATHS = [
  "/",
  "/jobs/:jobId",
  "/runs",
  "/runs/:runId",
  "/sessions",
  "/sessions/:sessionKey",
  "/deliveries",
  "/channels",
  "/login",
] as const;

export type Path = (typeof PATHS)[number];
