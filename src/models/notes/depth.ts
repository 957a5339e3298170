/**
 * The depth of an event is the number of agent turns in a row that events have caused before it. The records of a turn that an
 * event has caused keep the depth: its run, its events, and the delivery of its reply. A record without one has the depth 0.
 */

/** Depth from which rules send no event, so that an agent whose turns cause events does not wake itself without end. */
export const MAX_DEPTH = 3;

/** The header of webhooks, in lower case, that carries the depth of the turn that they may start. */
export const DEPTH_HEADER = "signalbox-depth";

/** Returns the depth that a request to a hook carries; 0 without one. */
export const readDepth = (header: string | string[] | undefined): number =>
  typeof header === "string" && /^\d{1,3}$/.test(header) ? Math.min(Number(header), MAX_DEPTH) : 0;

/** Returns the field of a record with a depth; none for the depth 0. */
export const depthField = (depth: number | undefined): { readonly depth?: number } => (depth ? { depth } : {});
