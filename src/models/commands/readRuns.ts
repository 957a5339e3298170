import type { mongo } from "mongoose";
import { AppError } from "../../shared/errors.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import type { DeliveryDoc } from "../delivery.ts";
import { guard } from "../guard.ts";
import type { MessageDoc } from "../message.ts";
import { PAGE_BYTES, takePage } from "../page.ts";
import type { RunDoc, RunError, RunKind, RunStatus } from "../run.ts";
import type { Stores } from "../stores.ts";
import { idCursor, olderThan } from "./idCursor.ts";
import { type DeliveryView, viewDelivery } from "./readDeliveries.ts";

/** A run as clients read it, without what the agent was told. Times are ISO 8601 UTC in milliseconds. */
export interface RunView {
  runId: string;
  kind: RunKind;
  name: string | null;
  sessionKey: string;
  status: RunStatus;
  attempts: number;
  reply: string | null;
  error: RunError | null;
  deliveries: DeliveryView[];
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

export interface RunListQuery {
  readonly status?: readonly RunStatus[] | undefined;
  readonly sessionKey?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** @throws AppError run_not_found, unavailable */
export async function readRun(stores: Stores, runId: string): Promise<RunView> {
  const run = await stores.runs.find(runId);
  return view(run, await stores.deliveries.findOfRuns([runId]));
}

/**
 * The latest messages of a session, oldest first: `limit` of them, fewer when they are large. A session is known from its first run or turn on, the main session always.
 * @throws AppError session_not_found, unavailable
 */
export async function readMessages(
  { messages, runs }: Stores,
  sessionKey: string,
  limit: number,
): Promise<MessageDoc[]> {
  const found = await messages.findLatest(sessionKey, { limit, maxChars: PAGE_BYTES });
  if (found.length > 0 || sessionKey === MAIN_SESSION) return found;
  const run = await guard(() => runs.collection.findOne({ sessionKey }, { projection: { _id: 1 } }));
  if (run) return found;
  throw new AppError("session_not_found", { detail: `There is no session ${JSON.stringify(sessionKey)}.` });
}

/** A page of runs, newest first by acceptance. @throws AppError unavailable */
export async function listRuns(
  stores: Stores,
  { status, sessionKey, limit, cursor }: RunListQuery,
): Promise<{ runs: RunView[]; nextCursor: string | null }> {
  const query: mongo.Filter<RunDoc>[] = [
    ...(status ? [{ status: { $in: [...status] } }] : []),
    ...(sessionKey === undefined ? [] : [{ sessionKey }]),
    ...(cursor === undefined ? [] : [olderThan<RunDoc>(cursor)]),
  ];
  const found = stores.runs.collection
    .find<RunDoc>(query.length > 0 ? { $and: query } : {}, { projection: { request: 0, mapped: 0 } })
    .sort({ createdAt: -1, _id: -1 });
  const { rows, last } = await takePage(found, { limit, bytesOf: ({ reply }) => reply?.length ?? 0 });
  const deliveries = Map.groupBy(await stores.deliveries.findOfRuns(rows.map((run) => run._id)), (one) => one.runId);
  return {
    runs: rows.map((run) => view(run, deliveries.get(run._id) ?? [])),
    nextCursor: last && idCursor(last),
  };
}

function view(run: RunDoc, sent: readonly DeliveryDoc[]): RunView {
  const { _id: runId, kind, name, sessionKey, status, attempts, reply, error } = run;
  return {
    ...{ runId, kind, name, sessionKey, status, attempts, reply, error },
    deliveries: sent.map(viewDelivery),
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
  };
}
