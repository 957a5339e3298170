import { exists } from "../db/caughtUpPrimary.ts";
import type { MappedCall } from "../runs/run.ts";
import type { Runs } from "../runs/runs.ts";
import type { HookCalls } from "./hookCall.ts";

/** The collections that these commands use. */
interface CallStores {
  readonly hookCalls: HookCalls;
  readonly runs: Runs;
}

/** Reads the call of a run as JSON text, with the one item that the run is for. @throws AppError internal, unavailable */
export async function readCall(
  { hookCalls }: Pick<CallStores, "hookCalls">,
  { call, item }: Pick<MappedCall, "call" | "item">,
): Promise<string | null> {
  if (!item) return call;
  const shared = await hookCalls.find(item.call);
  const { payload, ...rest } = JSON.parse(shared.call) as { payload: object };
  return JSON.stringify({ ...rest, payload: { ...payload, [shared.forEach]: [JSON.parse(item.json)] } });
}

/** Deletes a request once none of its runs needs it any more. @returns whether it did @throws AppError unavailable */
export async function forgetCall({ hookCalls, runs }: CallStores, id: string): Promise<boolean> {
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
export async function forgetCalls(stores: CallStores, before: Date, signal?: AbortSignal): Promise<number> {
  let deleted = 0;
  const old = stores.hookCalls.collection.find({ createdAt: { $lt: before } }, { projection: { _id: 1 } });
  for await (const { _id } of old) {
    if (signal?.aborted) break;
    if (await forgetCall(stores, _id)) deleted++;
  }
  return deleted;
}
