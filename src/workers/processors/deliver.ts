import { randomUUID } from "node:crypto";
import type { Channel, SendResult } from "../../channels/channel.ts";
import { toParts } from "../../channels/text/parts.ts";
import { claimDelivery } from "../../models/commands/claimDelivery.ts";
import type { DeliveryChange, DeliveryDoc, DeliveryPart, PartChange } from "../../models/delivery.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import { ChannelGate } from "../channelGate.ts";
import { LEASE_MS, underClaim } from "../claim.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { persist } from "../persist.ts";
import type { Processor, RunContext } from "../run.ts";

/** How long is waited after a try that failed; one more failure than these, and the delivery has failed. */
const TRY_AGAIN_AFTER_MS = [2_000, 10_000, 60_000, 300_000, 1_800_000] as const;
/** How long a service is left alone that does not say how long, and at least and at most whatever it says. */
const LIMITED_FOR_MS = 5_000;
const LEAST_LIMIT_MS = 1_000;
const MOST_LIMIT_MS = 24 * 3_600_000;
/** So many limits in a row are waited for in place, then the delivery is given back for a while. */
const MOST_LIMITS = 5;
/** How long nothing is sent to a channel whose credentials are not good; then one delivery tries them again. */
const STOPPED_FOR_MS = 5 * 60_000;
/** What waits for a limit or for good credentials is given up in the end. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;

export interface DeliverDeps {
  readonly stores: Stores;
  readonly name: string;
  readonly channel: Channel;
  readonly metrics: WorkerMetrics;
  /** Puts a delivery on the queue again; `occasion` tells one time from another. */
  requeue(deliveryId: string, occasion: string, delayMs: number): Promise<void>;
}

/** What is to become of the delivery after a part of it has been handed over. */
type Verdict =
  | { readonly kind: "sent" | "stopped" | "lost" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "later"; readonly afterMs: number; readonly change: DeliveryChange };

/** Sends the replies for one channel: part by part, from the first that was not sent. */
export function deliverProcessor(deps: DeliverDeps): Processor {
  const gate = new ChannelGate();
  return async ({ payload }, context) => {
    const { deliveryId } = payload as { deliveryId: string };
    const { deliveries } = deps.stores;
    const token = randomUUID();
    const now = context.clock.now();
    const delivery = await claimDelivery(deps.stores, deliveryId, token, new Date(now.getTime() + LEASE_MS), now);
    if (typeof delivery === "string") return { kind: "done", result: { delivery } };
    const claim = {
      renew: (until: Date) => deliveries.renew(deliveryId, token, until),
      now: () => context.clock.now(),
    };
    const verdict = await underClaim(claim, (lost) => {
      const signal = AbortSignal.any([lost, context.signal]);
      return new Sending(deps, gate, delivery, token, context, signal).run().catch(unkeepable);
    });
    await persist(() => conclude(deps, delivery, token, verdict, context), context.signal);
    return { kind: "done", result: { delivery: verdict.kind } };
  };
}

/** What cannot be written down cannot be sent either: it would hold up its recipient for ever. */
function unkeepable(thrown: unknown): Verdict {
  if (!(thrown instanceof AppError && thrown.code === "body_too_large")) throw thrown;
  return { kind: "failed", reason: "The reply is too large to be delivered." };
}

/** One try of a delivery. */
class Sending {
  readonly #deps: DeliverDeps;
  readonly #gate: ChannelGate;
  readonly #delivery: DeliveryDoc;
  readonly #token: string;
  readonly #context: RunContext;
  readonly #signal: AbortSignal;
  #parts: DeliveryPart[];
  #limits = 0;

  constructor(
    deps: DeliverDeps,
    gate: ChannelGate,
    delivery: DeliveryDoc,
    token: string,
    context: RunContext,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#gate = gate;
    this.#delivery = delivery;
    this.#token = token;
    this.#context = context;
    this.#signal = signal;
    this.#parts = delivery.parts;
  }

  async run(): Promise<Verdict> {
    const { channel } = this.#deps;
    if (this.#parts.length === 0) {
      this.#parts = toParts(this.#delivery.text, channel.style).map((part) => ({
        ...part,
        ...{ state: "pending" as const, handedAt: null, asPlain: false, id: null },
      }));
      if (this.#parts.length === 0) return { kind: "failed", reason: "The reply shows nothing." };
      const { deliveries } = this.#deps.stores;
      if (!(await deliveries.note(this.#delivery._id, this.#token, { parts: this.#parts }))) return { kind: "lost" };
    }
    for (let index = this.#parts.findIndex(({ state }) => state !== "sent"); index >= 0; ) {
      const closedForMs = await this.#gate.pass(this.#signal);
      if (this.#signal.aborted) return { kind: this.#context.signal.aborted ? "stopped" : "lost" };
      if (closedForMs > 0) return this.#wait(closedForMs, this.#gate.reason);
      const verdict = await this.#send(index);
      if (verdict) return verdict;
      index = this.#parts.findIndex(({ state }) => state !== "sent");
    }
    return { kind: "sent" };
  }

  /** Sends one part. @returns nothing when the delivery goes on */
  async #send(index: number): Promise<Verdict | undefined> {
    const { name, metrics } = this.#deps;
    const { era } = this.#gate;
    const { handedAt } = this.#parts[index] as DeliveryPart;
    let result: SendResult | undefined;
    try {
      result = await this.#hand(index);
    } finally {
      const areGood = ["sent", "gone", "content"].includes(result?.kind ?? "");
      if (this.#gate.heard(era, areGood)) metrics.channelStopped.set({ channel: name }, 0);
    }
    if (!result) return { kind: "lost" };
    metrics.deliveryAttempts.inc({ channel: name, result: result.kind });
    return this.#follow(result, index, { state: "pending", handedAt });
  }

  /** @returns what became of the part; nothing when the delivery is no longer this worker's */
  async #hand(index: number): Promise<SendResult | undefined> {
    const { channel } = this.#deps;
    const part = this.#parts[index] as DeliveryPart;
    const now = this.#context.clock.now();
    // It was handed over before, and may have been sent: a service that knows the key knows it for a while only.
    const isAgain = part.handedAt !== null;
    const maybeTwice = isAgain && now.getTime() - Number(part.handedAt) >= channel.idempotentForMs;
    const handing = { state: "sending" as const, handedAt: part.handedAt ?? now };
    if (!(await this.#note(index, handing, maybeTwice ? { maybeTwice } : {}))) return undefined;
    const message = {
      to: this.#delivery.to ?? "",
      text: part.asPlain ? part.plain : part.text,
      plain: part.asPlain,
      key: `${this.#delivery._id}-${index}`.slice(-64),
    };
    return channel.send(message, this.#signal);
  }

  /** @param unsent what is noted of the part when it surely was not sent: an earlier try may have been */
  async #follow(result: SendResult, index: number, unsent: PartChange): Promise<Verdict | undefined> {
    const { name, metrics } = this.#deps;
    switch (result.kind) {
      case "sent":
        await persist(() => this.#note(index, { state: "sent", id: result.id }, { attempts: 0 }), this.#signal);
        return undefined;
      case "content":
        if (this.#parts[index]?.asPlain) return { kind: "failed", reason: result.reason };
        await this.#note(index, { ...unsent, asPlain: true });
        return undefined;
      case "gone":
        return { kind: "failed", reason: result.reason };
      case "rate-limited": {
        const forMs = Math.min(Math.max(result.retryAfterMs ?? LIMITED_FOR_MS, LEAST_LIMIT_MS), MOST_LIMIT_MS);
        await this.#note(index, unsent);
        const isHere = result.scope === "channel" && ++this.#limits <= MOST_LIMITS;
        if (!isHere) return this.#wait(forMs, result.reason);
        this.#gate.close(forMs, result.reason);
        return undefined;
      }
      case "authentication": {
        const isNew = this.#gate.stop(STOPPED_FOR_MS, result.reason);
        metrics.channelStopped.set({ channel: name }, 1);
        const { log } = this.#context;
        const line = { channel: name, reason: result.reason };
        if (isNew) log.error(line, "the channel is stopped: its credentials are not good");
        await this.#note(index, unsent);
        return this.#wait(STOPPED_FOR_MS, result.reason);
      }
      case "ambiguous":
        return this.#tryAgain(result.reason);
      case "transient":
        await this.#note(index, unsent);
        return this.#tryAgain(result.reason);
    }
  }

  #wait(afterMs: number, reason: string): Verdict {
    if (this.#isOld()) return { kind: "failed", reason: `${reason} It was given up after a day.` };
    return { kind: "later", afterMs, change: { reason } };
  }

  #isOld(): boolean {
    return this.#context.clock.now().getTime() - this.#delivery.since.getTime() >= GIVE_UP_AFTER_MS;
  }

  #tryAgain(reason: string): Verdict {
    if (this.#context.signal.aborted) return { kind: "stopped" };
    const { attempts } = this.#delivery;
    const afterMs = TRY_AGAIN_AFTER_MS[attempts];
    if (afterMs === undefined) return { kind: "failed", reason: `${reason} It was tried ${attempts + 1} times.` };
    return { kind: "later", afterMs, change: { reason, attempts: attempts + 1 } };
  }

  /** Notes what is known of a part. @returns false when the delivery is no longer this worker's */
  #note(index: number, part: PartChange, change: DeliveryChange = {}): Promise<boolean> {
    this.#parts[index] = { ...(this.#parts[index] as DeliveryPart), ...part };
    return this.#deps.stores.deliveries.notePart(this.#delivery._id, this.#token, index, part, change);
  }
}

async function conclude(
  { stores, name, metrics, requeue }: DeliverDeps,
  { _id, lane, channel, to }: DeliveryDoc,
  token: string,
  verdict: Verdict,
  { clock, log }: RunContext,
): Promise<void> {
  const { deliveries, sessions } = stores;
  switch (verdict.kind) {
    case "lost":
      return;
    case "stopped":
      await deliveries.retryLater(_id, token, null);
      return requeue(_id, token, 0);
    case "later": {
      const notBefore = new Date(clock.now().getTime() + verdict.afterMs);
      await deliveries.retryLater(_id, token, notBefore, verdict.change);
      return requeue(_id, `at-${notBefore.getTime()}`, verdict.afterMs);
    }
    case "sent":
      if (to !== null) await sessions.setRoute({ channel, to });
      await deliveries.end(_id, token, "sent", null);
      break;
    case "failed":
      log.warn({ deliveryId: _id, channel, reason: verdict.reason }, "a delivery has failed");
      await deliveries.end(_id, token, "failed", verdict.reason);
  }
  metrics.deliveries.inc({ channel: name, outcome: verdict.kind });
  const next = await deliveries.findNext(lane);
  if (next) await requeue(next._id, `after-${_id}`, 0);
}
