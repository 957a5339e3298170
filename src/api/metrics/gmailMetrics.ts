import { Gauge, type Registry } from "prom-client";
import { isLeased, MAILBOX_PARTS, type MailboxDoc } from "../../models/gmailMailbox.ts";
import type { Clock } from "../../shared/clock.ts";
import { COLLECT_TIMEOUT_MS } from "../../shared/process/processMetrics.ts";
import { withTimeout } from "../../shared/timeouts.ts";

/**
 * Adds the metrics of the mailbox's listener, read from the mailbox's record, whichever process listens.
 * @param read reads the record once a scrape, null when there is none; when it rejects, the metrics are absent
 */
export function addGmailMetrics(registry: Registry, read: () => Promise<MailboxDoc | null>, clock: Clock): void {
  let reading: Promise<MailboxDoc | null> | undefined;
  const readOnce = () => {
    reading ??= withTimeout(read(), COLLECT_TIMEOUT_MS)
      .catch(() => null)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const addGauge = (name: string, help: string, compute: (mailbox: MailboxDoc) => number | undefined) =>
    new Gauge({
      name: `signalbox_gmail_${name}`,
      help,
      registers: [registry],
      aggregator: "first",
      async collect() {
        this.remove();
        const mailbox = await readOnce();
        const value = mailbox ? compute(mailbox) : undefined;
        if (value !== undefined) this.set(value);
      },
    });
  addGauge("listening", "1 while a process listens to the mailbox, else 0.", (mailbox) =>
    Number(isLeased(mailbox, clock.now())),
  );
  addGauge("lag_seconds", "Seconds since the mailbox was last read completely.", ({ listedAt }) =>
    listedAt ? Math.max(0, seconds(clock.now()) - seconds(listedAt)) : undefined,
  );
  addGauge("last_mail_timestamp_seconds", "Unix time at which a mail last started a run.", ({ lastMailAt }) =>
    seconds(lastMailAt),
  );
  addGauge("last_notice_timestamp_seconds", "Unix time of the last notification of Gmail.", ({ lastNoticeAt }) =>
    seconds(lastNoticeAt),
  );
  addGauge(
    "watch_expiry_timestamp_seconds",
    "Unix time at which Gmail stops sending notifications unless the watch is renewed.",
    ({ watch }) => seconds(watch?.expiresAt),
  );
  new Gauge({
    name: "signalbox_gmail_fault",
    help: "1 while a part of the mail listener fails. `lasting` is true if the fault needs an operator.",
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
