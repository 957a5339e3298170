import type { Channel, SendResult } from "../../channels/channel.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import type { DeliveryChange, DeliveryDoc, DeliveryPart, PartChange } from "../../models/deliveries/delivery.ts";
import type { Stores } from "../../models/stores.ts";
import { AppError } from "../../shared/errors.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { RunContext } from "../run.ts";
import { persist } from "../runs/persist.ts";
import { type ChannelGate, limitMs } from "./channelGate.ts";

/** How soon it is looked whether MongoDB is there again. */
const AWAY_MS = 1_000;
const OWN_FAULT = "The try broke off for a fault of this service";
/** So many limits in a row are waited for in place, then the delivery is given back for a while. */
const MOST_LIMITS = 5;
/** What waits for a limit or for good credentials is given up in the end. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Nobody reads so many messages, and a service would take them for spam. */
const MOST_PARTS = 100;

export interface SendingDeps {
  readonly stores: Stores;
  readonly name: string;
  readonly channel: Channel;
  readonly metrics: WorkerMetrics;
}

/** What is to become of the delivery after a part of it has been handed over. */
export type Verdict =
  | { readonly kind: "sent" | "stopped" | "lost" }
  | { readonly kind: "failed" | "gone"; readonly reason: string }
  | { readonly kind: "later"; readonly afterMs: number; readonly change: DeliveryChange };

/** One try of a delivery. */
export class Sending {
  readonly #deps: SendingDeps;
  readonly #gate: ChannelGate;
  readonly #delivery: DeliveryDoc;
  readonly #token: string;
  readonly #context: RunContext;
  readonly #signal: AbortSignal;
  #parts: DeliveryPart[];
  #limits = 0;
  #hasHanded = false;
  /** The part was handed over before, may be there already, and the service can no longer tell that it is the same. */
  #isBlind = false;
  /** In a row. */
  #failures: number;
  #untoldLimits: number;

  constructor(
    deps: SendingDeps,
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
    this.#failures = delivery.failures;
    this.#untoldLimits = delivery.limits;
  }

  /** Never throws: a delivery of which no try comes to an end would hold up its recipient for ever. */
  async run(): Promise<Verdict> {
    try {
      return this.#afterDeath() ?? (await this.#sendParts());
    } catch (thrown) {
      return this.#afterFault(thrown);
    }
  }

  /** A worker that had it before has died in the middle of it, which counts as a try that failed. */
  #afterDeath(): Verdict | undefined {
    const { claim, maybeTwice } = this.#delivery;
    if (!claim?.isTakenOver) return undefined;
    const handed = this.#parts.find(({ state }) => state === "sending");
    const isBlind = maybeTwice && handed !== undefined && !this.#isKnown(handed);
    const isLast = isBlind || this.#failures > this.#context.timings.retry.deliveryMs.length;
    return isLast ? this.#fail("The worker that was at it ended in the middle of a try.", this.#failures) : undefined;
  }

  #afterFault(thrown: unknown): Verdict {
    const code = thrown instanceof AppError ? thrown.code : undefined;
    // Nobody's fault, and nothing can be written down for now: not even that.
    if (code === "unavailable") return { kind: "later", afterMs: AWAY_MS, change: {} };
    if (code === "body_too_large") return { kind: "failed", reason: "The reply is too large to be delivered." };
    const { name: type, at } = placeOf(thrown);
    this.#context.log.error({ deliveryId: this.#delivery._id, channel: this.#deps.name, type, at }, OWN_FAULT);
    return this.#tryAgain(`${OWN_FAULT}: see the worker's log.`, this.#isBlind);
  }

  async #sendParts(): Promise<Verdict> {
    const { channel } = this.#deps;
    if (this.#parts.length === 0) {
      this.#parts = toParts(this.#delivery.text, channel.style).map((part) => ({
        ...part,
        ...{ state: "pending" as const, handedAt: null, asPlain: false, id: null },
      }));
      const { length } = this.#parts;
      if (length === 0) return { kind: "failed", reason: "The reply shows nothing." };
      if (length > MOST_PARTS) return { kind: "failed", reason: tooLong(length) };
      const { deliveries } = this.#deps.stores;
      if (!(await deliveries.update(this.#delivery._id, this.#token, { parts: this.#parts }))) return { kind: "lost" };
    }
    for (let index = this.#parts.findIndex(({ state }) => state !== "sent"); index >= 0; ) {
      const pass = await this.#gate.pass(this.#signal, this.#askedAt());
      if (this.#signal.aborted) {
        if (pass.kind === "open") this.#gate.heard(pass.era, false);
        return { kind: this.#context.signal.aborted ? "stopped" : "lost" };
      }
      if (pass.kind === "closed") return this.#wait(pass.forMs, pass.reason);
      const verdict = await this.#send(index, pass.era);
      if (verdict) return verdict;
      index = this.#parts.findIndex(({ state }) => state !== "sent");
    }
    return { kind: "sent" };
  }

  /** Sends one part. @returns nothing when the delivery goes on */
  async #send(index: number, era: number): Promise<Verdict | undefined> {
    const { name, metrics } = this.#deps;
    const { handedAt } = this.#parts[index] as DeliveryPart;
    let result: SendResult | undefined;
    try {
      result = await this.#hand(index);
    } finally {
      const isWell = ["sent", "gone", "content", "refused"].includes(result?.kind ?? "");
      if (this.#gate.heard(era, isWell)) metrics.channelStopped.set({ channel: name }, 0);
    }
    if (!result) return { kind: "lost" };
    metrics.deliveryAttempts.inc({ channel: name, result: result.kind });
    return this.#follow(result, index, era, { state: "pending", handedAt });
  }

  /** @returns what became of the part; nothing when the delivery is no longer this worker's */
  async #hand(index: number): Promise<SendResult | undefined> {
    const { channel } = this.#deps;
    const part = this.#parts[index] as DeliveryPart;
    // It was handed over before, and may have been sent.
    this.#isBlind = part.handedAt !== null && !this.#isKnown(part);
    const handing = { state: "sending" as const, handedAt: part.handedAt ?? this.#context.clock.now() };
    const change = {
      ...(this.#isBlind && { maybeTwice: true }),
      ...(!this.#hasHanded && { attempts: this.#delivery.attempts + 1 }),
    };
    if (!(await this.#note(index, handing, change))) return undefined;
    this.#hasHanded = true;
    const message = {
      to: this.#delivery.to ?? "",
      text: part.asPlain ? part.plain : part.text,
      plain: part.asPlain,
      key: `${this.#delivery._id}-${index}`.slice(-64),
    };
    return channel.send(message, this.#signal);
  }

  /** @param unsent what is noted of the part when it surely was not sent: an earlier try may have been */
  async #follow(result: SendResult, index: number, era: number, unsent: PartChange): Promise<Verdict | undefined> {
    const { name, metrics } = this.#deps;
    switch (result.kind) {
      case "sent":
        this.#failures = 0;
        this.#untoldLimits = 0;
        return (await this.#noteSent(index, result.id)) ? undefined : { kind: "lost" };
      case "content":
      case "refused": {
        const isOver = result.kind === "refused" || this.#parts[index]?.asPlain === true;
        await this.#note(index, { ...unsent, asPlain: !isOver });
        return isOver ? { kind: "failed", reason: result.reason } : undefined;
      }
      case "gone":
        await this.#note(index, unsent);
        return { kind: "gone", reason: result.reason };
      case "rate-limited": {
        const { retryAfterMs: toldMs, reason } = result;
        if (result.scope === "recipient") {
          const limits = this.#untoldLimits + (toldMs === null ? 1 : 0);
          await this.#note(index, unsent);
          return this.#wait(limitMs(toldMs, limits, this.#context.timings.channel), reason, { limits });
        }
        const forMs = this.#gate.limit(era, toldMs, reason);
        await this.#note(index, unsent);
        return ++this.#limits > MOST_LIMITS ? this.#wait(forMs, reason) : undefined;
      }
      case "authentication": {
        const { clock, log, timings } = this.#context;
        const { stoppedChannelMs } = timings.retry;
        if (this.#gate.stop(era, stoppedChannelMs, result.reason, clock.now())) {
          metrics.channelStopped.set({ channel: name }, 1);
          log.error({ channel: name, reason: result.reason }, "the channel is stopped: its credentials are not good");
        }
        await this.#note(index, unsent);
        return this.#wait(stoppedChannelMs, result.reason);
      }
      case "ambiguous":
        return this.#tryAgain(result.reason, this.#isBlind);
      case "transient":
        await this.#note(index, unsent);
        return this.#tryAgain(result.reason);
    }
  }

  /** When it was begun anew by hand; undefined where it never was. */
  #askedAt(): Date | undefined {
    const { since, createdAt } = this.#delivery;
    return since > createdAt ? since : undefined;
  }

  #wait(afterMs: number, reason: string, change: DeliveryChange = {}): Verdict {
    if (this.#isOld()) return { kind: "failed", reason: `${reason} It was given up after a day.` };
    return { kind: "later", afterMs, change: { reason, ...change } };
  }

  #isOld(): boolean {
    return this.#context.clock.now().getTime() - this.#delivery.since.getTime() >= GIVE_UP_AFTER_MS;
  }

  /** @param isLast there is to be no further try */
  #tryAgain(reason: string, isLast = false): Verdict {
    if (this.#context.signal.aborted) return { kind: "stopped" };
    const failures = this.#failures + 1;
    const afterMs = this.#context.timings.retry.deliveryMs[failures - 1];
    if (afterMs === undefined || isLast) return this.#fail(reason, failures);
    return { kind: "later", afterMs, change: { reason, failures } };
  }

  #fail(reason: string, failures: number): Verdict {
    const isOpen = this.#parts.some(({ state }) => state === "sending");
    const times = failures === 1 ? "once" : `${failures} times`;
    const tried = `It was tried ${times}${isOpen ? ", and may have arrived" : ""}.`;
    return { kind: "failed", reason: `${reason} ${tried}` };
  }

  /** Whether the service still knows the key under which a part was first handed over: then it is there once at most. */
  #isKnown({ handedAt }: DeliveryPart): boolean {
    return this.#context.clock.now().getTime() - Number(handedAt) < this.#deps.channel.idempotentForMs;
  }

  #noteSent(index: number, id: string | null): Promise<boolean> {
    const { timings } = this.#context;
    const note = () => this.#note(index, { state: "sent", id }, { failures: 0, limits: 0 });
    return persist(note, { signal: this.#signal, timings });
  }

  /** Notes what is known of a part. @returns false when the delivery is no longer this worker's */
  #note(index: number, part: PartChange, change: DeliveryChange = {}): Promise<boolean> {
    this.#parts[index] = { ...(this.#parts[index] as DeliveryPart), ...part };
    return this.#deps.stores.deliveries.updatePart(this.#delivery._id, this.#token, index, part, change);
  }
}

/** Where something was thrown, without what is said of it, which may quote a message. */
function placeOf(thrown: unknown): { name: string; at: string[] } {
  if (!(thrown instanceof Error)) return { name: typeof thrown, at: [] };
  const { name, message, stack = "" } = thrown;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  return { name, at: frames.map((frame) => frame.trim()).filter(Boolean) };
}

const tooLong = (parts: number) =>
  `The reply would take ${parts} messages, and at most ${MOST_PARTS} are sent: it is kept with its run or session.`;
