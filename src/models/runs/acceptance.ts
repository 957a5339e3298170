import { mongo } from "mongoose";
import type { Documents } from "../db/documents.ts";
import { nameWords } from "../db/nameSearch.ts";
import { depthField } from "../notes/depth.ts";
import { type RunDoc, WAITING_OF_MAPPING } from "./run.ts";

export type NewRun = Pick<RunDoc, "_id" | "kind" | "name" | "sessionKey" | "singleUse" | "mapped" | "request"> & {
  readonly requestId?: string;
  readonly replayOf?: string;
  readonly againOf?: string;
  readonly fingerprint?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly depth?: number | undefined;
  readonly traceparent?: string | undefined;
  readonly notBefore?: Date;
} & Pick<RunDoc, "returnOf" | "gathersUntil" | "chain">;

/** Returns the document of an accepted run. */
export const newRunDoc = (
  { fingerprint, callbackUrl, depth, traceparent, notBefore, ...run }: NewRun,
  createdAt: Date,
): RunDoc => ({
  ...run,
  nameWords: nameWords(run.name ?? ""),
  ...(fingerprint !== undefined && { fingerprint }),
  ...(callbackUrl !== undefined && { callbackUrl }),
  ...depthField(depth),
  ...(traceparent !== undefined && { traceparent }),
  stage: run.request ? "turn" : "mapping",
  order: new mongo.Timestamp({ t: 0, i: 0 }), // MongoDB replaces an empty timestamp by its time.
  status: "queued",
  open: true,
  attempts: 0,
  round: 0,
  reply: null,
  error: null,
  createdAt,
  startedAt: null,
  endedAt: null,
  notBefore: notBefore ?? null,
  lease: null,
  finalized: null,
  forgotten: false,
});

/** Counts the waiting runs of a mapping, up to a limit. */
export function countWaiting(collection: Documents<RunDoc>, mapping: string, limit: number): Promise<number> {
  const waiting = { open: true, status: { $in: ["queued" as const, "waiting" as const] }, "mapped.mapping": mapping };
  return collection.countDocuments(waiting, { limit, hint: WAITING_OF_MAPPING });
}

/** Reads how a run was accepted; null if it does not exist. */
export async function findAcceptance(
  collection: Documents<RunDoc>,
  runId: string,
): Promise<{ fingerprint: string | undefined; createdAt: Date; sessionKey: string } | null> {
  const options = { projection: { fingerprint: 1, createdAt: 1, sessionKey: 1 } };
  const found = await collection.findOne({ _id: runId }, options);
  return found && { fingerprint: found.fingerprint, createdAt: found.createdAt, sessionKey: found.sessionKey };
}
