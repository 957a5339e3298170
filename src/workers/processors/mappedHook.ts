import { mappedRequest } from "../../hooks/mappings/agentRequest.ts";
import type { MappedAgent } from "../../hooks/mappings/fields.ts";
import { defaultKeyOf, type HookCall, type Mapping } from "../../hooks/mappings/mapping.ts";
import { renderCall } from "../../hooks/templates/render.ts";
import type { TransformOutcome, TransformRequest } from "../../hooks/transforms/transforms.ts";
import { forgetCall, readCall } from "../../models/hooks/hookCalls.ts";
import type { MappedTo, RunDoc } from "../../models/runs/run.ts";
import { trackAccepted } from "../../models/runs/trackRun.ts";
import { contextOf, joinSession } from "../../models/sessions/sessionOwners.ts";
import type { Stores } from "../../models/stores.ts";
import { randomSessionKey } from "../../shared/config/formats/sessionKey.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { AppError, toAppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Processor, RunContext } from "../run.ts";
import type { Finalize } from "../runs/finalize.ts";
import { persist } from "../runs/persist.ts";

export interface MappedHookDeps {
  readonly stores: Stores;
  readonly mappings: readonly Mapping[];
  readonly hooks: Pick<
    Config["hooks"],
    "defaultSessionKey" | "allowedSessionKeyPrefixes" | "maxTimeoutSeconds" | "shareSessions"
  >;
  readonly defaults: Config["agents"]["defaults"];
  readonly metrics: WorkerMetrics;
  readonly finalize: Finalize;
  transform(request: TransformRequest, signal: AbortSignal): Promise<TransformOutcome>;
  /** After how long to come again where too many wait for this module already, else 0. */
  backpressureDelayMs(module: string): number;
  /** `occasion` tells one time from another, where the run may be on its queue already. */
  enqueue(runId: string, occasion?: string): Promise<void>;
  triggerHeartbeat(): Promise<void>;
}

/** Makes of a mapped hook's run what its mapping and its transform say: a run of the agent, an event, or nothing. */
export function mappedHookProcessor(deps: MappedHookDeps): Processor {
  return async ({ payload, lastTry }, context) => {
    const { runId } = payload as { runId: string };
    const run = await deps.stores.runs.find(runId);
    if (!run.open || run.stage !== "mapping") {
      await beginTurn(deps, runId, run.round); // the worker that mapped it may have died before it did
      return { kind: "done", result: { run: "over" } };
    }
    const mapping = deps.mappings.find(({ key }) => key === run.mapped?.mapping);
    const ms = mapping?.transform ? deps.backpressureDelayMs(mapping.transform.module) : 0;
    if (ms > 0) return { kind: "delay", ms };
    const end = (made: Made) => persist(() => conclude(deps, run, made), context);
    const fail = (thrown: unknown) => failed(thrown, lastTry, context);
    const claim = { renew: () => deps.stores.runs.isUnmapped(runId, run.round), now: () => context.clock.now() };
    const made = await withLease(claim, context.timings.lease, (cancelled) => {
      const signal = AbortSignal.any([cancelled, context.signal]);
      return make(deps, run, mapping, signal).catch((thrown) => {
        if (cancelled.aborted) return null;
        return fail(thrown);
      });
    });
    if (!made) return { kind: "done", result: { run: "cancelled" } };
    const ended = await end(made).catch((thrown) => end(fail(thrown)));
    deps.metrics.mapped.inc({ outcome: ended.kind });
    return { kind: "done", result: { run: ended.kind } };
  };
}

type Made = Exclude<MappedTo, { kind: "event" }> | { kind: "event"; name: string | null; text: string; wake: boolean };

/** Of its own fault a run fails; while no thread can be had, for some tries, or this process is to stop, it waits. */
function failed(thrown: unknown, lastTry: boolean, { signal, log }: RunContext): Made {
  const { code, message, cause } = toAppError(thrown);
  if (code === "unavailable" && (!lastTry || signal.aborted)) throw thrown;
  if (code === "internal") log.error({ err: cause }, "a mapping broke");
  return { kind: "failed", error: { code, message } };
}

async function make(
  deps: MappedHookDeps,
  run: RunDoc,
  mapping: Mapping | undefined,
  signal: AbortSignal,
): Promise<Made> {
  if (!mapping) {
    const detail = `The configuration has no mapping ${run.mapped?.mapping} any more.`;
    throw new AppError("mapping_failed", { detail });
  }
  const { item } = run.mapped ?? {};
  const call = JSON.parse((run.mapped && (await readCall(deps.stores, run.mapped))) ?? "") as HookCall;
  const request = mapping.transform && { ...mapping.transform, input: call, label: run._id };
  const transformed: TransformOutcome = request ? await deps.transform(request, signal) : { kind: "kept" };
  const made = renderCall(mapping, call, run.createdAt, transformed);
  if (made === null) return { kind: "dropped" };
  const { length } = made.kind === "agent" ? made.message : made.text;
  if (item && !(await deps.stores.hookCalls.tell(item.call, length))) {
    const field = made.kind === "agent" ? "message" : "text";
    const detail = `${field} repeats the request in too many of its runs: have the template name the item alone.`;
    throw new AppError("mapping_failed", { detail });
  }
  if (made.kind === "agent") {
    const asked = mappedRequest(made, mapping, transformed, deps.hooks, deps.defaults);
    await checkOwner(deps, run, mapping, asked.sessionKey);
    return agentRun(run, made, asked);
  }
  const { text, mode, name = null } = made;
  return { kind: "event", name, text, wake: mode !== "next-heartbeat" };
}

/** The default session is open to a mapping that would be in it without a word. @throws AppError mapping_failed */
async function checkOwner({ stores, hooks }: MappedHookDeps, run: RunDoc, mapping: Mapping, key: string | undefined) {
  if (key === undefined || hooks.shareSessions || key === defaultKeyOf(mapping, hooks)) return;
  if (key !== hooks.defaultSessionKey && (await joinSession(stores, key, contextOf(run)))) return;
  const detail = "sessionKey names a session that belongs to another hook (hooks.shareSessions).";
  throw new AppError("mapping_failed", { detail });
}

function agentRun(run: RunDoc, made: MappedAgent, asked: ReturnType<typeof mappedRequest>): Made {
  const { sessionKey: constant, request } = asked;
  // a key of its own was made at acceptance
  const sessionKey = constant ?? (run.singleUse ? run.sessionKey : randomSessionKey());
  return { kind: "agent", name: made.name ?? run.name, sessionKey, singleUse: constant === undefined, request };
}

/**
 * Writes what the mapping made of a run, and enqueues what follows. It may be called again after it has failed halfway: events
 * and jobs are named after the run, and a run or heartbeat that is enqueued in vain does nothing. Nothing comes of a run that
 * was cancelled meanwhile.
 */
async function conclude(deps: MappedHookDeps, run: RunDoc, made: Made): Promise<Made> {
  const { runs, events, hookCalls } = deps.stores;
  const { _id, round, sessionKey, mapped } = run;
  switch (made.kind) {
    case "agent":
      await runs.mapTo(_id, round, made);
      await beginTurn(deps, _id, round);
      break;
    case "event": {
      const { name, text, wake } = made;
      if (await runs.isUnmapped(_id, round)) {
        await events.add([{ _id: `hook-${_id}-${round}`, text, source: name ?? "wake hook", wake }]);
        await runs.mapTo(_id, round, { kind: "event", name });
      }
      if (wake) await deps.triggerHeartbeat();
      break;
    }
    case "dropped":
      await runs.mapTo(_id, round, made);
      break;
    case "failed":
      await runs.mapTo(_id, round, made);
      await deps.finalize(_id);
      return made;
  }
  if (made.kind !== "agent" || made.sessionKey !== sessionKey) await passOn(deps, run);
  if (mapped?.item) await forgetCall({ hookCalls, runs }, mapped.item.call);
  return made;
}

/** Enqueues a mapped run for its turn, unless it has ended. */
async function beginTurn({ stores, enqueue }: MappedHookDeps, runId: string, round: number): Promise<void> {
  const run = await stores.runs.find(runId);
  if (!run.open || run.round !== round || run.stage !== "turn") return;
  await trackAccepted(stores, run);
  await enqueue(runId);
}

/** Enqueues the next run of a session that the run has left: it waited for this one. */
async function passOn({ stores, enqueue }: MappedHookDeps, { _id, round, sessionKey }: RunDoc): Promise<void> {
  const next = await stores.runs.findNext(sessionKey);
  if (next?.stage === "turn") await enqueue(next._id, `after-${_id}-${round}`);
}
