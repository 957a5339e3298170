import { hookContextOf } from "../../models/intake/sessionOwners.ts";
import { type ExecuteRunDeps, executeRun } from "../runs/executeRun.ts";
import type { TurnShares } from "../runs/turnShares.ts";
import type { Processor } from "../runWorkers.ts";

/**
 * Returns the processor of agent runs: it executes a run once its sender has a free turn.
 * @param turns the turns of this process, shared between senders
 */
export function agentHookProcessor(deps: ExecuteRunDeps, turns: TurnShares): Processor {
  return async ({ payload }, context) => {
    const { runId } = payload as { runId: string };
    const sender = await deps.stores.runs.findSender(runId);
    if (sender === null) return { kind: "done", result: { run: "over" } };
    const release = await turns.acquire(hookContextOf(sender), context.signal);
    if (typeof release === "number") return { kind: "delay", ms: release };
    try {
      return { kind: "done", result: { run: await executeRun(deps, runId, context) } };
    } finally {
      release();
    }
  };
}
