import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** The user who logged in; undefined without a log-in. */
  readonly user: string | undefined;
  /** The mail with its headers, as it was transmitted. */
  readonly text: string;
}

export interface SmtpFixture {
  readonly port: number;
  readonly mails: ReceivedMail[];
  /** The sockets of all connections so far. */
  readonly sockets: Socket[];
  close(): Promise<void>;
}

/** An error whose reply has this code and text. */
export const reply = (responseCode: number, words: string): Error & { responseCode: number } =>
  Object.assign(new Error(words), { responseCode });

/** Starts a real SMTP server without encryption that keeps the mails it receives. `options` add to its behaviour. */
export async function startSmtpServer(options: Partial<SMTPServerOptions> = {}): Promise<SmtpFixture> {
  const mails: ReceivedMail[] = [];
  const sockets: Socket[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    closeTimeout: 100,
    async onData(stream, session, callback) {
      const { mailFrom, rcptTo } = session.envelope;
      const mail = {
        from: (mailFrom as { address: string }).address,
        to: rcptTo.map(({ address }) => address),
        user: session.user as string | undefined,
        text: await text(stream),
      };
      mails.push(mail);
      callback();
    },
    ...options,
  });
  server.on("error", () => {}); // connections that tests break
  server.server.on("connection", (socket: Socket) => sockets.push(socket));
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  return {
    port: (server.server.address() as AddressInfo).port,
    mails,
    sockets,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}
