import * as f from "../db/fields.ts";

/** How long an answer to a reply continues its session, after the delivery of the reply was created: 30 days. */
export const KEEP_SECONDS = 30 * 86_400;

/** The part of a delivery that outlives it, so that an answer to its reply continues the session. */
export const ThreadLinkDoc = f.object({
  /** The id of the delivery. */
  _id: f.string,
  /** As in the delivery; `order` too. */
  refs: f.listOf(f.string),
  sessionKey: f.optional(f.string),
  replaces: f.optional(f.string),
  order: f.timestamp,
  createdAt: f.date,
});
export type ThreadLinkDoc = f.Stored<typeof ThreadLinkDoc>;

export const threadLinkSchema = f
  .schemaOf(ThreadLinkDoc)
  .index({ refs: 1, order: -1 })
  .index({ createdAt: 1 }, { expireAfterSeconds: KEEP_SECONDS });
