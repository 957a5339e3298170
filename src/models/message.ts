import { type mongo, Schema } from "mongoose";
import { guard, insertNew } from "./guard.ts";

/** One message of a session's transcript. */
export interface MessageDoc {
  /** Named after the turn that it belongs to, so that it is there once. */
  _id: string;
  sessionKey: string;
  role: "user" | "assistant";
  content: string;
  /** It came from outside as it is, and is fenced in whenever an agent is shown it. */
  outside: boolean;
  /** The turn's end; the turns of a session follow each other. */
  createdAt: Date;
  /** 0 for what the agent was told, 1 for what it answered. */
  part: 0 | 1;
}

export const messageSchema = new Schema<MessageDoc>(
  { _id: String, sessionKey: String, role: String, content: String, outside: Boolean, createdAt: Date, part: Number },
  { versionKey: false },
);
messageSchema.index({ sessionKey: 1, createdAt: -1, part: -1 });

/** What one turn adds to a transcript. */
export interface Turn {
  readonly sessionKey: string;
  readonly told: string;
  /** Whether `told` came from outside as it is. */
  readonly outside: boolean;
  readonly answered: string;
  readonly endedAt: Date;
}

export class Messages {
  readonly collection: mongo.Collection<MessageDoc>;

  constructor(collection: mongo.Collection<MessageDoc>) {
    this.collection = collection;
  }

  /** Adds a turn to the transcript; one that is there already is left alone. @throws AppError unavailable */
  addTurn(turnId: string, { sessionKey, told, outside, answered, endedAt }: Turn): Promise<void> {
    const common = { sessionKey, createdAt: endedAt };
    return insertNew(this.collection, [
      { ...common, _id: `${turnId}-0`, role: "user", content: told, outside, part: 0 },
      { ...common, _id: `${turnId}-1`, role: "assistant", content: answered, outside: false, part: 1 },
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
