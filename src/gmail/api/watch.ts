import type { Clock } from "../../shared/clock.ts";
import type { LeasedMailbox } from "../listener/leasedMailbox.ts";
import type { GmailApi } from "./gmailApi.ts";

export interface WatchDeps {
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
export async function renewWatch(deps: WatchDeps, gmail: GmailApi, signal: AbortSignal): Promise<number> {
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
