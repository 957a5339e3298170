import type { Clock } from "../../shared/clock.ts";
import type { LeasedMailbox } from "../listener/leasedMailbox.ts";
import type { GmailApi } from "./gmailApi.ts";

export interface WatchDeps {
  readonly mailbox: LeasedMailbox;
  readonly topic: string;
  readonly label: string;
  readonly renewEveryMinutes: number;
  readonly clock: Clock;
}

/** It is looked at again so soon at the least, and so late at the most: the clock may be set, and the machine asleep. */
const MIN_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 600_000;
/** Gmail gives a week. However seldom it is to be renewed, there is time left for trying again. */
const RETRY_MARGIN_MS = 24 * 3_600_000;

/**
 * Has Gmail send notices, and goes on having it: renews the watch when its time has come, long before Gmail ends it.
 * @returns how long to wait before the next look
 */
export async function renewWatch(deps: WatchDeps, gmail: GmailApi, signal: AbortSignal): Promise<number> {
  const { mailbox, topic, label, clock } = deps;
  if (renewalDueAt(deps) <= clock.now().getTime()) {
    const { expiresAt } = await gmail.watch({ topic, labelIds: [label] }, signal);
    await mailbox.update({ watch: { topic, label, renewedAt: clock.now(), expiresAt } });
  }
  return Math.min(Math.max(renewalDueAt(deps) - clock.now().getTime(), MIN_PAUSE_MS), MAX_PAUSE_MS);
}

function renewalDueAt({ mailbox, topic, label, renewEveryMinutes, clock }: WatchDeps): number {
  const { watch } = mailbox.state;
  if (watch?.topic !== topic || watch.label !== label) return 0;
  const renewedAt = watch.renewedAt.getTime();
  // The clock was ahead then: nothing is known of when that was.
  if (renewedAt > clock.now().getTime() + MIN_PAUSE_MS) return 0;
  const durationMs = watch.expiresAt.getTime() - renewedAt;
  return renewedAt + Math.min(renewEveryMinutes * 60_000, Math.max(durationMs - RETRY_MARGIN_MS, durationMs / 2));
}
