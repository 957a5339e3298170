import { Gauge, type Registry } from "prom-client";
import { isHeld, MAILBOX_PARTS, type MailboxDoc } from "../../models/gmailMailbox.ts";
import type { Clock } from "../../shared/clock.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import { FIGURE_WITHIN_MS } from "./metrics.ts";

/**
 * What the record of the mailbox says of its listener, whichever process that is.
 * @param read the record, read once a scrape; null where there is none. Where it rejects the figures are absent
 */
export function addGmailMetrics(registry: Registry, read: () => Promise<MailboxDoc | null>, clock: Clock): void {
  let reading: Promise<MailboxDoc | null> | undefined;
  const readOnce = () => {
    reading ??= withTimeout(read(), FIGURE_WITHIN_MS)
      .catch(() => null)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const add = (name: string, help: string, figure: (mailbox: MailboxDoc) => number | undefined) =>
    new Gauge({
      name: `signalbox_gmail_${name}`,
      help,
      registers: [registry],
      aggregator: "first",
      async collect() {
        this.remove();
        const mailbox = await readOnce();
        const value = mailbox ? figure(mailbox) : undefined;
        if (value !== undefined) this.set(value);
      },
    });
  add("listening", "1 while a process listens to the mailbox.", (mailbox) => Number(isHeld(mailbox, clock.now())));
  add("lag_seconds", "A mail that came longer ago than this is a run.", ({ listedAt }) =>
    listedAt ? Math.max(0, seconds(clock.now()) - seconds(listedAt)) : undefined,
  );
  add("last_mail_timestamp_seconds", "When a mail last became a run.", ({ lastMailAt }) => seconds(lastMailAt));
  add("last_notice_timestamp_seconds", "When the last notice came.", ({ lastNoticeAt }) => seconds(lastNoticeAt));
  add("watch_expiry_timestamp_seconds", "Until when Gmail sends notices.", ({ watch }) => seconds(watch?.expiresAt));
  new Gauge({
    name: "signalbox_gmail_fault",
    help: "1 while a part of the listener fails: lasting where it does not pass by itself.",
    labelNames: ["part", "lasting"],
    registers: [registry],
    aggregator: "first",
    async collect() {
      this.reset();
      const mailbox = await readOnce();
      if (!mailbox) return;
      for (const part of MAILBOX_PARTS) {
        const fault = mailbox.faults[part];
        for (const lasting of [true, false])
          this.set({ part, lasting: String(lasting) }, Number(fault?.isLasting === lasting));
      }
    },
  });
}

function seconds(at: Date): number;
function seconds(at: Date | null | undefined): number | undefined;
function seconds(at: Date | null | undefined): number | undefined {
  return at ? at.getTime() / 1_000 : undefined;
}
