import type { SendOutcome } from "../channel.ts";
import type { Failure } from "../httpStatus.ts";

/** The fields of nodemailer's errors that decide: the command in flight, and the reply of the server. */
export interface MailError {
  readonly code?: string | undefined;
  readonly originalCode?: string | undefined;
  readonly command?: string | undefined;
  readonly response?: string | undefined;
  readonly responseCode?: number | undefined;
}

/** Codes of a certificate that is not trusted, and of a server that does not speak TLS. */
const ENCRYPTION = /CERT|ERR_TLS|ERR_SSL|EPROTO/;

/** The code of a reply that is longer than the server permits (RFC 5321: 552, RFC 3463: 5.3.4). */
const isTooLarge = (status: number, enhanced: string | undefined) => status === 552 || enhanced === "5.3.4";

/**
 * Classifies an error of nodemailer by the reply's codes and the command that it answers. The reason has no text of the server,
 * which may quote the recipient, the user or the mail.
 * @param isHandedOver whether the server had asked for the mail, so that it may have accepted it
 */
export function classifyMailError(error: MailError, isHandedOver: boolean): Failure {
  const { responseCode: status, command = "" } = error;
  return status ? classifyReply(status, command, enhancedOf(error)) : classifyFault(error, isHandedOver);
}

function classifyReply(status: number, command: string, enhanced: string | undefined): Failure {
  const isPermanent = status >= 500 && status !== 503;
  const fault = (kind: Exclude<SendOutcome["kind"], "sent" | "rate-limited">, words: string): Failure => ({
    kind,
    reason: `The mail server answered ${status}${enhanced ? ` (${enhanced})` : ""} ${words}.`,
  });
  if (status === 530 || (isPermanent && command.startsWith("AUTH"))) {
    return fault("authentication", "to the log-in: see username and password of channels.email");
  }
  if (!isPermanent) return fault("transient", "and may accept the mail later");
  if (isTooLarge(status, enhanced)) return fault("content", "because the mail is too large");
  switch (command) {
    case "MAIL FROM":
      return fault("authentication", "to the sender: see channels.email.from");
    case "RCPT TO":
      return fault("gone", "to the recipient");
    case "DATA":
      return fault("refused", "to the mail");
    default:
      return fault("transient", "before a mail was sent");
  }
}

function classifyFault({ code, originalCode }: MailError, isHandedOver: boolean): Failure {
  const name = originalCode ?? code ?? "network error";
  if (code === "EAUTH") {
    return {
      kind: "authentication",
      reason: "The mail server offers no supported log-in method: see username and password of channels.email.",
    };
  }
  if (code === "EMESSAGE") return { kind: "content", reason: "The mail is larger than the mail server accepts." };
  if (isHandedOver) return { kind: "ambiguous", reason: `The connection broke before there was an answer (${name}).` };
  if (code === "ETLS" || ENCRYPTION.test(name)) {
    return {
      kind: "transient",
      reason: `The connection to the mail server could not be encrypted (${name}): see channels.email.security.`,
    };
  }
  return { kind: "transient", reason: `The mail server cannot be reached (${name}).` };
}

/** Returns the enhanced status code at the beginning of a reply (RFC 3463). */
const enhancedOf = ({ response = "" }: MailError): string | undefined =>
  /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response)?.[1];
