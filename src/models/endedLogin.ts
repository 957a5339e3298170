import { hash } from "node:crypto";
import type { Documents } from "./db/documents.ts";
import * as f from "./db/fields.ts";

/** The cookie of a browser that has logged out. The record is deleted when the cookie expires. */
export const EndedLoginDoc = f.object({
  /** The SHA-256 hash of the cookie. */
  _id: f.string,
  endsAt: f.date,
});
export type EndedLoginDoc = f.Stored<typeof EndedLoginDoc>;

export const endedLoginSchema = f.schemaOf(EndedLoginDoc).index({ endsAt: 1 }, { expireAfterSeconds: 0 });

export class EndedLogins {
  readonly collection: Documents<EndedLoginDoc>;

  constructor(collection: Documents<EndedLoginDoc>) {
    this.collection = collection;
  }

  /** Invalidates a cookie for all processes. */
  async end(cookie: string, endsAt: Date): Promise<void> {
    const ended = { $set: { endsAt } };
    await this.collection.updateOne({ _id: digest(cookie) }, ended, { upsert: true });
  }

  /** Returns whether a cookie has been invalidated. */
  has(cookie: string): Promise<boolean> {
    return this.collection.exists({ _id: digest(cookie) });
  }

  /** Returns the invalidated ones of the given cookies. */
  async filterEnded(cookies: readonly string[]): Promise<string[]> {
    const byDigest = new Map(cookies.map((cookie) => [digest(cookie), cookie]));
    const found = this.collection.find({ _id: { $in: [...byDigest.keys()] } }, { projection: { _id: 1 } });
    const ended = await found;
    return ended.flatMap(({ _id }) => byDigest.get(_id) ?? []);
  }
}

const digest = (cookie: string): string => hash("sha256", cookie, "base64url");
