import { setTimeout as pause } from "node:timers/promises";
import { readChanges } from "../../shared/queue/changeReader.ts";
import type { RedisConnection } from "../../shared/queue/redis.ts";
import { startLeasedTask } from "../leasedTask.ts";
import { logFailure } from "../periodic.ts";
import { type LiveDeps, LiveWriter } from "./liveWriter.ts";

const TASK = "live messages";

export interface StartLiveDeps extends LiveDeps {
  readonly prefix: string;
  /** Opens a connection for reading the stream of changes. */
  openReader(): RedisConnection;
}

/**
 * Starts the messages that follow jobs, if a rule has any. One worker process at a time writes them, under a lease, because the
 * pace of a chat is that of all its messages. Redis says what has changed, and MongoDB keeps which message belongs to which
 * job, so that another process goes on with the same messages.
 */
export function startLive(deps: StartLiveDeps): { close(): Promise<void> } {
  if (deps.rules.length === 0) return { close: async () => {} };
  return startLeasedTask(deps, {
    name: TASK,
    isStrict: true,
    work: (signal) => write(deps, signal),
    onError: (error) => logFailure(deps, TASK, error),
  });
}

/** Writes the messages until the signal aborts. */
async function write(deps: StartLiveDeps, signal: AbortSignal): Promise<void> {
  const { timings, prefix } = deps;
  const writer = new LiveWriter(deps);
  const changes = readChanges(deps.openReader(), prefix, [writer.jobs], timings.readChanges);
  while (!signal.aborted) {
    await writer.jobs.update(signal).catch((error: unknown) => logFailure(deps, TASK, error));
    writer.start(signal);
    await pause(timings.live.everyMs, undefined, { signal }).catch(() => {});
  }
  await Promise.all([changes.close(), writer.close()]);
}
