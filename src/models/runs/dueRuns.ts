import type { Documents } from "../db/documents.ts";
import { type DueRun, NEXT_OF_SESSION, type RunDoc } from "./run.ts";

/**
 * Lists the next run of each session that has waited since before a time, or whose worker's lease has expired. Reads one document
 * for each session with open runs, however many runs the session has.
 */
export function listDueRuns(collection: Documents<RunDoc>, now: Date, before: Date): AsyncIterable<DueRun> {
  const first = (field: string) => ({ $first: `$${field}` });
  const pipeline = [
    { $match: { open: true } },
    { $sort: { sessionKey: 1, order: 1 } },
    {
      $group: {
        _id: "$sessionKey",
        id: first("_id"),
        status: first("status"),
        attempts: first("attempts"),
        stage: first("stage"),
        createdAt: first("createdAt"),
        notBefore: first("notBefore"),
        lease: first("lease"),
      },
    },
    {
      $match: {
        createdAt: { $lt: before },
        stage: "turn",
        $or: [
          { status: "queued", notBefore: null },
          { status: "queued", notBefore: { $lte: now } },
          { status: "running", "lease.until": { $lte: now } },
        ],
      },
    },
  ];
  return collection.aggregateStream<DueRun>(pipeline, { hint: NEXT_OF_SESSION });
}

/** A run whose mapping is not applied yet. */
export type UnmappedRun = Pick<RunDoc, "_id" | "round"> & { readonly mapped: { readonly mapping: string } | null };

/** Lists the runs that have waited for their mapping since before a time, the oldest first. */
export function listUnmapped(collection: Documents<RunDoc>, before: Date): AsyncIterable<UnmappedRun> {
  const query = { open: true, stage: "mapping" as const, createdAt: { $lt: before } };
  const projection = { round: 1, "mapped.mapping": 1 };
  return collection.stream<UnmappedRun>(query, { projection, sort: { createdAt: 1 } });
}

/** Lists the runs that ended before a time and are not finalized. */
export function listUnfinalized(collection: Documents<RunDoc>, before: Date): AsyncIterable<Pick<RunDoc, "_id">> {
  return collection.stream({ finalized: false, endedAt: { $lt: before } }, { projection: { _id: 1 } });
}

/** Lists the gates for which runs wait. */
export async function listAwaitedGates(collection: Documents<RunDoc>): Promise<string[]> {
  const groups = [{ $match: { status: "waiting" } }, { $group: { _id: "$awaits.gateId" } }];
  return (await collection.aggregate<{ _id: string }>(groups)).map(({ _id }) => _id);
}
