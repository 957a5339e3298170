import { randomUUID } from "node:crypto";
import { randomSessionKey } from "../../shared/sessionKey.ts";
import type { AgentRequest, MappedCall, RunKind, WakeMode } from "../run.ts";
import type { Stores } from "../stores.ts";
import { trackAccepted } from "./trackRun.ts";

/** A request's Idempotency-Key, and what must be the same when the key comes again. */
export interface Idempotency {
  readonly key: string;
  readonly request: unknown;
}

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
  const ids = idempotency ? await idempotencyKeys.settle(idempotency.key, idempotency.request, fresh) : fresh;
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
export interface NewMappedRun {
  /** Where it is known before: a run that is there already is left alone. */
  readonly runId?: string;
  readonly kind: RunKind;
  readonly name: string;
  /** What the mapping alone says; without it the run gets a session of its own. */
  readonly sessionKey: string | undefined;
  readonly mapped: MappedCall;
}

/**
 * Writes the runs of one request to a mapped hook down, durably; the caller puts them on their queue.
 * @param idempotency where one of them is known already, the runs are those of the request that it first came with
 * @throws AppError idempotency_conflict, unavailable
 */
export async function acceptMappedRuns(
  { runs, idempotencyKeys }: Stores,
  wanted: readonly NewMappedRun[],
  idempotency: readonly Idempotency[] = [],
): Promise<string[]> {
  let ids = { runIds: wanted.map(({ runId }) => runId ?? randomUUID()) };
  for (const { key, request } of idempotency) ids = await idempotencyKeys.settle(key, request, ids);
  const { runIds } = ids;
  const accepted = wanted.flatMap(({ sessionKey, runId: _, ...run }, i) => {
    const _id = runIds[i];
    const singleUse = sessionKey === undefined;
    return _id === undefined
      ? []
      : [{ ...run, _id, request: null, singleUse, sessionKey: sessionKey ?? randomSessionKey() }];
  });
  if (accepted.length > 0) await runs.accept(accepted);
  return runIds;
}

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
  const ids = idempotency ? await idempotencyKeys.settle(idempotency.key, idempotency.request, fresh) : fresh;
  const added = await events.add([{ _id: ids.eventId, text, source: "wake hook", wake: mode === "now" }]);
  return { ...ids, isNew: added > 0 };
}
