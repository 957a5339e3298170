import { randomUUID } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { randomSessionKey } from "../../shared/sessionKey.ts";
import type { NewHookCall } from "../hookCall.ts";
import type { AgentRequest, MappedCall, RunKind, WakeMode } from "../run.ts";
import type { Stores } from "../stores.ts";
import { type Idempotency, reserveIds, reserveMessageIds } from "./reserveIds.ts";
import { trackAccepted } from "./trackRun.ts";

/**
 * Writes a run down, durably; the caller puts it on its queue.
 * @param run without a sessionKey it gets one of its own
 * @throws AppError idempotency_conflict, unavailable
 */
export async function acceptAgentRun(
  stores: Stores,
  run: { readonly name: string | null; readonly sessionKey: string | undefined; readonly request: AgentRequest },
  idempotency?: Idempotency,
): Promise<{ runId: string; sessionKey: string }> {
  const { runs, idempotencyKeys } = stores;
  const fresh = { runId: randomUUID(), sessionKey: run.sessionKey ?? randomSessionKey() };
  const ids = await reserveIds(idempotencyKeys, fresh, idempotency);
  const { name, request } = run;
  const singleUse = run.sessionKey === undefined;
  const accepted = {
    _id: ids.runId,
    sessionKey: ids.sessionKey,
    singleUse,
    name,
    request,
    kind: "agent" as const,
    mapped: null,
  };
  const isNew = (await runs.accept([accepted])) > 0;
  if (isNew) await trackAccepted(stores, accepted);
  return ids;
}

/** A run of which so far only its mapping is known. */
interface NewMappedRun {
  /** Where it is known before: a run that is there already is left alone. */
  readonly runId?: string;
  readonly kind: RunKind;
  readonly name: string;
  /** What the mapping alone says; without it the run gets a session of its own. */
  readonly sessionKey: string | undefined;
  readonly mapped: Omit<MappedCall, "item"> & { readonly item?: string };
}

/** What a request to a mapped hook becomes. */
export interface NewMappedRequest {
  readonly runs: readonly NewMappedRun[];
  /** What is stored once for all of the runs. */
  readonly shared: NewHookCall | null;
  /** How many runs of the mapping may wait, these included; any number where nothing is said. */
  readonly maxWaiting?: number;
}

/** Seconds after which a sender may find room for its request. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Writes the runs of one request to a mapped hook down, durably; the caller puts them on their queue.
 * @param message of a signed message: the same whenever it arrives, and the runs then are those of its first arrival
 * @returns the runIds, and how many runs of the mapping waited before
 * @throws AppError idempotency_conflict, rate_limited, unavailable
 */
export async function acceptMappedRuns(
  { runs, hookCalls, idempotencyKeys }: Stores,
  { runs: wanted, shared, maxWaiting }: NewMappedRequest,
  {
    idempotency,
    message,
  }: { readonly idempotency?: Idempotency | undefined; readonly message?: string | undefined } = {},
): Promise<{ runIds: string[]; waiting: number }> {
  const fresh = { runIds: wanted.map(({ runId }) => runId ?? randomUUID()) };
  const { runIds } =
    message === undefined
      ? await reserveIds(idempotencyKeys, fresh, idempotency)
      : await reserveMessageIds(idempotencyKeys, fresh, message, idempotency);
  const [first] = runIds;
  const [{ mapped } = { mapped: null }] = wanted;
  if (first === undefined || mapped === null) return { runIds, waiting: 0 };
  const waiting = maxWaiting === undefined ? 0 : await runs.countWaiting(mapped.mapping, maxWaiting);
  const isFull = maxWaiting !== undefined && waiting + wanted.length > maxWaiting;
  if (isFull || shared) {
    const known = await runs.findKnown(runIds);
    if (known.size === runIds.length) return { runIds, waiting }; // this request has come before
    if (isFull) throw full(mapped.mapping);
  }
  if (shared) await hookCalls.add(first, shared);
  const accepted = wanted.flatMap(({ sessionKey, runId: _, mapped: { item: json, ...mapped }, ...rest }, i) => {
    const _id = runIds[i];
    const run = { ...rest, mapped: { ...mapped, ...(json !== undefined && { item: { call: first, json } }) } };
    const singleUse = sessionKey === undefined;
    return _id === undefined
      ? []
      : [{ ...run, _id, request: null, singleUse, sessionKey: sessionKey ?? randomSessionKey() }];
  });
  if (accepted.length > 0) await runs.accept(accepted);
  return { runIds, waiting };
}

const full = (mapping: string) =>
  new AppError("rate_limited", {
    detail: `Too many runs of the mapping ${mapping} wait (hooks.maxWaitingRuns): try again later.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/**
 * Queues an event for the main session, durably; the caller triggers a heartbeat where the mode wants one.
 * @throws AppError idempotency_conflict, unavailable
 */
export async function acceptWake(
  { events, idempotencyKeys }: Stores,
  { text, mode }: { readonly text: string; readonly mode: WakeMode },
  idempotency?: Idempotency,
): Promise<{ eventId: string; isNew: boolean }> {
  const fresh = { eventId: randomUUID() };
  const ids = await reserveIds(idempotencyKeys, fresh, idempotency);
  const added = await events.add([{ _id: ids.eventId, text, source: "wake hook", wake: mode === "now" }]);
  return { ...ids, isNew: added > 0 };
}
