import { Readable } from "node:stream";
import type { Config } from "../../config/config.ts";

export type EmailSettings = NonNullable<Config["channels"]["email"]>;

const CONNECT_TIMEOUT_MS = 15_000;

/** A mail to send to one recipient. */
export interface Envelope {
  readonly from: string;
  readonly to: string;
  readonly mail: Buffer;
  /** Called when the server has asked for the mail. From then on it may have accepted it. */
  onHandedOver(): void;
}

/**
 * Connects to the SMTP server, logs in, and sends a mail if there is one. Closes the connection at the end, and when the signal
 * aborts.
 * @throws the error of nodemailer, or the reason of the signal
 */
export async function withSmtpServer(settings: EmailSettings, signal: AbortSignal, envelope?: Envelope): Promise<void> {
  const { host, port, security, username, password } = settings;
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection"); // Only this channel needs it.
  const connection = new SMTPConnection({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    allowInternalNetworkInterfaces: true,
  });
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  connection.on("error", reject);
  // A server may close the connection without an error, at any time.
  connection.on("end", () => reject(Object.assign(new Error("closed"), { code: "ECONNECTION" })));
  signal.addEventListener("abort", abort, { once: true });
  const step = (start: (done: (error?: Error | null) => void) => void) =>
    Promise.race([broken, new Promise<void>((resolve, fail) => start((error) => (error ? fail(error) : resolve())))]);
  try {
    signal.throwIfAborted();
    await step((done) => connection.connect(done));
    if (username !== undefined) {
      await step((done) => connection.login({ credentials: { user: username, pass: password ?? "" } }, done));
    }
    if (envelope) {
      const { from, to } = envelope;
      await step((done) => connection.send({ from, to: [to], size: envelope.mail.length }, read(envelope), done));
      connection.quit();
    }
  } finally {
    signal.removeEventListener("abort", abort);
    broken.catch(() => {});
    connection.close();
  }
}

/** Returns the mail as a stream, which nodemailer reads once the server has asked for it. */
function read({ mail, onHandedOver }: Envelope): Readable {
  const chunks = function* () {
    onHandedOver();
    yield mail;
  };
  return Readable.from(chunks());
}
