import type { Batcher } from "../../shared/batcher.ts";
import { AppError } from "../../shared/errors.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import type { ReturnOf } from "../../wire/runs/return.ts";
import type { Run, RunHead, RunRequest } from "../../wire/runs/run.ts";
import type { Message } from "../../wire/session.ts";
import { readNewest } from "../db/newestFirst.ts";
import { PAGE_BYTES } from "../db/page.ts";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { ReadDelivery } from "../deliveries/delivery.ts";
import { viewDelivery } from "../deliveries/readDeliveries.ts";
import { viewFailedAttempts } from "../jobs/reports/failedAttempts.ts";
import type { MessageDoc, Messages } from "../sessions/message.ts";
import type { HookCalls } from "./hookCall.ts";
import { readHookCall } from "./hookCall.ts";
import type { RunDoc } from "./run.ts";
import { type RunFilter, runQuery } from "./runFilter.ts";
import { runNotFound } from "./runReader.ts";
import type { Runs } from "./runs.ts";
import { viewUsage } from "./usage/usage.ts";

export interface RunListQuery extends RunFilter {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Leaves out the texts that a run received, and what only queries compare. */
const WITHOUT_REQUEST = {
  "request.message": 0,
  "request.instructions": 0,
  "mapped.call": 0,
  "mapped.item": 0,
  nameWords: 0,
};
/** Leaves out what only a run that is read on its own contains, too. */
const ROW = { ...WITHOUT_REQUEST, failedTries: 0, stderr: 0, missingValues: 0 };

/** The collections that these commands read. */
interface RunStores {
  readonly runs: Runs;
  readonly runReads: Batcher<string, Run | null>;
  readonly hookCalls: HookCalls;
  readonly messages: Messages;
  readonly deliveries: Deliveries;
}

/** Reads a run. @throws AppError run_not_found, unavailable */
export async function readRun({ runReads }: Pick<RunStores, "runReads">, runId: string): Promise<Run> {
  return (await runReads.add(runId)) ?? Promise.reject(runNotFound(runId));
}

/** Reads runs with their deliveries. @returns null for each run that does not exist */
export async function readRunViews(
  { runs, deliveries }: Pick<RunStores, "runs" | "deliveries">,
  runIds: readonly string[],
): Promise<(Run | null)[]> {
  const [found, sent] = await Promise.all([
    runs.collection.find({ _id: { $in: [...runIds] } }, { projection: WITHOUT_REQUEST }),
    deliveries.findOfRuns(runIds),
  ]);
  const byId = new Map(found.map((run) => [run._id, run]));
  const deliveriesOf = Map.groupBy(sent, (one) => one.runId);
  return runIds.map((runId) => {
    const run = byId.get(runId);
    const failedAttempts = run?.failedTries && viewFailedAttempts(run.failedTries);
    return run
      ? {
          ...view(run, deliveriesOf.get(runId) ?? []),
          ...(failedAttempts && { failedAttempts }),
          ...(run.missingValues && { missingValues: run.missingValues }),
          ...(run.stderr && { stderr: run.stderr }),
        }
      : null;
  });
}

/** Reads the call and the agent request of a run. @throws AppError run_not_found, unavailable */
export async function readRequest(stores: RunStores, runId: string): Promise<RunRequest> {
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
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Promise<{ messages: Message[]; nextCursor: string | null }> {
  const page = await messages.findLatest(sessionKey, { limit, maxChars: PAGE_BYTES, cursor });
  const isKnown = page.messages.length > 0 || sessionKey === MAIN_SESSION;
  if (isKnown || (await runs.collection.exists({ sessionKey })))
    return { messages: page.messages.map(viewMessage), nextCursor: page.nextCursor };
  throw new AppError("session_not_found", { detail: `There is no session ${JSON.stringify(sessionKey)}.` });
}

/** Returns the run of a message. Its id is followed by the round and by the place in the turn. */
const runOf = (messageId: string): string => messageId.replace(/-\d+-[01]$/, "");

const viewReturns = (returns: readonly ReturnOf[] = []): ReturnOf[] =>
  returns.map(({ jobId, event }) => ({ jobId, event }));

const viewMessage = ({ _id, sessionKey, role, content, createdAt, returned }: MessageDoc): Message => ({
  messageId: _id,
  runId: sessionKey === MAIN_SESSION ? null : runOf(_id),
  role: returned ? "return" : role,
  content,
  returnOf: viewReturns(returned?.of),
  createdAt: createdAt.toISOString(),
});

/** Returns a page of runs, the newest first by acceptance. */
export async function listRuns(
  stores: RunStores,
  { limit, cursor, ...filter }: RunListQuery,
): Promise<{ runs: Run[]; nextCursor: string | null }> {
  const { rows, nextCursor } = await readNewest(stores.runs.collection, {
    query: runQuery(filter),
    projection: ROW,
    limit,
    cursor,
    bytesOf: ({ reply }) => reply?.length ?? 0,
  });
  const deliveries = Map.groupBy(await stores.deliveries.findOfRuns(rows.map((run) => run._id)), (one) => one.runId);
  return { runs: rows.map((run) => view(run, deliveries.get(run._id) ?? [])), nextCursor };
}

/** Reads runs without their replies and deliveries. */
export async function readRunHeads({ runs }: RunStores, runIds: readonly string[]): Promise<RunHead[]> {
  const options = { projection: { ...ROW, reply: 0 } };
  const found = await runs.collection.find({ _id: { $in: [...runIds] } }, options);
  return found.map(runHead);
}

function view(run: RunDoc, sent: readonly ReadDelivery[]): Run {
  const { reply, replyCutOff = false, requestId = null, replayOf = null, againOf = null } = run;
  const usage = viewUsage(run.usage);
  const origin = { requestId, replayOf, againOf, returnOf: viewReturns(run.returnOf) };
  return { ...runHead(run), reply, replyCutOff, usage, deliveries: sent.map(viewDelivery), ...origin };
}

/** Returns a run without its reply and deliveries. */
export function runHead(run: RunDoc): RunHead {
  const { _id: runId, kind, name, mapped, sessionKey, status, attempts, error } = run;
  const mapping = mapped?.mapping ?? null;
  return {
    runId,
    kind,
    ...(run.jobId !== undefined && { jobId: run.jobId }),
    name,
    mapping,
    sessionKey,
    agentId: run.request?.agentId ?? null,
    status,
    attempts,
    error,
    createdAt: run.createdAt.toISOString(),
    startedAt: run.startedAt?.toISOString() ?? null,
    endedAt: run.endedAt?.toISOString() ?? null,
  };
}

/** Returns the names of runs by their ids, without those that have none or are deleted. */
export async function readRunNames(
  { runs }: Pick<RunStores, "runs">,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (runIds.length === 0) return new Map();
  const found = await runs.collection.find({ _id: { $in: [...runIds] } }, { projection: { name: 1 } });
  return new Map(found.flatMap(({ _id, name }) => (name ? [[_id, name] as const] : [])));
}
