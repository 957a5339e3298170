import { exists } from "../newPrimary.ts";
import { readAll } from "../readAll.ts";
import type { MappedCall } from "../run.ts";
import type { Stores } from "../stores.ts";

const BATCH = 500;

/** Reads the call of a run as JSON text, with the one item that the run is for. @throws AppError internal, unavailable */
export async function readCall(
  { hookCalls }: Pick<Stores, "hookCalls">,
  { call, item }: Pick<MappedCall, "call" | "item">,
): Promise<string | null> {
  if (!item) return call;
  const shared = await hookCalls.find(item.call);
  const { payload, ...rest } = JSON.parse(shared.call) as { payload: object };
  return JSON.stringify({ ...rest, payload: { ...payload, [shared.forEach]: [JSON.parse(item.json)] } });
}

/** Deletes a request once none of its runs needs it any more. @throws AppError unavailable */
export async function forgetCall({ hookCalls, runs }: Pick<Stores, "hookCalls" | "runs">, id: string): Promise<void> {
  if (!(await exists(runs.collection, { "mapped.item.call": id }))) await hookCalls.delete([id]);
}

/**
 * Deletes one batch of requests that came before a time and that no run refers to: their runs have been deleted, or their
 * sender was told to come again.
 * @returns how many were deleted; 0 when there are none left
 */
export async function forgetCalls(
  { hookCalls, runs }: Pick<Stores, "hookCalls" | "runs">,
  before: Date,
): Promise<number> {
  const old = await readAll(hookCalls.collection, { createdAt: { $lt: before } }, { projection: { _id: 1 } });
  const unused: string[] = [];
  for (const { _id } of old) {
    if (unused.length < BATCH && !(await exists(runs.collection, { "mapped.item.call": _id }))) unused.push(_id);
  }
  if (unused.length > 0) await hookCalls.delete(unused);
  return unused.length;
}
