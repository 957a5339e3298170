import { type mongo, Schema } from "mongoose";
import { guard, insertNew } from "./guard.ts";

/** One message of a session's transcript. */
export interface MessageDoc {
  /** Named after the turn that it belongs to, so that it is there once. */
  _id: string;
  sessionKey: string;
  role: "user" | "assistant";
  content: string;
  /** The turn's end; the turns of a session follow each other. */
  createdAt: Date;
  /** 0 for what the agent was told, 1 for what it answered. */
  part: 0 | 1;
}

export const messageSchema = new Schema<MessageDoc>(
  { _id: String, sessionKey: String, role: String, content: String, createdAt: Date, part: Number },
  { versionKey: false },
);
messageSchema.index({ sessionKey: 1, createdAt: -1, part: -1 });

export class Messages {
  readonly collection: mongo.Collection<MessageDoc>;

  constructor(collection: mongo.Collection<MessageDoc>) {
    this.collection = collection;
  }

  /** Adds a turn to the transcript; one that is there already is left alone. @throws AppError unavailable */
  addTurn(turnId: string, sessionKey: string, told: string, answered: string, createdAt: Date): Promise<void> {
    return insertNew(this.collection, [
      { _id: `${turnId}-0`, sessionKey, role: "user", content: told, createdAt, part: 0 },
      { _id: `${turnId}-1`, sessionKey, role: "assistant", content: answered, createdAt, part: 1 },
    ]);
  }

  /** Deletes the transcripts of sessions. @throws AppError unavailable */
  async deleteOf(sessionKeys: readonly string[]): Promise<void> {
    await guard(() => this.collection.deleteMany({ sessionKey: { $in: [...sessionKeys] } }));
  }

  /** The latest messages, oldest first, as many whole turns as the bounds allow. */
  async findRecent(sessionKey: string, bounds: { maxMessages: number; maxChars: number }): Promise<MessageDoc[]> {
    const newest = await guard(() =>
      this.collection
        .find({ sessionKey })
        .sort({ createdAt: -1, part: -1 })
        .limit(bounds.maxMessages - (bounds.maxMessages % 2))
        .toArray(),
    );
    const kept: MessageDoc[] = [];
    let chars = 0;
    for (let i = 0; i + 1 < newest.length; i += 2) {
      const turn = newest.slice(i, i + 2);
      chars += turn.reduce((sum, { content }) => sum + content.length, 0);
      if (chars > bounds.maxChars) break;
      kept.push(...turn);
    }
    return kept.reverse();
  }
}
