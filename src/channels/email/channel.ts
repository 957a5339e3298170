import { isMailAddress, readMailSender } from "../../config/channels/channels.ts";
import { withDeadline } from "../../shared/timeouts.ts";
import type { Channel } from "../channel.ts";
import type { Failure } from "../httpStatus.ts";
import { type EmailSettings, withSmtpServer } from "./connection.ts";
import { classifyMailError, type MailError } from "./errors.ts";
import { writeMail } from "./mail.ts";

const TIMEOUT_MS = 60_000;
/** Mails have no limit of their own: longer replies are split, so that programs still open them quickly. */
const LIMIT_CHARS = 200_000;

/** Creates the channel for mail. Each mail has a connection of its own; `sent` means that the SMTP server has accepted it. */
export function emailChannel(settings: EmailSettings, timeoutMs = TIMEOUT_MS): Channel {
  const { address } = readMailSender(settings.from);
  return {
    style: { dialect: "html", limit: LIMIT_CHARS, unit: "utf16" },
    idempotentForMs: 0,
    async send(message, signal) {
      const to = message.to.trim();
      if (!isMailAddress(to))
        return { kind: "gone", reason: "This is not a mail address: use one such as ops@example.com." };
      let isHandedOver = false;
      try {
        const mail = await writeMail({ ...message, to }, settings.from);
        const onHandedOver = () => {
          isHandedOver = true;
        };
        const envelope = { from: address, to, mail, onHandedOver };
        await withDeadline([signal], timeoutMs, (deadline) => withSmtpServer(settings, deadline, envelope));
        return { kind: "sent", id: null };
      } catch (error) {
        return classifyThrown(error, isHandedOver, signal, timeoutMs);
      }
    },
    async check(signal) {
      try {
        await withDeadline([signal], timeoutMs, (deadline) => withSmtpServer(settings, deadline));
        return { ok: true, detail: `sends as ${address}` };
      } catch (error) {
        return { ok: false, detail: classifyThrown(error, false, signal, timeoutMs).reason };
      }
    },
  };
}

/** @param signal the signal of the worker */
function classifyThrown(error: unknown, isHandedOver: boolean, signal: AbortSignal, timeoutMs: number): Failure {
  const isTimeout = (error as Error).name === "TimeoutError";
  if (!isTimeout && !signal.aborted) return classifyMailError(error as MailError, isHandedOver);
  const reason = isTimeout
    ? `There was no answer within ${timeoutMs / 1_000} seconds.`
    : "The worker stopped before there was an answer.";
  return { kind: isHandedOver ? "ambiguous" : "transient", reason };
}
