/**
 * The addresses of the page's own router. The server answers all of them with the page's one document, and nothing else
 * with it; a segment after a colon holds one percent-encoded identifier.
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
