import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config/config.ts";
import { compileMappings } from "../../hooks/mappings/mapping.ts";
import { MAILBOX_PARTS, type MailboxPart } from "../../models/gmailMailbox.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import { withLease } from "../../shared/lease.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import { withDeadline } from "../../shared/timeouts.ts";
import type { Timings } from "../../shared/timings.ts";
import { retryDelayMs, toFailure } from "../api/failure.ts";
import type { GmailApi } from "../api/gmailApi.ts";
import { connectGoogle, type GmailConfig, type Google, type GoogleAddresses } from "../api/google.ts";
import { GoogleError } from "../api/googleError.ts";
import { ListingRequests } from "../api/listingRequests.ts";
import { catchUp } from "./catchUp.ts";
import { Health } from "./health.ts";
import { LeasedMailbox, LeaseLost } from "./leasedMailbox.ts";
import { MailImporter } from "./mailImporter.ts";
import { pullNotifications } from "./notifications.ts";

interface ListenerDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lease: Timings["lease"];
  readonly google?: GoogleAddresses | undefined;
  /** Resolves after the delay, or as soon as the signal is aborted. Tests replace it. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export interface Listener {
  /** Stops the work in progress, which can be repeated safely, and releases the mailbox. */
  close(): Promise<void>;
}

/** Starts to listen to a mailbox, as soon as no other process does. The caller closes the listener. */
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

/**
 * A listener alternates between two states until it is stopped:
 * - *waiting*: another process holds the mailbox's lease; the listener tries to acquire it at intervals.
 * - *listening*: it holds the lease and repeats its parts concurrently: `mails` lists and imports, `notices` pulls
 *   notifications, `watch` renews the watch. A failed part retries by itself; a lost lease ends all parts.
 */
class MailboxListener {
  readonly #hooks: Config["hooks"];
  readonly #settings: GmailConfig;
  readonly #deps: ListenerDeps;
  readonly #pause: NonNullable<ListenerDeps["pause"]>;
  /** Recreated after a lasting failure, as the credentials file may have changed. */
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
        const isAcquired = await stores.gmailMailboxes.acquire(account, { token, holder }, lease.durationMs);
        if (isAcquired) await this.#runWithLease(token, stopping);
      } catch (error) {
        log.warn({ err: error }, "the listener failed; it retries");
      }
      await this.#pause(lease.acquireEveryMs, stopping);
    }
  }

  async #runWithLease(token: string, stopping: AbortSignal): Promise<void> {
    const { stores, clock, log, lease } = this.#deps;
    const { account } = this.#settings;
    log.info("this process listens to the mailbox");
    const renew = (until: Date) => stores.gmailMailboxes.renew(account, token, until);
    try {
      const leaseClient = { renew, now: () => clock.now() };
      await withLease(leaseClient, lease, (lost) => this.#listen(token, AbortSignal.any([lost, stopping])));
    } finally {
      // If MongoDB is unavailable, the lease expires by itself.
      await stores.gmailMailboxes.release(account, token).catch(() => {});
      log.info("this process no longer listens to the mailbox");
    }
  }

  /** Runs all parts until the signal is aborted or the lease is lost. @throws AppError unavailable if it cannot start */
  async #listen(token: string, signal: AbortSignal): Promise<void> {
    const { stores, queues, clock, log } = this.#deps;
    const { account, topic, subscription, label, pollEveryMinutes } = this.#settings;
    const state = await stores.gmailMailboxes.find(account);
    if (!state) return;
    const mailbox = new LeasedMailbox(stores.gmailMailboxes, token, state);
    const health = new Health(mailbox, { stores, clock, log, triggerHeartbeat: () => queues.triggerHeartbeat() });
    const mappings = compileMappings(this.#hooks);
    const importer = new MailImporter({
      ...this.#deps,
      hooks: this.#hooks,
      mappings,
      settings: this.#settings,
      mailbox,
    });
    const listings = new ListingRequests();
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    const repeatPart = (part: MailboxPart, action: (google: Google) => Promise<number>, wake?: () => AbortSignal) =>
      this.#repeat(part, action, health, until, wake).finally(() => ended.abort());

    const listMails = async (google: Google) => {
      await this.#checkMailbox(google, until);
      await listings.run(() => catchUp({ mailbox, importer, label, clock, log }, google.gmail, until));
      return pollEveryMinutes * 60_000;
    };
    const watch = async (google: Google, topic: string) => {
      await this.#checkMailbox(google, until);
      return renewWatch({ mailbox, topic, label, clock }, google.gmail, until);
    };
    const parts: Partial<Record<MailboxPart, () => Promise<void>>> = {
      mails: () => repeatPart("mails", listMails, () => listings.requested),
      ...(subscription !== undefined && {
        notices: () =>
          repeatPart("notices", ({ pubsub }) =>
            pullNotifications({ mailbox, subscription, listings, clock }, pubsub, until),
          ),
      }),
      ...(topic !== undefined && { watch: () => repeatPart("watch", (google) => watch(google, topic)) }),
    };
    for (const part of MAILBOX_PARTS) if (!parts[part]) await mailbox.setFault(part, null);
    if (topic === undefined) await mailbox.update({ watch: null });
    await Promise.all(Object.values(parts).map((part) => part()));
  }

  /** Repeats an action. Each call returns the delay before the next one; failures lead to growing delays. */
  async #repeat(
    part: MailboxPart,
    action: (google: Google) => Promise<number>,
    health: Health,
    signal: AbortSignal,
    wake: () => AbortSignal = () => signal,
  ): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      try {
        this.#google ??= this.#connect();
        const pauseMs = await action(this.#google);
        failures = 0;
        await health.reportSuccess(part);
        await withDeadline([signal, wake()], undefined, (woken) => this.#pause(pauseMs, woken));
      } catch (error) {
        if (signal.aborted || error instanceof LeaseLost) return;
        const failure = toFailure(error);
        failures++;
        const retryInMs = retryDelayMs(failure, failures);
        this.#deps.log.warn(
          { part, reason: failure.reason, failures, retryInMs, ...(failure.isUnexpected && { err: error }) },
          "a part of the Gmail listener failed; it retries",
        );
        if (failure.isLasting) this.#google = undefined;
        const isLost = await health
          .reportFailure(part, failure)
          .catch((thrown: unknown) => thrown instanceof LeaseLost);
        if (isLost) return;
        await this.#pause(retryInMs, signal);
      }
    }
  }

  #connect(): Google {
    this.#isRightMailbox = false;
    return connectGoogle(this.#settings, this.#deps.google);
  }

  /** Checks that the credentials belong to the configured mailbox. @throws GoogleError if they do not */
  async #checkMailbox({ gmail }: Google, signal: AbortSignal): Promise<void> {
    if (this.#isRightMailbox) return;
    const { emailAddress } = await gmail.getProfile(signal);
    if (emailAddress.toLowerCase() !== this.#settings.account.toLowerCase()) {
      throw new GoogleError("authorization", "The credentials are of another mailbox than hooks.gmail.account.");
    }
    this.#isRightMailbox = true;
  }
}

interface WatchDeps {
  readonly mailbox: LeasedMailbox;
  readonly topic: string;
  readonly label: string;
  readonly clock: Clock;
}

/** Time between renewals. Gmail ends a watch after seven days, and recommends to renew it each day. */
const RENEW_EVERY_MS = 12 * 3_600_000;
/** Limits of the pause between checks. The upper one covers clock changes and suspended machines. */
const MIN_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 600_000;
/** Time before the expiry of a watch that is reserved for retries, if Gmail makes one shorter than a week. */
const RETRY_MARGIN_MS = 24 * 3_600_000;

/**
 * Starts the watch by which Gmail sends notifications, or renews it when that is due, long before it expires.
 * @returns the delay in milliseconds before the next check
 */
async function renewWatch(deps: WatchDeps, gmail: GmailApi, signal: AbortSignal): Promise<number> {
  const { mailbox, topic, label, clock } = deps;
  if (renewalDueAt(deps) <= clock.now().getTime()) {
    const { expiresAt } = await gmail.watch({ topic, labelIds: [label] }, signal);
    await mailbox.update({ watch: { topic, label, renewedAt: clock.now(), expiresAt } });
  }
  return Math.min(Math.max(renewalDueAt(deps) - clock.now().getTime(), MIN_PAUSE_MS), MAX_PAUSE_MS);
}

function renewalDueAt({ mailbox, topic, label, clock }: WatchDeps): number {
  const { watch } = mailbox.state;
  if (watch?.topic !== topic || watch.label !== label) return 0;
  const renewedAt = watch.renewedAt.getTime();
  // The clock was ahead at the last renewal, so that its time is unknown.
  if (renewedAt > clock.now().getTime() + MIN_PAUSE_MS) return 0;
  const durationMs = watch.expiresAt.getTime() - renewedAt;
  return renewedAt + Math.min(RENEW_EVERY_MS, Math.max(durationMs - RETRY_MARGIN_MS, durationMs / 2));
}
