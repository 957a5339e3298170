import { expect } from "chai";
import pino from "pino";
import { openAiRunner } from "../../src/agents/runners/openai.ts";
import { openChannels } from "../../src/channels/channels.ts";
import { createClient } from "../../src/client/client.ts";
import { parseConfig } from "../../src/config/load.ts";
import { turn, whatWasThrown } from "../agents/runners/turn.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";

/** Recipients with a special meaning in an address. */
const RECIPIENTS = [
  ...["http://127.0.0.1:1/stolen", "//127.0.0.1:1/stolen", "@127.0.0.1:1", "127.0.0.1:1", "x@127.0.0.1:1/stolen"],
  ...["../stolen", "../../stolen", "..", ".", "a/../../stolen", "%2e%2e/stolen", "..%2fstolen", "\\..\\stolen"],
  ...["1/stolen", "1?stolen=1", "1#stolen", "1;stolen", "1\r\nX-Stolen: 1", "1 HTTP/1.1\r\nHost: stolen", "\u0000", ""],
  ...["@../stolen", "user:../stolen", "C1/../stolen", "group.../stolen", "u:../stolen", "iMessage;-;../stolen"],
];

/** The only request of each service for a delivery. */
const KNOWN =
  /^\/(bot5:t\/sendMessage|(chat\.postMessage|conversations\.open)|(channels\/\d+\/messages|users\/@me\/channels)|api\/v4\/(posts|channels\/direct|users\/me|users\/username\/[\w.-]+|teams\/name\/[\w-]+\/channels\/name\/[\w-]+)|organizations\/oauth2\/v2\.0\/token|v3\/conversations\/[^/?]+\/activities|v26\.0\/1065\/messages|v2\/send|api\/v1\/(message\/text|chat\/new)\?password=[^&]*|push\/[\w-]+)$/;

describe("a request of the service", () => {
  let service: ChannelServer;
  let elsewhere: ChannelServer;
  beforeEach(async () => {
    [service, elsewhere] = await Promise.all([startChannelServer(), startChannelServer()]);
  });
  afterEach(async () => {
    await Promise.all([service.close(), elsewhere.close()]);
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`follows no redirect of a model server with ${status}, which would receive its key and the prompt`, async () => {
      service.script(answers(status, "", { Location: `${elsewhere.url}/v1/chat/completions` }));
      const runner = openAiRunner({ baseUrl: `${service.url}/v1`, apiKey: "the-key", headers: { "X-Key": "the-key" } });

      const thrown = await whatWasThrown(
        runner.run(turn("the prompt", { model: "small" }), new AbortController().signal),
      );

      expect(thrown.code).to.equal("agent_failed");
      expect(service.requests).to.have.length(1);
      expect(elsewhere.requests).to.deep.equal([]);
    });
  }

  it("of the client follows no redirect", async () => {
    const moved = (path: string) => answers(307, "", { Location: `${elsewhere.url}${path}` });
    service.script(moved("/api/jobs"), moved("/hooks/wake"));
    const client = createClient({ url: service.url, token: "the-token", hookToken: "the-hook-token" });

    await client.jobs.list().catch(() => {});
    await client.hooks.send("wake", { text: "a" }).catch(() => {});
    await client.close();

    expect(service.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      "Bearer the-token",
      "Bearer the-hook-token",
    ]);
    expect(elsewhere.requests).to.deep.equal([]);
  });

  it("goes to the channel's address, whatever the recipient contains", async () => {
    const apiUrl = service.url;
    const { channels } = parseConfig(
      JSON.stringify({
        channels: {
          telegram: { apiUrl, botToken: "5:t" },
          slack: { apiUrl, botToken: "xoxb-t" },
          discord: { apiUrl, botToken: "t" },
          mattermost: { apiUrl, botToken: "t" },
          msteams: { apiUrl, loginUrl: apiUrl, appId: "a", appPassword: "p", tenantId: "organizations" },
          whatsapp: { apiUrl, accessToken: "t", phoneNumberId: "1065" },
          signal: { apiUrl, account: "+4915100000000" },
          imessage: { apiUrl, password: "p" },
          ntfy: { baseUrl: `${apiUrl}/push` },
        },
      }),
      {},
    );
    const open = openChannels(channels, { log: pino({ level: "silent" }), env: {} });
    const usual = answers(200, { id: "1", user_id: "1", access_token: "t", expires_in: 3600, token_type: "Bearer" });
    service.script(...Array(5_000).fill(usual));

    for (const [name, channel] of open) {
      for (const to of RECIPIENTS) {
        const sent = await channel.send(
          { to, text: "a", plainText: "a", plain: false, key: "k" },
          new AbortController().signal,
        );
        expect(sent.kind, `${name} ${to}`).to.be.a("string");
      }
    }

    expect(open.size).to.equal(9);
    expect(service.requests.length).to.be.above(20);
    expect(service.requests.map(({ path }) => path).filter((path) => !KNOWN.test(path))).to.deep.equal([]);
    expect(service.requests.filter(({ headers }) => "x-stolen" in headers || headers.host === "stolen")).to.deep.equal(
      [],
    );
  });
});
