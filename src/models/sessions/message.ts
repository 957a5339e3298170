import { mongo } from "mongoose";
import { RETURN_EVENTS } from "../../wire/runs/return.ts";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import { insertAll } from "../db/insertAll.ts";

const Returned = f.object({
  sentence: f.string,
  of: f.listOf(f.object({ jobId: f.string, event: f.oneOf(RETURN_EVENTS) })),
});

/** A message in a session's transcript. */
export const MessageDoc = f.object({
  /** Derived from the turn, so that a repeated write does not store the message twice. */
  _id: f.string,
  sessionKey: f.string,
  role: f.oneOf(["user", "assistant"]),
  content: f.string,
  /** Whether it is text from outside, unchanged. Prompts that include it mark it as such. */
  outside: f.boolean,
  /** Only of a return: the sentence before the text from outside, and the transitions that the message is about. */
  returned: f.optional(Returned),
  /** When the turn ended. */
  createdAt: f.date,
  /** MongoDB's time of insertion. Orders the turns of a session even if a worker's clock is wrong. */
  order: f.timestamp,
});
export type MessageDoc = f.Stored<typeof MessageDoc>;

export const messageSchema = f.schemaOf(MessageDoc).index({ sessionKey: 1, order: -1 }).index({ createdAt: 1 });

/** Maximum messages that one command deletes. */
const BATCH_SIZE = 500;

/** A turn that is added to a transcript. */
export interface Turn {
  readonly sessionKey: string;
  readonly prompt: string;
  /** Whether the prompt is text from outside, unchanged. */
  readonly outside: boolean;
  readonly reply: string;
  readonly endedAt: Date;
  readonly returned?: MessageDoc["returned"];
}

interface MessagePage {
  /** Oldest first. */
  readonly messages: MessageDoc[];
  /** The cursor of the page with the messages before; null if there are none. */
  readonly nextCursor: string | null;
}

/** The format of a cursor of messages: the two numbers of MongoDB's timestamp in base 36. */
export const MESSAGE_CURSOR_PATTERN = "^[0-9a-z]{1,7}-[0-9a-z]{1,7}$";

const cursorOf = ({ order }: MessageDoc): string =>
  `${order.getHighBitsUnsigned().toString(36)}-${order.getLowBitsUnsigned().toString(36)}`;

function orderOf(cursor: string): mongo.Timestamp {
  const [high = 0, low = 0] = cursor.split("-").map((part) => Number.parseInt(part, 36) >>> 0);
  return new mongo.Timestamp({ t: high, i: low });
}

export class Messages {
  readonly collection: Documents<MessageDoc>;

  constructor(collection: Documents<MessageDoc>) {
    this.collection = collection;
  }

  /** Adds a turn to the transcript. One that exists already stays unchanged. */
  async addTurn(turnId: string, { sessionKey, prompt, outside, reply, endedAt, returned }: Turn): Promise<void> {
    // MongoDB replaces an empty timestamp by its time. The second message gets a later one.
    const common = () => ({ sessionKey, createdAt: endedAt, order: new mongo.Timestamp({ t: 0, i: 0 }) });
    const messages: MessageDoc[] = [
      { ...common(), _id: `${turnId}-0`, role: "user", content: prompt, outside, ...(returned && { returned }) },
      { ...common(), _id: `${turnId}-1`, role: "assistant", content: reply, outside: false },
    ];
    await insertAll(this.collection, [messages]);
  }

  /** Deletes the transcripts of sessions. */
  async deleteOf(sessionKeys: readonly string[]): Promise<void> {
    await this.collection.deleteMany({ sessionKey: { $in: [...sessionKeys] } });
  }

  /** Deletes one batch of messages from before a time. @returns their number; 0 if none are left */
  async deleteBefore(time: Date): Promise<number> {
    const old = { createdAt: { $lt: time } };
    const batch = await this.collection.find(old, { projection: { _id: 1 }, limit: BATCH_SIZE });
    if (batch.length === 0) return 0;
    await this.collection.deleteMany({ ...old, _id: { $in: batch.map(({ _id }) => _id) } });
    return batch.length;
  }

  /**
   * Returns the latest messages, oldest first: at most `limit`, and only as many as fit into `maxChars`, but at least one.
   * @param cursor the cursor of the page with the messages that follow; it must match MESSAGE_CURSOR_PATTERN
   */
  findLatest(
    sessionKey: string,
    { limit, maxChars, cursor }: { limit: number; maxChars: number; cursor?: string | undefined },
  ): Promise<MessagePage> {
    const query = { sessionKey, ...(cursor !== undefined && { order: { $lt: orderOf(cursor) } }) };
    return this.collection.read(async () => {
      const newestFirst: MessageDoc[] = [];
      let chars = 0;
      let hasMore = false;
      for await (const message of this.collection.stream(query, { sort: { order: -1 }, limit: limit + 1 })) {
        chars += message.content.length;
        hasMore = newestFirst.length === limit || (chars > maxChars && newestFirst.length > 0);
        if (hasMore) break;
        newestFirst.push(message);
      }
      const oldest = newestFirst.at(-1);
      return { messages: newestFirst.reverse(), nextCursor: hasMore && oldest ? cursorOf(oldest) : null };
    });
  }

  /** Returns the latest messages, oldest first: as many whole turns as fit. */
  findRecent(sessionKey: string, bounds: { maxMessages: number; maxChars: number }): Promise<MessageDoc[]> {
    return this.collection.read(async () => {
      const newestFirst: MessageDoc[] = [];
      let chars = 0;
      let answer: MessageDoc | undefined;
      for await (const message of this.collection.stream({ sessionKey }, { sort: { order: -1 } })) {
        chars += message.content.length;
        if (chars > bounds.maxChars || newestFirst.length + 2 > bounds.maxMessages) break;
        if (answer) newestFirst.push(answer, message);
        answer = answer ? undefined : message;
      }
      return newestFirst.reverse();
    });
  }
}
