import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { UpdatesReader } from "../../channels/telegram/updates.ts";
import { backoff } from "../../shared/backoff.ts";
import { withLease } from "../../shared/lease.ts";
import type { Timings } from "../../shared/timings.ts";
import type { ChatDeps } from "./chatDeps.ts";

interface PollDeps extends Pick<ChatDeps, "stores" | "access" | "clock" | "log"> {
  readonly channel: string;
  readonly read: UpdatesReader;
  readonly timings: Pick<Timings, "chat" | "lease">;
  /** Lets a worker handle the updates that were stored. */
  readonly trigger: () => void;
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

/**
 * Reads the updates of a service that has to be asked for them, as long as this process holds the lease: a service refuses a
 * second reader. The offset is nowhere stored: a service repeats whatever was not confirmed, and updates are stored before they
 * are confirmed, once by their ids.
 */
export function pollUpdates(deps: PollDeps): { close(): Promise<void> } {
  const stopping = new AbortController();
  const polling = run(deps, stopping.signal);
  return {
    async close() {
      stopping.abort();
      await polling;
    },
  };
}

async function run(deps: PollDeps, stopping: AbortSignal): Promise<void> {
  const { stores, clock, log, channel, timings } = deps;
  const { durationMs, acquireEveryMs } = timings.lease;
  const holder = randomUUID();
  const name = `updates of ${channel}`;
  const renew = () => stores.leases.acquire(name, holder, durationMs);
  while (!stopping.aborted) {
    try {
      if (await renew()) {
        const lease = { renew, now: () => clock.now() };
        await withLease(lease, timings.lease, (lost) => poll(deps, AbortSignal.any([lost, stopping])));
        await stores.leases.release(name, holder);
      }
    } catch (error) {
      log.debug({ channel, err: error }, "updates could not be stored; it is tried again");
    }
    await pause(acquireEveryMs, stopping);
  }
}

/** Reads updates until the signal is aborted. @throws AppError unavailable */
async function poll(
  { stores, access, log, channel, read, timings, trigger }: PollDeps,
  signal: AbortSignal,
): Promise<void> {
  const retryMs = backoff({ initialMs: timings.chat.retryMs, maxMs: timings.chat.maxRetryMs, jitter: 0.2 });
  let offset: number | undefined;
  let failures = 0;
  let logged: string | undefined;
  while (!signal.aborted) {
    const outcome = await read(offset, signal);
    if (outcome.kind === "updates") {
      if (logged !== undefined) log.info({ channel }, "the updates of people can be read again");
      [failures, logged] = [0, undefined];
      const acts = outcome.updates.flatMap(({ id, event }) =>
        event && access.isRead(channel, event) ? [{ id, event }] : [],
      );
      if ((await stores.chatUpdates.add(channel, acts)) > 0) trigger();
      offset = outcome.next;
      continue;
    }
    if (signal.aborted) return;
    const { reason, afterMs } = outcome;
    if (reason !== logged) log.warn({ channel, reason }, "the updates of people cannot be read; it is tried again");
    logged = reason;
    await pause(Math.max(afterMs ?? 0, retryMs(++failures)), signal);
  }
}
