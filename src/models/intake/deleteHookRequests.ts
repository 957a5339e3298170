import type { IntakeStores } from "./intakeStores.ts";

type RequestStores = Pick<IntakeStores, "hookRequests" | "runs">;

/** Maximum requests that one batch confirms. */
const BATCH_SIZE = 500;

/**
 * Confirms one batch of requests from before a time whose runs exist, and deletes those whose runs were never stored.
 * @param before no request from before it can still get runs
 * @returns the number of requests of the batch; 0 if none are left
 */
export async function confirmRequests({ hookRequests, runs }: RequestStores, before: Date): Promise<number> {
  const { collection } = hookRequests;
  const open = { unconfirmed: true as const, createdAt: { $lt: before } };
  const options = { projection: { runIds: { $slice: 1 } }, limit: BATCH_SIZE, sort: { createdAt: 1 } } as const;
  const batch = await collection.find(open, options);
  const existing = await runs.findExisting(batch.flatMap(({ runIds }) => runIds.slice(0, 1)));
  const isMade = ({ runIds: [first = ""] }: { readonly runIds: readonly string[] }) => existing.has(first);
  const made = batch.filter(isMade).map(({ _id }) => _id);
  if (made.length > 0) {
    await collection.updateMany({ _id: { $in: made } }, { $unset: { unconfirmed: true } });
  }
  await hookRequests.delete(batch.flatMap((request) => (isMade(request) ? [] : [request._id])));
  return batch.length;
}

/**
 * Deletes the requests of deleted runs, unless other runs of theirs are left.
 * @param runIds the deleted runs
 */
export async function deleteRequestsOf(
  { hookRequests, runs }: RequestStores,
  runIds: readonly string[],
): Promise<void> {
  if (runIds.length === 0) return;
  const options = { projection: { runIds: 1 } };
  const requests = await hookRequests.collection.find({ runIds: { $in: [...runIds] } }, options);
  const others = requests.flatMap((request) => request.runIds);
  const left = others.length > 0 ? await runs.findExisting(others) : new Set<string>();
  await hookRequests.delete(requests.flatMap((one) => (one.runIds.some((id) => left.has(id)) ? [] : [one._id])));
}
