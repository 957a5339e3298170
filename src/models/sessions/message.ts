import { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { BsonDate, BsonTimestamp, closedObject, defineCollection } from "../db/collection.ts";
import { insertAll } from "../db/insertAll.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";

/** A message in a session's transcript. */
export const MessageDoc = closedObject({
  /** Derived from the turn, so that a repeated write does not store the message twice. */
  _id: Type.String(),
  sessionKey: Type.String(),
  role: Type.Enum(["user", "assistant"]),
  content: Type.String(),
  /** Whether it is text from outside, unchanged. Prompts that include it mark it as such. */
  outside: Type.Boolean(),
  /** When the turn ended. */
  createdAt: BsonDate,
  /** MongoDB's time of insertion. Orders the turns of a session even if a worker's clock is wrong. */
  order: BsonTimestamp,
});
export type MessageDoc = Static<typeof MessageDoc>;

export const messageCollection = defineCollection(MessageDoc, [{ keys: { sessionKey: 1, order: -1 } }]);

/** A turn that is added to a transcript. */
export interface Turn {
  readonly sessionKey: string;
  readonly prompt: string;
  /** Whether the prompt is text from outside, unchanged. */
  readonly outside: boolean;
  readonly reply: string;
  readonly endedAt: Date;
}

export class Messages {
  readonly collection: mongo.Collection<MessageDoc>;

  constructor(collection: mongo.Collection<MessageDoc>) {
    this.collection = collection;
  }

  /** Adds a turn to the transcript. One that exists already stays unchanged. @throws AppError unavailable */
  async addTurn(turnId: string, { sessionKey, prompt, outside, reply, endedAt }: Turn): Promise<void> {
    // MongoDB replaces an empty timestamp by its time. The second message gets a later one.
    const common = () => ({ sessionKey, createdAt: endedAt, order: new mongo.Timestamp({ t: 0, i: 0 }) });
    const messages: MessageDoc[] = [
      { ...common(), _id: `${turnId}-0`, role: "user", content: prompt, outside },
      { ...common(), _id: `${turnId}-1`, role: "assistant", content: reply, outside: false },
    ];
    await mapMongoErrors(() => insertAll(this.collection, [messages]));
  }

  /** Deletes the transcripts of sessions. @throws AppError unavailable */
  async deleteOf(sessionKeys: readonly string[]): Promise<void> {
    await mapMongoErrors(() => this.collection.deleteMany({ sessionKey: { $in: [...sessionKeys] } }));
  }

  /**
   * Returns the latest messages, oldest first: at most `limit`, and only as many as fit into `maxChars`, but at least one.
   * @throws AppError unavailable
   */
  findLatest(sessionKey: string, { limit, maxChars }: { limit: number; maxChars: number }): Promise<MessageDoc[]> {
    return readFromCaughtUpPrimary(this.collection, async () => {
      const newestFirst: MessageDoc[] = [];
      let chars = 0;
      for await (const message of this.collection.find({ sessionKey }).sort({ order: -1 }).limit(limit)) {
        chars += message.content.length;
        if (chars > maxChars && newestFirst.length > 0) break;
        newestFirst.push(message);
      }
      return newestFirst.reverse();
    });
  }

  /** Returns the latest messages, oldest first: as many whole turns as fit. @throws AppError unavailable */
  findRecent(sessionKey: string, bounds: { maxMessages: number; maxChars: number }): Promise<MessageDoc[]> {
    return readFromCaughtUpPrimary(this.collection, async () => {
      const newestFirst: MessageDoc[] = [];
      let chars = 0;
      let answer: MessageDoc | undefined;
      for await (const message of this.collection.find({ sessionKey }).sort({ order: -1 })) {
        chars += message.content.length;
        if (chars > bounds.maxChars || newestFirst.length + 2 > bounds.maxMessages) break;
        if (answer) newestFirst.push(answer, message);
        answer = answer ? undefined : message;
      }
      return newestFirst.reverse();
    });
  }
}
