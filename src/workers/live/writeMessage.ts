import { hash, randomUUID } from "node:crypto";
import type { Channel, EditOutcome, OutgoingMessage } from "../../channels/channel.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import type { LiveMessageDoc } from "../../models/notifications/liveMessage.ts";
import type { Stores } from "../../models/stores.ts";
import { backoff } from "../../shared/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Timings } from "../../shared/timings.ts";
import { type ChannelLimiter, limitMs } from "../deliveries/channelLimiter.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import type { Followed } from "./chat.ts";

/** Maximum times that a first message is sent whose fate is unknown, because each may have arrived. */
const MAX_SENDS = 4;
/** How long such a message waits after the first time, and the factor of each further wait. */
const SEND_AGAIN_MS = 60_000;
const SEND_AGAIN_FACTOR = 4;
/** The share of the lease that a request may take, so that the outcome is stored under the lease. */
const REQUEST_SHARE = 2 / 3;

/** The pause of a chat after failed requests in a row. */
const pauseAfter = backoff({ initialMs: 3_000, maxMs: 60_000, jitter: 0.25 });

export interface WriteDeps {
  readonly stores: Pick<Stores, "liveMessages">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly timings: Timings;
}

/** A channel whose messages follow jobs, and the limiter that it shares with its deliveries. */
export interface LiveChannel {
  readonly channel: Channel;
  readonly limiter: ChannelLimiter;
}

/** The text of a message, and the times of its job; without times the job was deleted. */
export interface Shown extends Pick<OutgoingMessage, "title" | "link"> {
  readonly markdown: string;
  readonly times: { readonly createdAt: Date; readonly updatedAt: Date } | undefined;
}

/**
 * How a write ended. `shown`: the service has the text. `over`: no further write is of use. `later`: the message waits, and with
 * `chatMs` all of its chat.
 */
export type WriteOutcome =
  | { readonly kind: "shown" | "over" }
  | { readonly kind: "later"; readonly ms: number; readonly chatMs?: number };

/** A message whose lease is held, and its chat. */
interface Held {
  readonly message: Followed;
  readonly record: LiveMessageDoc;
  readonly token: string;
  readonly shown: Shown;
}

/** Sends or edits the message of a job under its lease. Nobody makes good for a lost edit: the next one has the newest state. */
export async function writeMessage(
  deps: WriteDeps,
  channel: LiveChannel,
  message: Followed,
  { shown, signal }: { readonly shown: Shown; readonly signal: AbortSignal },
): Promise<WriteOutcome> {
  const { stores, clock, timings } = deps;
  const { durationMs, renewEveryMs } = timings.lease;
  const now = clock.now();
  const lease = { token: randomUUID(), until: new Date(now.getTime() + durationMs), now };
  const record = shown.times
    ? await stores.liveMessages.acquire(message.id, { ...message.job, ...shown.times }, lease)
    : await stores.liveMessages.acquireOpen(message.id, lease);
  if (record === "over") return { kind: "over" };
  if (record === "held") return { kind: "later", ms: renewEveryMs };
  const held = { message, record, token: lease.token, shown };
  const { id, isShown, sends } = record;
  if (id === null && (isShown || sends >= MAX_SENDS || !shown.times)) return end(deps, held, {}, { kind: "over" });
  return request(deps, channel, held, signal);
}

async function request(
  deps: WriteDeps,
  { channel, limiter }: LiveChannel,
  held: Held,
  signal: AbortSignal,
): Promise<WriteOutcome> {
  const { message, record, token } = held;
  const admission = await limiter.admit(signal);
  if (admission.kind === "refused") return end(deps, held, {}, { kind: "later", ms: 0, chatMs: admission.forMs });
  let outcome: EditOutcome | undefined;
  try {
    const isHeld =
      record.id !== null ||
      // Stored before it is sent: a worker that ends in between leaves a message that may have arrived.
      (await deps.stores.liveMessages.keep(message.id, token, { sends: record.sends + 1 }, { isLast: false }));
    if (!isHeld) return { kind: "later", ms: 0 };
    const limited = AbortSignal.any([signal, AbortSignal.timeout(deps.timings.lease.durationMs * REQUEST_SHARE)]);
    outcome = await hand(channel, held, limited, { plain: false });
    if (outcome.kind === "content") outcome = await hand(channel, held, limited, { plain: true });
  } finally {
    limiter.report(admission.epoch, ["sent", "missing", "gone", "content", "refused"].includes(outcome?.kind ?? ""));
  }
  return apply(deps, held, outcome, { limiter, epoch: admission.epoch });
}

/** Hands a text to the service: as an edit, or as a message that can be edited later. */
function hand(
  channel: Channel,
  { message, record, shown }: Held,
  signal: AbortSignal,
  { plain }: { plain: boolean },
): Promise<EditOutcome> {
  const { markdown, title, link } = shown;
  const [part = { text: "", plain: "" }] = toParts(markdown, channel.style);
  const sent = {
    to: message.chat.to,
    text: plain ? part.plain : part.text,
    plainText: part.plain,
    plain,
    title,
    link,
    live: true,
    // The same for each attempt to send it; another one after the job was started again.
    key: hash("sha256", `${record._id} ${record.since.getTime()}`, "hex").slice(0, 40),
  } as const;
  if (record.id === null) return channel.send(sent, signal);
  if (!channel.editing) throw new Error("the configuration permits live messages only where they can be edited");
  return channel.editing.edit(sent, record.id, signal);
}

/** Stores how a request ended, and decides what follows. */
async function apply(
  deps: WriteDeps,
  held: Held,
  outcome: EditOutcome,
  { limiter, epoch }: { readonly limiter: ChannelLimiter; readonly epoch: number },
): Promise<WriteOutcome> {
  const { clock, log, timings } = deps;
  const { message, record } = held;
  const { chat } = message;
  const isFirst = record.id === null;
  const isRefused = outcome.kind !== "sent" && outcome.kind !== "missing";
  if (isRefused)
    log.debug({ channel: chat.channel, isFirst, reason: outcome.reason }, "a live message was not written");
  const unsent = isFirst ? { sends: record.sends } : {};
  chat.failures = isRefused ? chat.failures + 1 : 0;
  const later = (chatMs: number) => end(deps, held, unsent, { kind: "later", ms: 0, chatMs });
  switch (outcome.kind) {
    case "sent":
      // Without an id, the service cannot edit the message: the end of the job is a message of its own.
      return end(deps, held, { id: outcome.id, isShown: true }, { kind: outcome.id === null ? "over" : "shown" });
    case "missing":
      return end(deps, held, { id: null, isShown: true }, { kind: "over" });
    case "gone":
    case "content":
    case "refused":
      log.warn({ channel: chat.channel, reason: outcome.reason }, "a live message was refused and is not tried again");
      return end(deps, held, unsent, { kind: "over" });
    case "rate-limited": {
      const { retryAfterMs, reason, scope } = outcome;
      if (scope === "channel") return later(limiter.limit(epoch, retryAfterMs, reason));
      return later(limitMs(retryAfterMs, chat.failures, timings.channel));
    }
    case "authentication": {
      const { stoppedChannelMs } = timings.retry;
      if (limiter.stop(epoch, stoppedChannelMs, outcome.reason, clock.now()))
        log.error(
          { channel: chat.channel, reason: outcome.reason },
          "the channel is stopped because its service rejected the credentials",
        );
      return later(stoppedChannelMs);
    }
    case "transient":
      return later(pauseAfter(chat.failures));
    case "ambiguous": {
      const ms = isFirst ? SEND_AGAIN_MS * SEND_AGAIN_FACTOR ** record.sends : 0;
      return end(deps, held, {}, { kind: "later", ms, chatMs: pauseAfter(chat.failures) });
    }
  }
}

/** Stores a change and releases the lease; of a deleted job that is over, removes the message. */
async function end(
  { stores, timings }: WriteDeps,
  { message, token, shown }: Held,
  change: Partial<LiveMessageDoc>,
  outcome: WriteOutcome,
): Promise<WriteOutcome> {
  const { liveMessages } = stores;
  const isRemoved = !shown.times && outcome.kind !== "later";
  const store = async () => {
    if (isRemoved) await liveMessages.remove(message.id, token);
    else await liveMessages.keep(message.id, token, change, { isLast: true });
  };
  // Longer than the lease, nobody waits for MongoDB: another process may have the message by then.
  await retryWhileMongoIsDown(store, { signal: AbortSignal.timeout(timings.lease.durationMs), timings });
  return outcome;
}
