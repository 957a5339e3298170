import { AppError } from "../../shared/errors.ts";
import * as f from "../db/fields.ts";
import { insertAll } from "../db/insertAll.ts";
import { Store } from "../db/store.ts";
import type { MappedCall } from "./run.ts";
import type { Runs } from "./runs.ts";

/** A request to a mapping with `forEach`, stored once for all of its runs. */
export const HookCallDoc = f.object({
  /** The id of the first of its runs. */
  _id: f.string,
  /** The field of the payload that holds the items, unless the payload is an array itself. The array is empty in `call`. */
  forEach: f.string,
  /** The call as JSON. */
  call: f.string,
  /** Maximum characters of the prompts of all its runs together. */
  maxPromptChars: f.number,
  /** The characters of the prompts so far. */
  promptChars: f.number,
  createdAt: f.date,
});
export type HookCallDoc = f.Stored<typeof HookCallDoc>;

export const hookCallSchema = f.schemaOf(HookCallDoc);

export type NewHookCall = Pick<HookCallDoc, "forEach" | "call" | "maxPromptChars">;

export class HookCalls extends Store<HookCallDoc> {
  /** Stores a request. One that exists already stays unchanged. */
  async add(_id: string, call: NewHookCall): Promise<void> {
    const created = { _id, ...call, promptChars: 0, createdAt: this.clock.now() };
    await insertAll(this.collection, [[created]]);
  }

  /** Reads a request. @throws AppError internal if it does not exist, unavailable */
  async find(_id: string): Promise<HookCallDoc> {
    const found = await this.collection.findOne({ _id });
    if (!found) throw new AppError("internal", { cause: new Error("the stored request of a run does not exist") });
    return found;
  }

  /**
   * Adds the length of a run's prompt to the request's total.
   * @returns false, without a change, if the total would exceed `maxPromptChars`
   */
  async reservePromptChars(_id: string, chars: number): Promise<boolean> {
    const room = { _id, $expr: { $lte: [{ $add: ["$promptChars", chars] }, "$maxPromptChars"] } };
    const { matchedCount } = await this.collection.updateOne(room, { $inc: { promptChars: chars } });
    return matchedCount === 1;
  }

  /** Deletes a request. */
  async delete(_id: string): Promise<void> {
    await this.collection.deleteOne({ _id });
  }
}

/** The collections that these commands use. */
interface CallStores {
  readonly hookCalls: HookCalls;
  readonly runs: Runs;
}

/** Reads the call of a run as JSON text, with only the run's own item. @throws AppError internal, unavailable */
export async function readHookCall(
  { hookCalls }: Pick<CallStores, "hookCalls">,
  { call, item }: Pick<MappedCall, "call" | "item">,
): Promise<string | null> {
  if (!item) return call;
  const shared = await hookCalls.find(item.call);
  const { payload, ...rest } = JSON.parse(shared.call) as { payload: object };
  const items = [JSON.parse(item.json)];
  return JSON.stringify({ ...rest, payload: Array.isArray(payload) ? items : { ...payload, [shared.forEach]: items } });
}

/** Deletes a request unless a run still needs it. @returns whether it was deleted */
export async function deleteUnusedCall({ hookCalls, runs }: CallStores, id: string): Promise<boolean> {
  if (await runs.collection.exists({ "mapped.item.call": id })) return false;
  await hookCalls.delete(id);
  return true;
}

/**
 * Deletes the requests from before a time that no run refers to, because their runs were deleted or the request was rejected.
 * @yields the number of deleted requests, 0 or 1, after each
 */
export async function* deleteUnusedCalls(stores: CallStores, before: Date): AsyncGenerator<number, void> {
  const old = stores.hookCalls.collection.stream({ createdAt: { $lt: before } }, { projection: { _id: 1 } });
  for await (const { _id } of old) yield (await deleteUnusedCall(stores, _id)) ? 1 : 0;
}
