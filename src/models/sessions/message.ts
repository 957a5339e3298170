import { mongo, Schema } from "mongoose";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { insertAll } from "../db/insertAll.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";

/** One message of a session's transcript. */
export interface MessageDoc {
  /** Named after the turn that it belongs to, so that it is there once. */
  _id: string;
  sessionKey: string;
  role: "user" | "assistant";
  content: string;
  /** It came from outside as it is, and is fenced in whenever an agent is shown it. */
  outside: boolean;
  /** The turn's end. */
  createdAt: Date;
  /** When MongoDB took it: the turns of a session follow each other, whichever worker's clock is wrong. */
  order: mongo.Timestamp;
}

export const messageSchema = new Schema<MessageDoc>(
  {
    _id: String,
    sessionKey: String,
    role: String,
    content: String,
    outside: Boolean,
    createdAt: Date,
    order: Schema.Types.Mixed,
  },
  { versionKey: false },
);
messageSchema.index({ sessionKey: 1, order: -1 });

/** What one turn adds to a transcript. */
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

  /** Adds a turn to the transcript; one that is there already is left alone. @throws AppError unavailable */
  async addTurn(turnId: string, { sessionKey, prompt, outside, reply, endedAt }: Turn): Promise<void> {
    // MongoDB puts its own time into an empty time stamp, a later one into the second.
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

  /** The latest messages, oldest first, at most `limit` and as many as come to `maxChars`. @throws AppError unavailable */
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

  /** The latest messages, oldest first, as many whole turns as the bounds allow. @throws AppError unavailable */
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
