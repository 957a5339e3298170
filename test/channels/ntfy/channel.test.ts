import { expect } from "chai";
import { ntfyChannel } from "../../../src/channels/ntfy/channel.ts";
import { answers, type Behaviour } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  expectNoSecrets,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const TOKEN = "tk_ntfy-secret-token";
const published = answers(200, { id: "sPs71M8A2T", time: 1, event: "message", topic: "ops", message: TEXT });

/** An error response of ntfy whose text contains secrets. */
const refuses = (code: number, http = Math.floor(code / 100)): Behaviour =>
  answers(http, { code, http, error: `${TEXT} ${TOKEN}`, link: "https://ntfy.sh/docs" });

const ntfyAt = (baseUrl: string, settings: { token?: string; priority?: number } = { token: TOKEN }) =>
  ntfyChannel({ baseUrl, priority: 3, answers: false, ...settings });

const SCRIPT: ChannelScript = {
  title: "ntfy channel",
  usual: published,
  channelAt: (url) => ntfyAt(url),
  to: "signalbox_ops-7",
  secrets: [TOKEN],
  style: { dialect: "plain", limit: 4_096, unit: "bytes" },
  idempotentForMs: 0,
  invalidRecipients: ["", "a/b", "../v1/account", "ops alerts", "a".repeat(65), "ops,dev", "größe", "a?b", "a\r\nb"],
  invalidRecipientReason: /up to 64 letters/,
  failingChecks: [
    ["an invalid token", refuses(40101), /401 \(40101\).*credentials/],
    ["a server that is not ntfy", answers(200, "<html>"), /answered 200/],
    ["an account without a name", answers(200, { role: "user" }), /answered 200/],
  ],
};

describeChannel(SCRIPT, (fixture) => {
  const { server } = fixture;
  const request = () => server.requests[0] ?? expect.fail("nothing was sent");

  it("publishes the text with title, priority, click link and token", async () => {
    const channel = ntfyAt(`${server.url}/push/`, { token: TOKEN, priority: 5 });
    const message = { title: "Nightly failed", link: "https://jobs.example.com/jobs/a b?c=d" };

    expect(await send(fixture, message, { channel })).to.deep.equal({ kind: "sent", id: "sPs71M8A2T" });

    const { method, path, headers, text } = request();
    expect({ method, path, text }).to.deep.equal({ method: "POST", path: "/push/signalbox_ops-7", text: TEXT });
    expect(headers).to.deep.include({
      "content-type": "text/plain; charset=utf-8",
      authorization: `Bearer ${TOKEN}`,
      title: "Nightly failed",
      priority: "5",
      click: "https://jobs.example.com/jobs/a%20b?c=d",
    });
  });

  it("publishes anonymously and without a title when it has none", async () => {
    await send(fixture, { text: "größer" }, { channel: ntfyAt(server.url, {}) });

    expect(request().text).to.equal("größer");
    expect(request().headers).to.not.have.any.keys("authorization", "title", "click");
  });

  it("logs in with the user and password of the address", async () => {
    await send(fixture, {}, { channel: ntfyAt(server.url.replace("//", "//ops:p%40ss@"), {}) });

    expect(request().headers.authorization).to.equal(`Basic ${Buffer.from("ops:p@ss").toString("base64")}`);
  });

  it("encodes a title beyond ASCII, on one line", async () => {
    await send(fixture, { title: "Größe\r\nX-Forged: 1" });

    const [, encoded = ""] = /^=\?UTF-8\?B\?(.*)\?=$/.exec(String(request().headers.title)) ?? [];
    expect(Buffer.from(encoded, "base64").toString()).to.equal("Größe X-Forged: 1");
    expect(request().headers).to.not.have.property("x-forged");
  });

  const outcomes: Outcome[] = [
    ["a token that is not valid", refuses(40101), { kind: "authentication" }, /401 \(40101\)/],
    ["a topic that the token may not use", refuses(40301), { kind: "gone" }, /403 \(40301\).*topic/],
    ["a topic that is not allowed", refuses(40010), { kind: "gone" }, /400 \(40010\)/],
    ["a message that became too large an attachment", refuses(41301), { kind: "content" }, /413 \(41301\).*too long/],
    ["a message that would be an attachment", refuses(40014), { kind: "content" }, /400 \(40014\).*too long/],
    ["too many requests", refuses(42901), { kind: "rate-limited", retryAfterMs: null, scope: "channel" }, /42901/],
    ["the daily limit", refuses(42908), { kind: "rate-limited", scope: "channel" }, /42908/],
    ["a full disk", refuses(50701), { kind: "transient" }, /507/],
    ["an internal error", refuses(50001), { kind: "transient" }, /500 \(50001\)/],
    ["a message of another event", answers(200, { id: "a", event: "open" }), { kind: "ambiguous" }, /answered 200/],
  ];
  describeOutcomes(fixture, outcomes);

  it("check names the account", async () => {
    server.script(answers(200, { username: "ada", role: "user" }), answers(200, { username: "*", role: "anonymous" }));
    const { signal } = new AbortController();

    const named = await fixture.channel.check(signal);
    expectNoSecrets(fixture, named);
    expect(named).to.deep.equal({ ok: true, detail: "publishes as ada" });
    expect(await fixture.channel.check(signal)).to.deep.equal({ ok: true, detail: "it publishes anonymously" });
    expect(server.requests.map(({ path }) => path)).to.deep.equal(["/v1/account", "/v1/account"]);
  });
});
