import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { compileMappings } from "../../hooks/mappings/mapping.ts";
import { MAILBOX_PARTS, type MailboxPart } from "../../models/gmailMailbox.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { withLease } from "../../shared/lease.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import { withDeadline } from "../../shared/timeouts.ts";
import type { Timings } from "../../shared/timings.ts";
import { failureOf, retryInMsOf } from "../api/failure.ts";
import { connectGoogle, type GmailConfig, type Google } from "../api/google.ts";
import { GoogleError } from "../api/googleError.ts";
import { ListingRequests } from "../api/listingRequests.ts";
import { keepWatch } from "../api/watch.ts";
import { catchUp } from "./catchUp.ts";
import { Health } from "./health.ts";
import { HeldMailbox, LeaseLost } from "./heldMailbox.ts";
import { Intake } from "./intake.ts";
import { takeNotices } from "./notices.ts";

export interface ListenerDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lease: Timings["lease"];
  /** Resolves after a time, or when the signal fires. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Listener {
  /** Ends what is under way, so that it can be done again, and lets another listen. */
  close(): Promise<void>;
}

/** Listens to a mailbox, as soon as no other process does. Closed by whoever started it. */
export function startListener(hooks: Config["hooks"], settings: GmailConfig, deps: ListenerDeps): Listener {
  const stopping = new AbortController();
  const listening = new MailboxListener(hooks, settings, deps).run(stopping.signal);
  return {
    async close() {
      stopping.abort();
      await listening;
    },
  };
}

const pauseFor = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});

class MailboxListener {
  readonly #hooks: Config["hooks"];
  readonly #settings: GmailConfig;
  readonly #deps: ListenerDeps;
  readonly #pause: NonNullable<ListenerDeps["pause"]>;
  /** Anew after a lasting failure: the credentials may be other ones by then. */
  #google: Google | undefined;
  #isRightMailbox = false;

  constructor(hooks: Config["hooks"], settings: GmailConfig, deps: ListenerDeps) {
    this.#hooks = hooks;
    this.#settings = settings;
    this.#deps = deps;
    this.#pause = deps.pause ?? pauseFor;
  }

  async run(stopping: AbortSignal): Promise<void> {
    const { stores, log, lease } = this.#deps;
    const { account } = this.#settings;
    const holder = `${hostname()}:${process.pid}`;
    while (!stopping.aborted) {
      const token = randomUUID();
      try {
        const isOurs = await stores.gmailMailboxes.take(account, { token, holder }, lease.durationMs);
        if (isOurs) await this.#hold(token, stopping);
      } catch (error) {
        log.warn({ err: error }, "the mailbox cannot be listened to; trying again");
      }
      await this.#pause(lease.acquireEveryMs, stopping);
    }
  }

  async #hold(token: string, stopping: AbortSignal): Promise<void> {
    const { stores, clock, log, lease } = this.#deps;
    const { account } = this.#settings;
    log.info("this process listens to the mailbox");
    const renew = (until: Date) => stores.gmailMailboxes.renew(account, token, until);
    try {
      const claim = { renew, now: () => clock.now() };
      await withLease(claim, lease, (lost) => this.#listen(token, AbortSignal.any([lost, stopping])));
    } finally {
      // MongoDB may be away: then the lease ends by itself.
      await stores.gmailMailboxes.release(account, token).catch(() => {});
      log.info("this process listens to the mailbox no longer");
    }
  }

  /** Until the signal fires or another process listens. @throws AppError unavailable, where it cannot begin */
  async #listen(token: string, signal: AbortSignal): Promise<void> {
    const { stores, queues, clock, log } = this.#deps;
    const { account, topic, subscription, label, renewEveryMinutes, pollEveryMinutes } = this.#settings;
    const state = await stores.gmailMailboxes.find(account);
    if (!state) return;
    const mailbox = new HeldMailbox(stores.gmailMailboxes, token, state);
    const health = new Health(mailbox, { stores, clock, log, triggerHeartbeat: () => queues.triggerHeartbeat() });
    const mappings = compileMappings(this.#hooks);
    const intake = new Intake({ ...this.#deps, hooks: this.#hooks, mappings, settings: this.#settings, mailbox });
    const listings = new ListingRequests();
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const keep = (part: MailboxPart, act: (google: Google) => Promise<number>, wake?: () => AbortSignal) =>
      this.#keepDoing(part, act, health, until, wake).finally(() => over.abort());

    const list = async (google: Google) => {
      await this.#checkMailbox(google, until);
      await listings.serve(() => catchUp({ mailbox, intake, label, clock, log }, google.gmail, until));
      return pollEveryMinutes * 60_000;
    };
    const watch = async (google: Google, topic: string) => {
      await this.#checkMailbox(google, until);
      return keepWatch({ mailbox, topic, label, renewEveryMinutes, clock }, google.gmail, until);
    };
    const parts: Partial<Record<MailboxPart, () => Promise<void>>> = {
      mails: () => keep("mails", list, () => listings.wanted),
      ...(subscription !== undefined && {
        notices: () =>
          keep("notices", ({ pubsub }) => takeNotices({ mailbox, subscription, listings, clock }, pubsub, until)),
      }),
      ...(topic !== undefined && { watch: () => keep("watch", (google) => watch(google, topic)) }),
    };
    for (const part of MAILBOX_PARTS) if (!parts[part]) await mailbox.noteFault(part, null);
    if (topic === undefined) await mailbox.note({ watch: null });
    await Promise.all(Object.values(parts).map((part) => part()));
  }

  /** Does an act again and again, each time after as long as it says; after failures longer and longer. */
  async #keepDoing(
    part: MailboxPart,
    act: (google: Google) => Promise<number>,
    health: Health,
    signal: AbortSignal,
    wake: () => AbortSignal = () => signal,
  ): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        this.#google ??= this.#connect();
        const pauseMs = await act(this.#google);
        failures = 0;
        await health.works(part);
        await withDeadline([signal, wake()], undefined, (woken) => this.#pause(pauseMs, woken));
      } catch (error) {
        if (signal.aborted || error instanceof LeaseLost) return;
        const failure = failureOf(error);
        failures++;
        const retryInMs = retryInMsOf(failure, failures);
        this.#deps.log.warn(
          { part, reason: failure.reason, failures, retryInMs, ...(failure.isUnnamed && { err: error }) },
          "trying again",
        );
        if (failure.isLasting) this.#google = undefined;
        const isLost = await health.fails(part, failure).catch((thrown: unknown) => thrown instanceof LeaseLost);
        if (isLost) return;
        await this.#pause(retryInMs, signal);
      }
    }
  }

  #connect(): Google {
    this.#isRightMailbox = false;
    return connectGoogle(this.#settings);
  }

  /** @throws GoogleError where the credentials lead to another one */
  async #checkMailbox({ gmail }: Google, signal: AbortSignal): Promise<void> {
    if (this.#isRightMailbox) return;
    const { emailAddress } = await gmail.getProfile(signal);
    if (emailAddress.toLowerCase() !== this.#settings.account.toLowerCase()) {
      throw new GoogleError("authorization", "The credentials are of another mailbox than hooks.gmail.account.");
    }
    this.#isRightMailbox = true;
  }
}
