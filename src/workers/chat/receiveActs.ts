import { setTimeout as sleep } from "node:timers/promises";
import type { InboundSource } from "../../channels/inbound.ts";
import { backoff, MAX_RETRY_AFTER_MS } from "../../shared/backoff.ts";
import type { Timings } from "../../shared/timings.ts";
import { startLeasedTask } from "../leasedTask.ts";
import type { ChatDeps } from "./chatDeps.ts";

interface ReceiveDeps extends Pick<ChatDeps, "stores" | "access" | "clock" | "log" | "queues"> {
  readonly channel: string;
  readonly source: InboundSource;
  readonly timings: Pick<Timings, "chat" | "lease">;
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

/** Returns the name of the lease of the worker that receives what people do in a channel. */
export const inboundTask = (channel: string): string => `updates of ${channel}`;

/**
 * Receives what people do from a source, as long as this process holds the lease: a service refuses a second reader, or divides
 * what it sends among several. Acts are stored before they are confirmed, once by their ids.
 */
export function receiveActs(deps: ReceiveDeps): { close(): Promise<void> } {
  const { log, channel } = deps;
  return startLeasedTask(deps, {
    name: inboundTask(channel),
    work: (signal, holder) => receive(deps, holder, signal),
    onError: (error) =>
      log.debug({ channel, err: error }, "what people have done could not be stored; it is tried again"),
  });
}

/** Receives acts until the signal is aborted. @throws AppError unavailable */
async function receive(
  { stores, access, log, channel, source, timings, queues }: ReceiveDeps,
  holder: string,
  signal: AbortSignal,
): Promise<void> {
  const retryMs = backoff({ initialMs: timings.chat.retryMs, maxMs: timings.chat.maxRetryMs, jitter: 0.2 });
  let failures = 0;
  let fault: string | null | undefined;
  /** Keeps why nothing arrives with the lease, where the check of the channel finds it; null if it does. */
  const report = async (reason: string | null) => {
    if (reason === fault) return;
    if (reason !== null) log.warn({ channel, reason }, "the acts of people do not arrive; it is tried again");
    else if (fault !== undefined) log.info({ channel }, "the acts of people arrive again");
    fault = reason;
    await stores.leases.setFault(inboundTask(channel), holder, reason);
  };
  const sink = {
    async works() {
      failures = 0;
      await report(null);
    },
    async take(acts: Parameters<typeof stores.chatUpdates.add>[1]) {
      const read = acts.filter(({ event }) => access.isRead(channel, event));
      if ((await stores.chatUpdates.add(channel, read)) > 0) queues.triggerChat();
    },
  };
  while (!signal.aborted) {
    const { reason, afterMs } = await source(sink, signal);
    if (signal.aborted) return;
    await report(reason);
    await pause(Math.min(Math.max(afterMs ?? 0, retryMs(++failures)), MAX_RETRY_AFTER_MS), signal);
  }
}
