import type { Channel, SendOutcome } from "../../channels/channel.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import { endChannelStop } from "../../models/deliveries/channelStop.ts";
import {
  type DeliveryChange,
  type DeliveryDoc,
  type DeliveryPart,
  isAskedFor,
  type PartChange,
  type SentRefs,
  sentRefs,
} from "../../models/deliveries/delivery.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import type { RunContext } from "../runWorkers.ts";
import { type AttemptOutcome, locationOf } from "./attemptOutcome.ts";
import { type ChannelLimiter, limitMs } from "./channelLimiter.ts";
import { hasButtons, outgoingMessage } from "./outgoingMessage.ts";

const MONGO_DOWN_RETRY_MS = 1_000;
const INTERNAL_FAULT = "The attempt failed because of an internal error";
/** Maximum rate limits for which one attempt waits. After that it releases the delivery, so that its worker is free. */
const MAX_LIMITS = 5;
/** Age at which a delivery fails that only waits for a rate limit or for valid credentials. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Maximum messages of one reply. Nobody reads more, and a service would take them for spam. */
const MAX_PARTS = 100;

export interface DeliveryAttemptDeps {
  readonly stores: Stores;
  readonly name: string;
  readonly channel: Channel;
  readonly metrics: WorkerMetrics;
}

/**
 * One attempt to deliver a reply. It continues with the first part that was not sent and runs through these states:
 *
 * - SPLIT: the reply is split into parts, unless an earlier attempt has stored them.
 * - WAIT: the channel's limiter delays the next part. A wait that is too long ends the attempt with `delay`.
 * - SEND: the part is stored as `sending`, then sent. If the worker dies here, the part may have arrived.
 * - APPLY: the result is stored. `sent` leads to WAIT with the next part; `content` leads to WAIT with the same part as
 *   plain text; a short rate limit leads to WAIT with the same part. Any other result ends the attempt.
 *
 * The attempt ends with an `AttemptOutcome` in any state when the lease is lost, the process stops or something throws.
 */
export class DeliveryAttempt {
  readonly #deps: DeliveryAttemptDeps;
  readonly #limiter: ChannelLimiter;
  readonly #delivery: DeliveryDoc;
  readonly #token: string;
  readonly #context: RunContext;
  readonly #signal: AbortSignal;
  #parts: DeliveryPart[];
  /** Rate limits of the channel that this attempt has met. */
  #limits = 0;
  #hasSentPart = false;
  /** True when the current part may have arrived before and the service can no longer recognize its idempotency key. */
  #mayDuplicate = false;
  /** Consecutive failed attempts. */
  #failures: number;
  /** Consecutive rate limits of the recipient without a time. */
  #limitsWithoutTime: number;

  /** @param signal aborts when the lease is lost or the process stops */
  constructor(
    deps: DeliveryAttemptDeps,
    limiter: ChannelLimiter,
    delivery: DeliveryDoc,
    token: string,
    context: RunContext,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#limiter = limiter;
    this.#delivery = delivery;
    this.#token = token;
    this.#context = context;
    this.#signal = signal;
    this.#parts = delivery.parts;
    this.#failures = delivery.failures;
    this.#limitsWithoutTime = delivery.limits;
  }

  /** Runs the attempt. Never throws: a delivery whose attempts never end would block its recipient for ever. */
  async run(): Promise<AttemptOutcome> {
    const outcome =
      this.#outcomeAfterCrash() ?? (await this.#sendParts().catch((thrown) => this.#outcomeOfThrown(thrown)));
    const { stopped } = this.#limiter;
    return outcome.kind === "delay" && stopped
      ? { ...outcome, change: { ...outcome.change, channelStop: stopped } }
      : outcome;
  }

  /** Returns `failed` when the previous worker died during the last permitted attempt; undefined when this one may run. */
  #outcomeAfterCrash(): AttemptOutcome | undefined {
    const { lease, maybeTwice } = this.#delivery;
    if (!lease?.isTakenOver) return undefined;
    const sending = this.#parts.find(({ state }) => state === "sending");
    const mayDuplicate = maybeTwice && sending !== undefined && !this.#isIdempotent(sending);
    const isLast = mayDuplicate || this.#failures > this.#context.timings.retry.deliveryMs.length;
    return isLast ? this.#fail("The worker ended during an attempt.", this.#failures) : undefined;
  }

  #outcomeOfThrown(thrown: unknown): AttemptOutcome {
    const code = thrown instanceof AppError ? thrown.code : undefined;
    // MongoDB is down: this does not count as a failed attempt, and the count could not be stored anyway.
    if (code === "unavailable") return { kind: "delay", afterMs: MONGO_DOWN_RETRY_MS, change: {} };
    if (code === "body_too_large") return { kind: "failed", reason: "The reply is too large to be delivered." };
    const { name: type, at } = locationOf(thrown);
    this.#context.log.error({ deliveryId: this.#delivery._id, channel: this.#deps.name, type, at }, INTERNAL_FAULT);
    return this.#retry(`${INTERNAL_FAULT}: see the worker's log.`, this.#mayDuplicate);
  }

  async #sendParts(): Promise<AttemptOutcome> {
    const { channel } = this.#deps;
    if (this.#parts.length === 0) {
      this.#parts = toParts(this.#delivery.text, channel.style).map((part) => ({
        ...part,
        state: "pending" as const,
        handedAt: null,
        asPlain: false,
        id: null,
      }));
      const { length } = this.#parts;
      if (length === 0) return { kind: "failed", reason: "The reply has no visible text." };
      if (length > MAX_PARTS) return { kind: "failed", reason: tooLong(length) };
      const { deliveries } = this.#deps.stores;
      if (!(await deliveries.update(this.#delivery._id, this.#token, { parts: this.#parts }))) return { kind: "lost" };
    }
    for (let index = this.#parts.findIndex(({ state }) => state !== "sent"); index >= 0; ) {
      const admission = await this.#limiter.admit(
        this.#signal,
        this.#retriedAt(),
        this.#delivery.event?.type === "gate.opened",
      );
      if (this.#signal.aborted) {
        if (admission.kind === "admitted") this.#limiter.report(admission.epoch, false);
        return { kind: this.#context.signal.aborted ? "stopped" : "lost" };
      }
      if (admission.kind === "refused") return this.#delay(admission.forMs, admission.reason);
      const outcome = await this.#sendPart(index, admission.epoch);
      if (outcome) return outcome;
      index = this.#parts.findIndex(({ state }) => state !== "sent");
    }
    return { kind: "sent" };
  }

  /** Sends one part and applies its result. Returns undefined when the attempt continues. */
  async #sendPart(index: number, epoch: number): Promise<AttemptOutcome | undefined> {
    const { name, metrics } = this.#deps;
    const { handedAt } = this.#parts[index] as DeliveryPart;
    let result: SendOutcome | undefined;
    try {
      result = await this.#send(index);
    } finally {
      const works = ["sent", "gone", "content", "refused"].includes(result?.kind ?? "");
      const endsStop = this.#limiter.report(epoch, works);
      // After a restart of the worker, only the record of the delivery has the stop.
      if (endsStop || (works && this.#delivery.channelStop)) await this.#endStop();
    }
    if (!result) return { kind: "lost" };
    metrics.deliveryAttempts.inc({ channel: name, result: result.kind });
    return this.#apply(result, index, epoch, { state: "pending", handedAt });
  }

  /** Never throws: the result of the message must be stored. A delivery that keeps the stop ends it when it is sent. */
  async #endStop(): Promise<void> {
    await endChannelStop(this.#deps.stores, this.#deps.name).catch(() => {});
  }

  /** Stores that a part is being sent, then sends it. Returns undefined when the lease is lost. */
  async #send(index: number): Promise<SendOutcome | undefined> {
    const { channel } = this.#deps;
    const part = this.#parts[index] as DeliveryPart;
    // A part with `handedAt` was sent by an earlier attempt and may have arrived.
    this.#mayDuplicate = part.handedAt !== null && !this.#isIdempotent(part);
    const sending = { state: "sending" as const, handedAt: part.handedAt ?? this.#context.clock.now() };
    const change = {
      ...(this.#mayDuplicate && { maybeTwice: true }),
      ...(!this.#hasSentPart && { attempts: this.#delivery.attempts + 1 }),
    };
    if (!(await this.#updatePart(index, sending, change))) return undefined;
    this.#hasSentPart = true;
    return channel.send(outgoingMessage(this.#delivery, this.#parts, index), this.#signal);
  }

  /**
   * Stores the result of one part and decides how the attempt continues. Returns undefined when it does.
   * @param unsent what is stored for a part that was certainly not sent now; an earlier attempt may have sent it
   */
  async #apply(
    result: SendOutcome,
    index: number,
    epoch: number,
    unsent: PartChange,
  ): Promise<AttemptOutcome | undefined> {
    const { name } = this.#deps;
    switch (result.kind) {
      case "sent":
        this.#failures = 0;
        this.#limitsWithoutTime = 0;
        return (await this.#storeSent(index, result)) ? undefined : { kind: "lost" };
      case "content":
      case "refused": {
        const isFinal = result.kind === "refused" || this.#parts[index]?.asPlain === true;
        await this.#updatePart(index, { ...unsent, asPlain: !isFinal });
        return isFinal ? { kind: "failed", reason: result.reason } : undefined;
      }
      case "gone":
        await this.#updatePart(index, unsent);
        return { kind: "gone", reason: result.reason };
      case "rate-limited": {
        const { retryAfterMs, reason } = result;
        if (result.scope === "recipient") {
          const limits = this.#limitsWithoutTime + (retryAfterMs === null ? 1 : 0);
          await this.#updatePart(index, unsent);
          const forMs = limitMs(retryAfterMs, limits, this.#context.timings.channel);
          const outcome = this.#delay(forMs, reason, { limits });
          return outcome.kind === "delay" ? { ...outcome, recipientRestsMs: forMs } : outcome;
        }
        const forMs = this.#limiter.limit(epoch, retryAfterMs, reason);
        await this.#updatePart(index, unsent);
        return ++this.#limits > MAX_LIMITS ? this.#delay(forMs, reason) : undefined;
      }
      case "authentication": {
        const { clock, log, timings } = this.#context;
        const { stoppedChannelMs } = timings.retry;
        if (this.#limiter.stop(epoch, stoppedChannelMs, result.reason, clock.now())) {
          log.error(
            { channel: name, reason: result.reason },
            "the channel is stopped because its service rejected the credentials",
          );
        }
        await this.#updatePart(index, unsent);
        return this.#delay(stoppedChannelMs, result.reason);
      }
      case "ambiguous":
        return this.#retry(result.reason, this.#mayDuplicate);
      case "transient":
        await this.#updatePart(index, unsent);
        return this.#retry(result.reason);
    }
  }

  /** Returns when a person last asked for the delivery, by a retry or a test; undefined when nobody did. */
  #retriedAt(): Date | undefined {
    return isAskedFor(this.#delivery) ? this.#delivery.since : undefined;
  }

  /** Ends the attempt without counting it as failed, until the delivery is too old. */
  #delay(afterMs: number, reason: string, change: DeliveryChange = {}): AttemptOutcome {
    const ageMs = this.#context.clock.now().getTime() - this.#delivery.since.getTime();
    if (ageMs >= GIVE_UP_AFTER_MS) return { kind: "failed", reason: `${reason} It was given up after a day.` };
    return { kind: "delay", afterMs, change: { reason, ...change } };
  }

  /** Counts the attempt as failed. @param isLast no further attempt is permitted */
  #retry(reason: string, isLast = false): AttemptOutcome {
    if (this.#context.signal.aborted) return { kind: "stopped" };
    const failures = this.#failures + 1;
    const afterMs = this.#context.timings.retry.deliveryMs[failures - 1];
    if (afterMs === undefined || isLast) return this.#fail(reason, failures);
    return { kind: "delay", afterMs, change: { reason, failures } };
  }

  #fail(reason: string, failures: number): AttemptOutcome {
    const isOpen = this.#parts.some(({ state }) => state === "sending");
    const times = failures === 1 ? "once" : `${failures} times`;
    const tried = `It was tried ${times}${isOpen ? ", and may have arrived" : ""}.`;
    return { kind: "failed", reason: `${reason} ${tried}` };
  }

  /** Returns whether the service still recognizes the key of a part that was sent before, so that it arrives only once. */
  #isIdempotent({ handedAt }: DeliveryPart): boolean {
    return this.#context.clock.now().getTime() - Number(handedAt) < this.#deps.channel.idempotentForMs;
  }

  #storeSent(index: number, { id, refs = [] }: Extract<SendOutcome, { kind: "sent" }>): Promise<boolean> {
    const { timings } = this.#context;
    const sent = refs.length > 0 ? sentRefs(this.#delivery, refs, hasButtons(this.#delivery, this.#parts, index)) : {};
    const update = () => this.#updatePart(index, { state: "sent", id }, { failures: 0, limits: 0 }, sent);
    return retryWhileMongoIsDown(update, { signal: this.#signal, timings });
  }

  /** Updates a part in memory and in its record. Returns false when the lease is lost. */
  #updatePart(index: number, part: PartChange, change: DeliveryChange = {}, refs: SentRefs = {}): Promise<boolean> {
    this.#parts[index] = { ...(this.#parts[index] as DeliveryPart), ...part };
    return this.#deps.stores.deliveries.updatePart(this.#delivery._id, this.#token, index, part, change, refs);
  }
}

const tooLong = (parts: number) =>
  `The reply would take ${parts} messages, and at most ${MAX_PARTS} are sent: it is kept with its run or session.`;
