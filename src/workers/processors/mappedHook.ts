import type { Config } from "../../config/config.ts";
import { mappedRequest, mappedSession } from "../../hooks/mappings/agentRequest.ts";
import type { MappedAgent } from "../../hooks/mappings/fields.ts";
import type { MappedReport } from "../../hooks/mappings/mappedJob.ts";
import { defaultKeyOf, type HookCall, type Mapping } from "../../hooks/mappings/mapping.ts";
import { missingValues } from "../../hooks/templates/missingValues.ts";
import { renderCall } from "../../hooks/templates/render.ts";
import type { TransformOutcome, TransformRequest } from "../../hooks/transforms/transforms.ts";
import { assignSessionAgent, otherAgent } from "../../models/intake/sessionAgents.ts";
import { assignSessionOwner, hookContextOf } from "../../models/intake/sessionOwners.ts";
import { deleteUnusedCall, readHookCall } from "../../models/runs/hookCall.ts";
import type { MappingOutcome, RunDoc } from "../../models/runs/run.ts";
import { trackAccepted } from "../../models/runs/trackRun.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import { randomSessionKey } from "../../shared/sessionKey.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { applyReports } from "../reports/applyReports.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

export interface MappedHookDeps {
  readonly stores: Stores;
  readonly mappings: readonly Mapping[];
  readonly hooks: Pick<
    Config["hooks"],
    "defaultSessionKey" | "allowedSessionKeyPrefixes" | "maxTimeoutSeconds" | "shareSessions"
  >;
  readonly agents: Config["agents"];
  readonly metrics: WorkerMetrics;
  readonly finalize: (runId: string) => Promise<void>;
  transform(request: TransformRequest, signal: AbortSignal): Promise<TransformOutcome>;
  /** Returns for how many milliseconds a run is delayed because too many wait for this module; 0 when it may run. */
  backpressureDelayMs(module: string): number;
  /** Enqueues a run. `occasion` makes the id of the queue entry unique when the run may be on its queue already. */
  enqueue(runId: string, occasion?: string): Promise<void>;
  triggerHeartbeat(): Promise<void>;
}

/**
 * Returns the processor that applies a mapping and its transform to the run of a mapped hook. The result is an agent run,
 * an event, reports of a job, or nothing.
 */
export function mappedHookProcessor(deps: MappedHookDeps): Processor {
  return async ({ payload, lastTry }, context) => {
    const { runId } = payload as { runId: string };
    const run = await deps.stores.runs.find(runId);
    if (!run.open || run.stage !== "mapping") {
      await enqueueTurn(deps, runId, run.round); // the worker that mapped the run may have died before it enqueued it
      return { kind: "done", result: { run: "over" } };
    }
    const mapping = deps.mappings.find(({ key }) => key === run.mapped?.mapping);
    const ms = mapping?.transform ? deps.backpressureDelayMs(mapping.transform.module) : 0;
    if (ms > 0) return { kind: "delay", ms };
    const store = (mapped: MappedOutcome) => retryWhileMongoIsDown(() => storeMapped(deps, run, mapped), context);
    const fail = (thrown: unknown) => failureOf(thrown, lastTry, context);
    // No lease is stored: it counts as lost when the run is cancelled.
    const lease = { renew: () => deps.stores.runs.isUnmapped(runId, run.round), now: () => context.clock.now() };
    const mapped = await withLease(lease, context.timings.lease, (cancelled) => {
      const signal = AbortSignal.any([cancelled, context.signal]);
      return applyMapping(deps, run, mapping, signal).catch((thrown) => {
        if (cancelled.aborted) return null;
        return fail(thrown);
      });
    });
    if (!mapped) return { kind: "done", result: { run: "cancelled" } };
    const stored = await store(mapped).catch((thrown) => store(fail(thrown)));
    deps.metrics.mapped.inc({ outcome: stored.kind });
    return { kind: "done", result: { run: stored.kind } };
  };
}

type MappedOutcome =
  | Exclude<MappingOutcome, { kind: "event" | "job" }>
  | (Extract<MappingOutcome, { kind: "event" }> & { text: string; wake: boolean })
  | (Extract<MappingOutcome, { kind: "job" }> & { jobId: string; reports: readonly MappedReport[] });

/**
 * Returns the failure that an error means for the run.
 * @throws the error when the run should wait: no thread is free and tries are left, or this process stops
 */
function failureOf(thrown: unknown, lastTry: boolean, { signal, log }: RunContext): MappedOutcome {
  const { code, message, cause } = toAppError(thrown);
  if (code === "unavailable" && (!lastTry || signal.aborted)) throw thrown;
  if (code === "internal") log.error({ err: cause }, "a mapping failed with an internal error");
  return { kind: "failed", error: { code, message } };
}

/** @throws AppError mapping_failed, transform_failed, unavailable */
async function applyMapping(
  deps: MappedHookDeps,
  run: RunDoc,
  mapping: Mapping | undefined,
  signal: AbortSignal,
): Promise<MappedOutcome> {
  if (!mapping) {
    const detail = `The configuration no longer has the mapping ${run.mapped?.mapping}. Add it again and retry the run.`;
    throw new AppError("mapping_failed", { detail });
  }
  const { item } = run.mapped ?? {};
  const call = JSON.parse((run.mapped && (await readHookCall(deps.stores, run.mapped))) ?? "") as HookCall;
  const request = mapping.transform && { ...mapping.transform, input: call, label: run._id };
  const transformed: TransformOutcome = request ? await deps.transform(request, signal) : { kind: "kept" };
  const made = renderCall(mapping, call, run.createdAt, transformed);
  if (made === null) return { kind: "dropped" };
  if (made.kind === "job") return jobReports(made.reports, missingValues(mapping, call, run.createdAt, transformed));
  const { length } = made.kind === "agent" ? made.message : made.text;
  if (item && !(await deps.stores.hookCalls.reservePromptChars(item.call, length))) {
    const field = made.kind === "agent" ? "message" : "text";
    const detail = `${field} repeats the request in too many of its runs. Use only {{item}} in the template.`;
    throw new AppError("mapping_failed", { detail });
  }
  const missing = missingValues(mapping, call, run.createdAt, transformed);
  const noted = missing.length > 0 && { missingValues: [...missing] };
  if (made.kind === "agent") {
    const key = mappedSession(made, mapping, deps.hooks);
    const checked = mappedRequest(made, mapping, transformed, deps.hooks, deps.agents);
    await checkOwner(deps, run, mapping, key);
    const agentId = await agentOf(deps, made, key);
    const asked =
      agentId === undefined || agentId === made.agentId
        ? checked
        : mappedRequest({ ...made, agentId }, mapping, transformed, deps.hooks, deps.agents);
    return { ...agentRun(run, made, asked), ...noted };
  }
  const { text, mode, name = null } = made;
  return { kind: "event", name, text, wake: mode !== "next-heartbeat", ...noted };
}

/**
 * Checks that the run may use the session. The default session is open to every mapping that would use it without naming a
 * key.
 * @throws AppError mapping_failed
 */
async function checkOwner({ stores, hooks }: MappedHookDeps, run: RunDoc, mapping: Mapping, key: string | undefined) {
  if (key === undefined || hooks.shareSessions || key === defaultKeyOf(mapping, hooks)) return;
  if (key !== hooks.defaultSessionKey && (await assignSessionOwner(stores, key, hookContextOf(run)))) return;
  const detail =
    "sessionKey names a session that another hook owns. Choose another key, or set hooks.shareSessions to true.";
  throw new AppError("mapping_failed", { detail });
}

/**
 * Returns the agent of a mapped run: that of its session, which the first run gives to its own.
 * @throws AppError mapping_failed if the mapping or its transform names another one
 */
async function agentOf(
  { stores, agents }: MappedHookDeps,
  { agentId }: MappedAgent,
  key: string | undefined,
): Promise<string | undefined> {
  if (key === undefined || Object.keys(agents.list).length === 0) return agentId;
  const owner = await assignSessionAgent(stores, key, agentId);
  if (agentId !== undefined && owner !== agentId)
    throw new AppError("mapping_failed", { detail: `agentId ${otherAgent(owner)}.` });
  return owner ?? undefined;
}

function jobReports(reports: readonly MappedReport[], missing: ReturnType<typeof missingValues>): MappedOutcome {
  const [{ jobId }] = reports as [MappedReport];
  return { kind: "job", jobId, reports, ...(missing.length > 0 && { missingValues: [...missing] }) };
}

function agentRun(run: RunDoc, made: MappedAgent, asked: ReturnType<typeof mappedRequest>): MappedOutcome {
  const { sessionKey: constant, request } = asked;
  // A single-use run received its key when it was accepted.
  const sessionKey = constant ?? (run.singleUse ? run.sessionKey : randomSessionKey());
  return { kind: "agent", name: made.name ?? run.name, sessionKey, singleUse: constant === undefined, request };
}

/**
 * Stores the result of a mapping and enqueues what follows. It may be called again after it has failed halfway: the ids of
 * events and queue entries derive from the run, and a run or heartbeat that is enqueued needlessly does nothing. A run that
 * was cancelled meanwhile stays cancelled.
 */
async function storeMapped(deps: MappedHookDeps, run: RunDoc, made: MappedOutcome): Promise<MappedOutcome> {
  const { runs, mainEvents, hookCalls, hookRequests } = deps.stores;
  const { _id, round, sessionKey, mapped, requestId } = run;
  // These runs end here and are not finalized. Recorded first, because nobody returns to a run that has ended.
  const end = made.kind === "dropped" ? "dropped" : "completed";
  if (made.kind === "job" && (await runs.isUnmapped(_id, round))) {
    await applyReports(deps.stores, made.reports, run.traceparent);
  }
  if (requestId !== undefined && made.kind !== "agent" && made.kind !== "failed") {
    await hookRequests.recordRun(requestId, _id, end, made.kind === "job" ? made.jobId : undefined);
  }
  switch (made.kind) {
    case "job": {
      const { reports: _, ...report } = made;
      await runs.applyMapping(_id, round, report);
      break;
    }
    case "agent":
      await runs.applyMapping(_id, round, made);
      await enqueueTurn(deps, _id, round);
      break;
    case "event": {
      const { text, wake, ...event } = made;
      const { name } = event;
      if (await runs.isUnmapped(_id, round)) {
        await mainEvents.add([
          { _id: `hook-${_id}-${round}`, text, source: name ?? "wake hook", wake, depth: run.depth },
        ]);
        await runs.applyMapping(_id, round, event);
      }
      if (wake) await deps.triggerHeartbeat();
      break;
    }
    case "dropped":
      await runs.applyMapping(_id, round, made);
      break;
    case "failed":
      await runs.applyMapping(_id, round, made);
      await deps.finalize(_id);
      return made;
  }
  if (made.kind !== "agent" || made.sessionKey !== sessionKey) await enqueueNext(deps, run);
  if (mapped?.item) await deleteUnusedCall({ hookCalls, runs }, mapped.item.call);
  return made;
}

/** Enqueues a mapped run for its agent turn, unless it has ended. */
async function enqueueTurn({ stores, enqueue }: MappedHookDeps, runId: string, round: number): Promise<void> {
  const run = await stores.runs.find(runId);
  if (!run.open || run.round !== round || run.stage !== "turn") return;
  await trackAccepted(stores, run);
  await enqueue(runId);
}

/** Enqueues the next run of a session that this run has left, because that run waited for this one. */
async function enqueueNext({ stores, enqueue }: MappedHookDeps, { _id, round, sessionKey }: RunDoc): Promise<void> {
  const next = await stores.runs.findNext(sessionKey);
  if (next?.stage === "turn") await enqueue(next._id, `after-${_id}-${round}`);
}
