import type { mongo } from "mongoose";
import type { Batcher } from "../../shared/batcher.ts";
import { MAIN_SESSION } from "../../shared/config/formats/sessionKey.ts";
import { AppError } from "../../shared/errors.ts";
import { exists } from "../db/caughtUpPrimary.ts";
import { idCursor, olderThan } from "../db/idCursor.ts";
import { PAGE_BYTES, readPage } from "../db/page.ts";
import { readAll } from "../db/readAll.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { DeliveryDoc } from "../deliveries/delivery.ts";
import { type DeliveryView, viewDelivery } from "../deliveries/readDeliveries.ts";
import type { HookCalls } from "../hooks/hookCall.ts";
import { readHookCall } from "../hooks/hookCall.ts";
import type { MessageDoc, Messages } from "../sessions/message.ts";
import type { AgentRequest, RunDoc, RunError, RunKind, RunStatus } from "./run.ts";
import { type Runs, runNotFound } from "./runs.ts";

/** A run as live events contain it. Times are ISO 8601 UTC with milliseconds. */
export interface RunHead {
  runId: string;
  kind: RunKind;
  name: string | null;
  sessionKey: string;
  status: RunStatus;
  attempts: number;
  error: RunError | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

/** A run as clients read it, without its request. */
export interface RunView extends RunHead {
  reply: string | null;
  /** Whether the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: boolean;
  deliveries: DeliveryView[];
}

export interface RunRequestView {
  request: AgentRequest | null;
  /** The request to a mapped hook. Its payload is null once the mapping is applied. */
  call: { mapping: string; path: string | null; payload: unknown } | null;
}

export interface RunListQuery {
  readonly status?: readonly RunStatus[] | undefined;
  readonly sessionKey?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The collections that these commands read. */
interface RunStores {
  readonly runs: Runs;
  readonly runReads: Batcher<string, RunView | null>;
  readonly hookCalls: HookCalls;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
}

/** Reads a run. @throws AppError run_not_found, unavailable */
export async function readRun({ runReads }: Pick<RunStores, "runReads">, runId: string): Promise<RunView> {
  return (await runReads.add(runId)) ?? Promise.reject(runNotFound(runId));
}

/** Reads runs with their deliveries. @returns null for each run that does not exist @throws AppError unavailable */
export async function readRunViews(
  { runs, deliveries }: Pick<RunStores, "runs" | "deliveries">,
  runIds: readonly string[],
): Promise<(RunView | null)[]> {
  const [found, sent] = await Promise.all([
    readAll(runs.collection, { _id: { $in: [...runIds] } }, { projection: { request: 0, mapped: 0 } }),
    deliveries.findOfRuns(runIds),
  ]);
  const byId = new Map(found.map((run) => [run._id, run]));
  const deliveriesOf = Map.groupBy(sent, (one) => one.runId);
  return runIds.map((runId) => {
    const run = byId.get(runId);
    return run ? view(run, deliveriesOf.get(runId) ?? []) : null;
  });
}

/** Reads the call and the agent request of a run. @throws AppError run_not_found, unavailable */
export async function readRequest(stores: RunStores, runId: string): Promise<RunRequestView> {
  const { request, mapped } = await stores.runs.find(runId);
  const text = mapped && (await readHookCall(stores, mapped));
  const call = text ? (JSON.parse(text) as { path: string; payload: unknown }) : null;
  return {
    request,
    call: mapped && { mapping: mapped.mapping, path: call?.path ?? null, payload: call?.payload ?? null },
  };
}

/**
 * Returns the latest messages of a session, oldest first: at most `limit`, and fewer if they are large. A session exists from its
 * first run or turn on, the main session always.
 * @throws AppError session_not_found, unavailable
 */
export async function readMessages(
  { messages, runs }: RunStores,
  sessionKey: string,
  limit: number,
): Promise<MessageDoc[]> {
  const found = await messages.findLatest(sessionKey, { limit, maxChars: PAGE_BYTES });
  if (found.length > 0 || sessionKey === MAIN_SESSION) return found;
  if (await exists(runs.collection, { sessionKey })) return found;
  throw new AppError("session_not_found", { detail: `There is no session ${JSON.stringify(sessionKey)}.` });
}

/** Returns a page of runs, the newest first by acceptance. @throws AppError unavailable */
export async function listRuns(
  stores: RunStores,
  { status, sessionKey, limit, cursor }: RunListQuery,
): Promise<{ runs: RunView[]; nextCursor: string | null }> {
  const query: mongo.Filter<RunDoc> = {
    ...(status && { status: { $in: [...status] } }),
    ...(sessionKey !== undefined && { sessionKey }),
    ...(cursor !== undefined && olderThan<RunDoc>(cursor)),
  };
  const find = () =>
    stores.runs.collection
      .find<RunDoc>(query, { projection: { request: 0, mapped: 0 } })
      .sort({ createdAt: -1, _id: -1 });
  const { rows, last } = await readPage(stores.runs.collection, find, {
    limit,
    bytesOf: ({ reply }) => reply?.length ?? 0,
  });
  const deliveries = Map.groupBy(await stores.deliveries.findOfRuns(rows.map((run) => run._id)), (one) => one.runId);
  return {
    runs: rows.map((run) => view(run, deliveries.get(run._id) ?? [])),
    nextCursor: last && idCursor(last),
  };
}

/** Reads runs without their replies and deliveries. @throws AppError unavailable */
export async function readRunHeads({ runs }: RunStores, runIds: readonly string[]): Promise<RunHead[]> {
  const options = { projection: { request: 0, mapped: 0, reply: 0 } };
  const found = await readAll(runs.collection, { _id: { $in: [...runIds] } }, options);
  return found.map(head);
}

function view(run: RunDoc, sent: readonly DeliveryDoc[]): RunView {
  return { ...head(run), reply: run.reply, replyCutOff: run.replyCutOff ?? false, deliveries: sent.map(viewDelivery) };
}

function head(run: RunDoc): RunHead {
  const { _id: runId, kind, name, sessionKey, status, attempts, error } = run;
  return {
    ...{ runId, kind, name, sessionKey, status, attempts, error },
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
  };
}
