import type { ChatEvent } from "../../shared/chatEvent.ts";
import * as f from "../db/fields.ts";

/** How long an update is known after its arrival, so that one that comes again is not handled again. */
const KEEP_SECONDS = 7 * 86_400;

/**
 * An act of a person in a chat, as a service has sent it. It is stored before the service gets its answer, and handled
 * after that.
 */
export const ChatUpdateDoc = f.object({
  /** The channel and the service's own id of the update, so that one that comes again is stored once. */
  _id: f.string,
  channel: f.string,
  /** Null once it was handled. */
  event: f.nullable(f.free<ChatEvent>()),
  /** Whether it waits to be handled. */
  open: f.boolean,
  /** Failed tries to handle it. */
  tries: f.number,
  /** The earliest time of the next try. */
  notBefore: f.nullable(f.date),
  /** MongoDB's time of insertion. */
  order: f.timestamp,
  createdAt: f.date,
});
export type ChatUpdateDoc = f.Stored<typeof ChatUpdateDoc>;

export const chatUpdateSchema = f
  .schemaOf(ChatUpdateDoc)
  .index({ open: 1, order: 1 }, { partialFilterExpression: { open: true } })
  .index({ createdAt: 1 }, { expireAfterSeconds: KEEP_SECONDS });
