import { randomUUID } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { randomSessionKey } from "../../shared/sessionKey.ts";
import { countWaiting, findAcceptance } from "../runs/acceptance.ts";
import type { NewHookCall } from "../runs/hookCall.ts";
import type { AgentRequest, MappedCall, RunKind, WakeMode } from "../runs/run.ts";
import { trackAccepted } from "../runs/trackRun.ts";
import type { NewHookRequest } from "./hookRequest.ts";
import type { IntakeStores } from "./intakeStores.ts";
import { type Idempotency, type InsertedRecord, insertOnce, reserveIds, reserveMessageIds } from "./reserveIds.ts";

/**
 * Stores a run durably. The caller puts it on its queue.
 * @param run without a sessionKey, it gets a session of its own
 * @param idempotency makes a repeated request return the run of the first one
 * @param assignSession is called before a new run is stored, and not for a repeated or conflicting request, which changes nothing
 * @throws AppError idempotency_conflict, unavailable, and what `assignSession` throws
 */
export async function acceptAgentRun(
  stores: IntakeStores,
  run: {
    readonly name: string | null;
    readonly sessionKey: string | undefined;
    readonly request: AgentRequest;
    readonly callbackUrl?: string | undefined;
    readonly depth?: number;
    readonly traceparent?: string;
  },
  idempotency?: Idempotency,
  assignSession?: () => Promise<void>,
): Promise<{ runId: string; sessionKey: string }> {
  const { runs, idempotencyKeys } = stores;
  const { name, request, sessionKey, callbackUrl, depth, traceparent } = run;
  const common = {
    name,
    request,
    callbackUrl,
    depth,
    traceparent,
    singleUse: sessionKey === undefined,
    kind: "agent" as const,
    mapped: null,
  };
  const toRun = (ids: { runId: string; sessionKey: string }) => ({
    ...common,
    _id: ids.runId,
    sessionKey: ids.sessionKey,
  });
  const { ids, isNew } = await insertOnce(idempotencyKeys, idempotency, {
    idsOf: (runId) => ({ runId, sessionKey: sessionKey ?? randomSessionKey() }),
    async insert(ids, fingerprint) {
      if (assignSession && idempotency && (await findAcceptance(runs.collection, ids.runId))) return false;
      await assignSession?.();
      return (await runs.accept([{ ...toRun(ids), fingerprint }])) > 0;
    },
    async find({ runId }) {
      const found = await findAcceptance(runs.collection, runId);
      return found && { ...found, ids: { runId, sessionKey: found.sessionKey } };
    },
  });
  if (isNew) await trackAccepted(stores, toRun(ids));
  return ids;
}

/** A run whose mapping is not applied yet. */
interface NewMappedRun {
  /** The id, if the caller derives it. A run that exists already stays unchanged. */
  readonly runId?: string;
  readonly kind: RunKind;
  readonly name: string;
  /** The key that the mapping gives without its transform. Without a key, the run gets a session of its own. */
  readonly sessionKey: string | undefined;
  readonly mapped: Omit<MappedCall, "item"> & { readonly item?: string };
}

/** The runs of a request to a mapped hook. */
export interface NewMappedRequest {
  readonly runs: readonly NewMappedRun[];
  /** The call, if it is stored once for all runs. */
  readonly shared: NewHookCall | null;
  /** Maximum waiting runs of the mapping, including these (default unlimited). */
  readonly maxWaiting?: number;
  /** The request as it is kept, if requests are kept. */
  readonly kept?: NewHookRequest | null;
  /** The id of the kept request that is replayed. */
  readonly replayOf?: string;
  readonly depth?: number;
  readonly traceparent?: string;
}

/** Seconds after which a sender may retry a request that was rejected because too many runs wait. */
const RETRY_AFTER_SECONDS = 10;

/**
 * Stores the runs of a request to a mapped hook durably. The caller puts them on their queue.
 * @param message identifies a signed message. A repeated message returns the runs of its first arrival.
 * @returns the runIds, and the number of waiting runs of the mapping before the request
 * @throws AppError idempotency_conflict, rate_limited, unavailable
 */
export async function acceptMappedRuns(
  stores: IntakeStores,
  request: NewMappedRequest,
  {
    idempotency,
    message,
  }: { readonly idempotency?: Idempotency | undefined; readonly message?: string | undefined } = {},
): Promise<{ runIds: string[]; waiting: number }> {
  const { runs, idempotencyKeys: keys } = stores;
  const find = async (runId: string): Promise<InsertedRecord<{ runIds: string[] }> | null> => {
    const found = await findAcceptance(runs.collection, runId);
    return found && { ...found, ids: { runIds: [runId] } };
  };
  // A kept request is stored before its runs, so that a conflict of its key must be found before.
  if (idempotency && message === undefined && request.runs.length === 1 && !request.shared && !request.kept) {
    let waiting = 0;
    const { ids } = await insertOnce(keys, idempotency, {
      idsOf: (runId) => ({ runIds: [runId] }),
      async insert({ runIds }, fingerprint) {
        const inserted = await insertMapped(stores, request, runIds, fingerprint);
        waiting = inserted.waiting;
        return inserted.isNew;
      },
      find: ({ runIds: [runId = ""] }) => find(runId),
    });
    return { ...ids, waiting };
  }
  const fresh = { runIds: request.runs.map(({ runId }) => runId ?? randomUUID()) };
  const { runIds } =
    message === undefined
      ? await reserveIds(keys, fresh, idempotency, find)
      : await reserveMessageIds(keys, fresh, message, idempotency);
  const { waiting } = await insertMapped(stores, request, runIds);
  return { runIds, waiting };
}

/**
 * Inserts the runs of a request under their ids. Those that exist already stay unchanged.
 *
 * MongoDB has no transactions on a server of its own, so that the order of the writes decides what a crash leaves. The kept
 * request comes first and counts only once one of its runs exists (`unconfirmed`): a crash between the writes leaves a request
 * that no reader sees and that retention removes, never a run whose request is missing.
 */
function insertMapped(
  stores: MappedStores,
  request: NewMappedRequest,
  runIds: readonly string[],
  fingerprint?: string,
): Promise<{ isNew: boolean; waiting: number }> {
  const mapping = request.runs[0]?.mapped?.mapping ?? "";
  return stores.runs.arrivals.during(mapping, request.runs.length, (arriving) =>
    insertUpToLimit(stores, request, { runIds, fingerprint, arriving }),
  );
}

type MappedStores = Pick<IntakeStores, "runs" | "hookCalls" | "hookRequests">;

interface Insertion {
  readonly runIds: readonly string[];
  readonly fingerprint: string | undefined;
  /** The runs of the mapping that other requests are about to insert. */
  readonly arriving: number;
}

async function insertUpToLimit(
  { runs, hookCalls, hookRequests }: MappedStores,
  { runs: wanted, shared, maxWaiting, kept, replayOf, depth, traceparent }: NewMappedRequest,
  { runIds, fingerprint, arriving }: Insertion,
): Promise<{ isNew: boolean; waiting: number }> {
  const [first] = runIds;
  const [{ mapped } = { mapped: null }] = wanted;
  if (first === undefined || mapped === null) {
    if (kept) await hookRequests.add({ ...kept, runIds: [] });
    return { isNew: false, waiting: 0 };
  }
  const waiting = maxWaiting === undefined ? 0 : await countWaiting(runs.collection, mapped.mapping, maxWaiting);
  const isFull = maxWaiting !== undefined && waiting + arriving + wanted.length > maxWaiting;
  if (isFull || shared || kept) {
    const existing = await runs.findExisting(runIds);
    if (existing.size === runIds.length) {
      if (kept) await hookRequests.add({ ...kept, runIds: [...runIds], repeated: true });
      return { isNew: false, waiting }; // The request is a repetition.
    }
    if (isFull) throw full(mapped.mapping);
  }
  if (kept) await hookRequests.add({ ...kept, runIds: [...runIds], unconfirmed: true });
  if (shared) await hookCalls.add(first, shared);
  const accepted = wanted.flatMap(({ sessionKey, runId: _, mapped: { item: json, ...mapped }, ...rest }, i) => {
    const _id = runIds[i];
    const origin = { ...(kept && { requestId: kept._id }), ...(replayOf !== undefined && { replayOf }) };
    const run = {
      ...rest,
      ...origin,
      depth,
      traceparent,
      mapped: { ...mapped, ...(json !== undefined && { item: { call: first, json } }) },
    };
    const singleUse = sessionKey === undefined;
    return _id === undefined
      ? []
      : [{ ...run, _id, request: null, singleUse, sessionKey: sessionKey ?? randomSessionKey(), fingerprint }];
  });
  const count = accepted.length > 0 ? await runs.accept(accepted) : 0;
  return { isNew: count > 0, waiting };
}

const full = (mapping: string) =>
  new AppError("rate_limited", {
    detail: `Too many runs of the mapping ${mapping} are waiting (the limit is hooks.maxWaitingRuns). Send the same request again later.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

/**
 * Queues an event for the main session durably. The caller triggers a heartbeat if the mode is `now`.
 * @throws AppError idempotency_conflict, unavailable
 */
export async function acceptWake(
  { mainEvents, idempotencyKeys }: IntakeStores,
  { text, mode, depth }: { readonly text: string; readonly mode: WakeMode; readonly depth?: number },
  idempotency?: Idempotency,
): Promise<{ eventId: string; isNew: boolean }> {
  const { ids, isNew } = await insertOnce(idempotencyKeys, idempotency, {
    idsOf: (eventId) => ({ eventId }),
    async insert({ eventId: _id }, fingerprint) {
      return (await mainEvents.add([{ _id, text, source: "wake hook", wake: mode === "now", fingerprint, depth }])) > 0;
    },
    async find(ids) {
      const found = await mainEvents.findAcceptance(ids.eventId);
      return found && { ...found, ids };
    },
  });
  return { ...ids, isNew };
}
