import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { SMTPServerOptions } from "smtp-server";
import type { OutgoingMessage, SendOutcome } from "../../../src/channels/channel.ts";
import { emailChannel } from "../../../src/channels/email/channel.ts";
import type { EmailSettings } from "../../../src/channels/email/connection.ts";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import { eventually } from "../../support/eventually.ts";
import { reply, type SmtpFixture, startSmtpServer } from "../../support/servers/smtpServer.ts";
import { CERTIFICATE } from "../../support/servers/tlsRedis.ts";
import { KEY, kindOf, TEXT } from "../describeChannel.ts";

const PASSWORD = "mail-secret-password";
const TO = "ops@example.org";

/** Decodes quoted-printable text (RFC 2045) in UTF-8. */
const decodeQuotedPrintable = (text: string): string => {
  const bytes = text
    .replaceAll("=\r\n", "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
};

describe("email channel", () => {
  const fixtures: SmtpFixture[] = [];
  afterEach(async () => {
    await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
  });

  async function start(options: Partial<SMTPServerOptions> = {}): Promise<SmtpFixture> {
    const fixture = await startSmtpServer(options);
    fixtures.push(fixture);
    return fixture;
  }
  const channelAt = (port: number, settings: Partial<EmailSettings> = {}, timeoutMs?: number) =>
    emailChannel(
      { host: "127.0.0.1", port, security: "none", from: "Signalbox <box@example.com>", ...settings },
      timeoutMs,
    );

  /** Sends one message and checks that no reason contains a secret. */
  async function send(
    channel: ReturnType<typeof channelAt>,
    message: Partial<OutgoingMessage> = {},
    signal = new AbortController().signal,
  ): Promise<SendOutcome> {
    const outcome = await channel.send(
      { to: TO, text: TEXT, plainText: TEXT, plain: false, key: KEY, ...message },
      signal,
    );
    for (const secret of [PASSWORD, TEXT, TO]) expect(JSON.stringify(outcome)).to.not.include(secret);
    return outcome;
  }

  it("sends a mail with the title as its subject, as plain text and as HTML, with the link", async () => {
    const { port, mails } = await start();
    const [part] = toParts(
      "**Nightly** failed: a < b\n\n- one\n- two\n\n```\nx = 1\n\ny\n```\nsee [it](http://localhost/x)",
      {
        ...channelAt(1).style,
      },
    );
    const link = "https://jobs.example.com/jobs/nightly?a=1&b=2";

    const outcome = await send(channelAt(port), {
      text: part?.text ?? "",
      plainText: part?.plain ?? "",
      title: "Nightly failed",
      link,
    });

    expect(outcome).to.deep.equal({ kind: "sent", id: null });
    const [mail = expect.fail("nothing was sent")] = mails;
    expect(mail).to.include({ from: "box@example.com", user: undefined });
    expect(mail.to).to.deep.equal([TO]);
    const content = decodeQuotedPrintable(mail.text).replaceAll("\r\n", "\n");
    expect(content).to.include("From: Signalbox <box@example.com>\nTo: ops@example.org\nSubject: Nightly failed\n");
    expect(content).to.include("Auto-Submitted: auto-generated\n");
    expect(content).to.match(/^Message-ID: <[0-9a-f]{40}@example\.com>$/m);
    expect(content).to.include(
      `Nightly failed: a < b\n\n• one\n• two\n\nx = 1\n\ny\nsee it (http://localhost/x)\n\n${link}`,
    );
    expect(content).to.include("<div><b>Nightly</b> failed: a &lt; b<br>\n<br>\n• one<br>\n• two<br>\n<br>\n");
    expect(content).to.include('<pre>x = 1\n\ny</pre>see <a href="http://localhost/x">it</a></div>');
    expect(content).to.include(`<a href="${link.replace("&", "&amp;")}">`);
  });

  it("shows the link once when the text ends with it", async () => {
    const { port, mails } = await start();
    const link = "https://jobs.example.com/jobs/a?b=1&c=2";
    const [part] = toParts(`It failed.\n\n${link}`, channelAt(1).style);

    await send(channelAt(port), { text: part?.text ?? "", plainText: part?.plain ?? "", link });

    const content = decodeQuotedPrintable(mails[0]?.text ?? "").replaceAll("\r\n", "\n");
    const escaped = link.replace("&", "&amp;");
    expect(content).to.include(`It failed.\n\n${link}\n`);
    expect(content).to.include(`<div>It failed.<br>\n<br>\n<a href="${escaped}">${escaped}</a></div>\n</body>`);
  });

  it("sends plain text alone when the message is plain, and takes its first line as the subject", async () => {
    const { port, mails } = await start();

    await send(channelAt(port), { text: "Größer\nthan before", plainText: "other", plain: true });

    const [{ text } = expect.fail("nothing was sent")] = mails;
    expect(text).to.match(/^Subject: =\?UTF-8\?Q\?Gr=C3=B6=C3=9Fer\?=\r$/m);
    expect(text).to.match(/^Content-Type: text\/plain; charset=utf-8\r$/m);
    expect(text).to.not.include("html");
  });

  it("repeats the Message-ID with the key, so that mail programs recognize a repetition", async () => {
    const { port, mails } = await start();
    const channel = channelAt(port);

    for (const key of [KEY, KEY, `${KEY}x`]) await send(channel, { key });

    const [first, again, other] = mails.map(({ text }) => /^Message-ID: (.*)\r$/m.exec(text)?.[1]);
    expect(again).to.equal(first);
    expect(other).to.not.equal(first);
  });

  it("keeps line breaks of a title and of a recipient out of the headers", async () => {
    const { port, mails } = await start();
    const channel = channelAt(port);

    await send(channel, { title: "a\r\nBcc: thief@example.net" });
    for (const to of [
      "",
      "ops",
      "a@b@c",
      "a b@example.org",
      `${TO}, x@example.org`,
      `${TO}\r\nBcc: x@y.z`,
      `<${TO}>`,
    ]) {
      expect(kindOf(await send(channel, { to })).kind, to).to.equal("gone");
    }

    expect(mails.map(({ to }) => to)).to.deep.equal([[TO]]);
    expect(mails[0]?.text).to.match(/^Subject: a Bcc: thief@example\.net\r$/m);
  });

  it("logs in", async () => {
    const auth = { user: "box", pass: "" };
    const { port, mails } = await start({
      onAuth({ username, password }, _session, callback) {
        auth.pass = password ?? "";
        callback(null, { user: username });
      },
    });

    expect(await send(channelAt(port, { username: "box", password: PASSWORD }))).to.include({ kind: "sent" });

    expect([mails[0]?.user, auth.pass]).to.deep.equal(["box", PASSWORD]);
  });

  const refusesLogIn = (error: Error): Partial<SMTPServerOptions> => ({
    onAuth: (_auth, _session, callback) => callback(error),
  });
  const onRcptTo = (error: Error): Partial<SMTPServerOptions> => ({ onRcptTo: (_to, _session, done) => done(error) });
  const onMailFrom = (error: Error): Partial<SMTPServerOptions> => ({
    onMailFrom: (_to, _session, done) => done(error),
  });
  const onData = (error: Error): Partial<SMTPServerOptions> => ({
    onData: (stream, _session, done) => void stream.on("end", () => done(error)).resume(),
  });
  const quoting = `${TO} ${PASSWORD} ${TEXT}`;
  const OUTCOMES: [string, Partial<SMTPServerOptions>, SendOutcome["kind"], RegExp][] = [
    [
      "a refused log-in",
      refusesLogIn(reply(535, `5.7.8 ${quoting}`)),
      "authentication",
      /535 \(5\.7\.8\) to the log-in/,
    ],
    ["a log-in that is not possible now", refusesLogIn(reply(454, "4.7.0 later")), "transient", /454 \(4\.7\.0\)/],
    ["a server that wants a log-in", onMailFrom(reply(530, "5.7.0 log in")), "authentication", /530 \(5\.7\.0\)/],
    ["a refused sender", onMailFrom(reply(550, `5.7.1 ${quoting}`)), "authentication", /550 \(5\.7\.1\) to the sender/],
    ["a sender that is accepted later", onMailFrom(reply(451, "4.7.1 greylisted")), "transient", /451 \(4\.7\.1\)/],
    ["a mail that is too large by its size", onMailFrom(reply(552, "5.3.4 too big")), "content", /552.*too large/],
    ["an unknown recipient", onRcptTo(reply(550, `5.1.1 ${quoting}`)), "gone", /550 \(5\.1\.1\) to the recipient/],
    ["a recipient of another place", onRcptTo(reply(551, "not here")), "gone", /551 to the recipient/],
    ["a mailbox that is busy", onRcptTo(reply(450, `4.2.1 ${quoting}`)), "transient", /450 \(4\.2\.1\)/],
    ["a mailbox that is full for now", onRcptTo(reply(452, "4.2.2 full")), "transient", /452/],
    ["a mail that a filter refuses", onData(reply(554, `5.7.1 ${quoting}`)), "refused", /554 \(5\.7\.1\) to the mail/],
    ["a mail that is too large", onData(reply(552, "5.3.4 too big")), "content", /552 \(5\.3\.4\).*too large/],
    ["a mail that is accepted later", onData(reply(421, "4.3.2 shutting down")), "transient", /421/],
    [
      "a server that takes no more connections",
      { onConnect: (_session, done) => done(reply(421, "4.7.0 busy")) },
      "transient",
      /421/,
    ],
    [
      "a server that takes no mail",
      { onConnect: (_session, done) => done(reply(554, "no mail here")) },
      "transient",
      /554/,
    ],
    ["a mail beyond the announced size", { size: 10 }, "content", /larger than the mail server accepts/],
  ];
  for (const [title, options, kind, reason] of OUTCOMES) {
    it(`returns ${kind} for ${title}`, async () => {
      const { port, mails } = await start(options);
      const auth = options.onAuth ? { username: "box", password: PASSWORD } : {};

      const outcome = kindOf(await send(channelAt(port, auth)));

      expect(outcome.kind).to.equal(kind);
      expect(outcome.reason).to.match(reason);
      expect(mails).to.deep.equal([]);
    });
  }

  it("returns transient when the connection breaks before the mail, and ambiguous when it breaks after it", async () => {
    const early = await start({ onMailFrom: () => early.sockets.at(-1)?.destroy() });
    const late = await start({
      onData: (stream) => void stream.on("end", () => late.sockets.at(-1)?.destroy()).resume(),
    });

    expect(kindOf(await send(channelAt(early.port))).kind).to.equal("transient");
    const outcome = kindOf(await send(channelAt(late.port)));
    expect(outcome.kind).to.equal("ambiguous");
    expect(outcome.reason).to.match(/connection broke/);
  });

  it("returns ambiguous when the server does not answer after the mail, and closes the connection", async () => {
    const fixture = await start({ onData: (stream) => void stream.resume() });

    const outcome = kindOf(await send(channelAt(fixture.port, {}, 300)));

    expect(outcome).to.deep.equal({ kind: "ambiguous", reason: "There was no answer within 0.3 seconds." });
    await eventually(() => fixture.sockets[0]?.destroyed, "the connection to close");
  });

  it("returns transient when the server does not greet", async () => {
    const { port } = await start({ onConnect: () => {} });

    expect(kindOf(await send(channelAt(port, {}, 100))).kind).to.equal("transient");
  });

  it("returns ambiguous when the worker stops after the mail, and transient without a connection before", async () => {
    const stop = new AbortController();
    const { port, sockets } = await start({
      onData: (stream) => void stream.on("end", () => stop.abort(new Error("stopping"))).resume(),
    });

    expect(kindOf(await send(channelAt(port), {}, stop.signal)).kind).to.equal("ambiguous");
    expect(kindOf(await send(channelAt(port), {}, stop.signal)).kind).to.equal("transient");
    expect(sockets).to.have.length(1);
  });

  it("sends nothing without encryption unless the configuration asks for that", async () => {
    const { port, mails } = await start();
    const pem = readFileSync(CERTIFICATE);
    const encrypted = await start({ disabledCommands: [], key: pem, cert: pem });

    expect(kindOf(await send(channelAt(port, { security: "starttls" }))).kind).to.equal("transient");
    expect(kindOf(await send(channelAt(port, { security: "tls" }))).kind).to.equal("transient");
    // Its certificate is signed by nobody.
    const untrusted = kindOf(await send(channelAt(encrypted.port, { security: "starttls" })));
    expect(untrusted.reason).to.match(/could not be encrypted \([\w ]+\): see channels\.email\.security/);
    expect([...mails, ...encrypted.mails]).to.deep.equal([]);
  });

  it("returns transient for a server that cannot be reached, also in its check", async () => {
    const { port, close } = await startSmtpServer();
    await close();

    expect(kindOf(await send(channelAt(port))).reason).to.include("ECONNREFUSED");
    const found = await channelAt(port).check(new AbortController().signal);
    expect(found.ok).to.equal(false);
    expect(found.detail).to.include("ECONNREFUSED");
  });

  it("check logs in and sends nothing", async () => {
    const accepts = await start({ onAuth: (_auth, _session, done) => done(null, { user: "box" }) });
    const refuses = await start(refusesLogIn(reply(535, `5.7.8 ${quoting}`)));
    const login = { username: "box", password: PASSWORD };
    const { signal } = new AbortController();

    expect(await channelAt(accepts.port, login).check(signal)).to.deep.equal({
      ok: true,
      detail: "sends as box@example.com",
    });
    const refused = await channelAt(refuses.port, login).check(signal);
    expect(refused.ok).to.equal(false);
    expect(refused.detail)
      .to.match(/535 \(5\.7\.8\)/)
      .and.not.include(PASSWORD);
    expect(accepts.mails).to.deep.equal([]);
  });
});
