import { mappedRuns } from "../../hooks/mappings/mappedRuns.ts";
import type { HookCall, Mapping } from "../../hooks/mappings/mapping.ts";
import { acceptMappedRuns } from "../../models/intake/acceptHook.ts";
import type { NewHookRequest } from "../../models/intake/hookRequest.ts";
import type { Idempotency } from "../../models/intake/reserveIds.ts";
import { mappingContext, withoutForeignSessions } from "../../models/intake/sessionOwners.ts";
import { DEPTH_HEADER, readDepth } from "../../models/notes/depth.ts";
import { mappedHook } from "../../shared/queue/definitions.ts";
import { checkDepth } from "../../shared/text/json.ts";
import type { ApiDeps } from "../deps.ts";
import { keptTraceparent } from "../traceparent.ts";

interface StartOptions {
  readonly idempotency?: Idempotency | undefined;
  /** Identifies a signed message. */
  readonly message?: string | undefined;
  /** The request as it is kept, if requests are kept. */
  readonly kept?: NewHookRequest | null;
  /** The id of the kept request that is replayed. */
  readonly replayOf?: string;
  /** The hook context of the sender of a replayed request; by default that of the mapping. */
  readonly sender?: string | undefined;
}

/**
 * Stores the runs that a mapping makes of a call, and enqueues them.
 * @returns their ids; those of the first request for a repeated one
 * @throws AppError invalid_body, body_too_large, idempotency_conflict, rate_limited, unavailable
 */
export async function startRuns(
  { stores, queues, hooks, clock, metrics }: ApiDeps,
  mapping: Mapping,
  call: HookCall,
  { idempotency, message, sender, ...origin }: StartOptions,
): Promise<string[]> {
  checkDepth(call.payload);
  const { runs: own, shared } = mappedRuns(mapping, call, hooks, clock.now());
  const context = sender ?? mappingContext(mapping.key);
  const isForeign = context !== mappingContext(mapping.key);
  const mapped = isForeign ? own.map((run) => ({ ...run, mapped: { ...run.mapped, sender: context } })) : own;
  const runs = hooks.shareSessions ? mapped : await withoutForeignSessions(stores, mapped, context);
  const depth = readDepth(call.headers[DEPTH_HEADER]);
  const request = {
    runs,
    shared,
    maxWaiting: hooks.maxWaitingRuns,
    depth,
    ...keptTraceparent(stores, call.headers),
    ...origin,
  };
  const { runIds, waiting } = await acceptMappedRuns(stores, request, { idempotency, message });
  // A run's priority is its position among the waiting runs of its mapping, so that mappings take turns.
  await Promise.all(
    runIds.map((runId, i) => queues.add(mappedHook, { runId }, { jobId: runId, priority: waiting + i + 1 })),
  );
  metrics.hooks.inc({ hook: mapping.key });
  return runIds;
}
