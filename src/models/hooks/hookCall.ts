import { type mongo, Schema } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import { exists, readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { insertAll } from "../db/insertAll.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import type { MappedCall } from "../runs/run.ts";
import type { Runs } from "../runs/runs.ts";

/** A request to a mapping with `forEach`, stored once for all runs that it became. */
export interface HookCallDoc {
  /** The id of the first of its runs. */
  _id: string;
  /** The array of items, which is empty in `call`. */
  forEach: string;
  /** The call as JSON. */
  call: string;
  /** How many characters its runs may be told together. */
  maxTold: number;
  /** How many they have been told. */
  told: number;
  createdAt: Date;
}

export const hookCallSchema = new Schema<HookCallDoc>(
  { _id: String, forEach: String, call: String, maxTold: Number, told: Number, createdAt: Date },
  { versionKey: false },
);

export type NewHookCall = Pick<HookCallDoc, "forEach" | "call" | "maxTold">;

export class HookCalls {
  readonly collection: mongo.Collection<HookCallDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<HookCallDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Stores a request; one that is there stays as it is. @throws AppError unavailable */
  async add(_id: string, call: NewHookCall): Promise<void> {
    const created = { _id, ...call, told: 0, createdAt: this.#clock.now() };
    await mapMongoErrors(() => insertAll(this.collection, [[created]]));
  }

  /** @throws AppError internal where there is none; unavailable */
  async find(_id: string): Promise<HookCallDoc> {
    const found = await readFromCaughtUpPrimary(this.collection, () => this.collection.findOne({ _id }));
    if (!found) throw new AppError("internal", { cause: new Error("the request of a run is gone") });
    return found;
  }

  /** Counts what a run is told. @returns false where that is more than all runs of the request may be told */
  async reservePromptChars(_id: string, chars: number): Promise<boolean> {
    const room = { _id, $expr: { $lte: [{ $add: ["$told", chars] }, "$maxTold"] } };
    const { matchedCount } = await mapMongoErrors(() => this.collection.updateOne(room, { $inc: { told: chars } }));
    return matchedCount === 1;
  }

  /** Deletes a request. @throws AppError unavailable */
  async delete(_id: string): Promise<void> {
    await mapMongoErrors(() => this.collection.deleteOne({ _id }));
  }
}

/** The collections that these commands use. */
interface CallStores {
  readonly hookCalls: HookCalls;
  readonly runs: Runs;
}

/** Reads the call of a run as JSON text, with the one item that the run is for. @throws AppError internal, unavailable */
export async function readHookCall(
  { hookCalls }: Pick<CallStores, "hookCalls">,
  { call, item }: Pick<MappedCall, "call" | "item">,
): Promise<string | null> {
  if (!item) return call;
  const shared = await hookCalls.find(item.call);
  const { payload, ...rest } = JSON.parse(shared.call) as { payload: object };
  return JSON.stringify({ ...rest, payload: { ...payload, [shared.forEach]: [JSON.parse(item.json)] } });
}

/** Deletes a request once none of its runs needs it any more. @returns whether it did @throws AppError unavailable */
export async function deleteUnusedCall({ hookCalls, runs }: CallStores, id: string): Promise<boolean> {
  if (await exists(runs.collection, { "mapped.item.call": id })) return false;
  await hookCalls.delete(id);
  return true;
}

/**
 * Deletes the requests that came before a time and that no run refers to: their runs have been deleted, or their sender was
 * told to come again. Ends early when the signal fires.
 * @returns how many were deleted
 * @throws AppError unavailable
 */
export async function deleteUnusedCalls(stores: CallStores, before: Date, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  const old = stores.hookCalls.collection.find({ createdAt: { $lt: before } }, { projection: { _id: 1 } });
  for await (const { _id } of old) {
    if (signal?.aborted) break;
    if (await deleteUnusedCall(stores, _id)) deleted++;
  }
  return deleted;
}
