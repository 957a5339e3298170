import { mongo } from "mongoose";
import type { ChatEvent } from "../../shared/chatEvent.ts";
import { insertAll } from "../db/insertAll.ts";
import { Store } from "../db/store.ts";
import type { ChatUpdateDoc } from "./chatUpdate.ts";

/** Failed tries after which an update is set aside. */
const MAX_TRIES = 5;

/** An update that waits. */
export type OpenUpdate = ChatUpdateDoc & { readonly event: ChatEvent };

/** The acts of people in chats that wait to be handled, and those that were handled lately. */
export class ChatUpdates extends Store<ChatUpdateDoc> {
  /** Stores updates of a channel. @returns the number of those that were not known */
  async add(channel: string, updates: readonly { readonly id: string; readonly event: ChatEvent }[]): Promise<number> {
    if (updates.length === 0) return 0;
    const createdAt = this.clock.now();
    const documents = updates.map(({ id, event }) => ({
      _id: `${channel} ${id}`,
      channel,
      event,
      open: true,
      tries: 0,
      notBefore: null,
      order: new mongo.Timestamp({ t: 0, i: 0 }),
      createdAt,
    }));
    const [count = 0] = await insertAll(this.collection, [documents]);
    return count;
  }

  /** Reads the oldest updates that are due. */
  listDue(limit: number): Promise<OpenUpdate[]> {
    const due = { open: true, $or: [{ notBefore: null }, { notBefore: { $lte: this.clock.now() } }] };
    return this.collection.find<OpenUpdate>(due, { sort: { order: 1 }, limit });
  }

  /** Ends an update that was handled. Only its id stays. */
  async end(_id: string): Promise<void> {
    await this.collection.updateOne({ _id }, { $set: { open: false, event: null } });
  }

  /**
   * Counts a failed try.
   * @param retryMs the pause before the next one
   * @returns whether the update was set aside, because it was the last permitted try
   */
  async countFailure({ _id, tries }: OpenUpdate, retryMs: number): Promise<boolean> {
    const isLast = tries + 1 >= MAX_TRIES;
    const notBefore = new Date(this.clock.now().getTime() + retryMs);
    await this.collection.updateOne({ _id }, { $set: { tries: tries + 1, notBefore, open: !isLast } });
    return isLast;
  }
}
