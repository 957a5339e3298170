import { expect } from "chai";
import type { Channel, EditOutcome } from "../../src/channels/channel.ts";
import { discordChannel } from "../../src/channels/discord/channel.ts";
import { mattermostChannel } from "../../src/channels/mattermost/channel.ts";
import { ntfyChannel } from "../../src/channels/ntfy/channel.ts";
import { slackChannel } from "../../src/channels/slack/channel.ts";
import { telegramChannel } from "../../src/channels/telegram/channel.ts";
import {
  answers,
  type Behaviour,
  breaks,
  type ChannelServer,
  startChannelServer,
} from "../support/servers/channelServer.ts";

const refuses = (status: number, description: string, more: object = {}): Behaviour =>
  answers(status, { ok: false, error_code: status, description: `Bad Request: ${description}`, ...more });
const slackRefuses = (error: string) => answers(200, { ok: false, error });

interface Service {
  channelAt(url: string): Channel;
  readonly to: string;
  readonly id: string;
  /** The edit as a request: method, path and some fields of its body. */
  readonly request: readonly [method: string, path: string, body: object];
  readonly outcomes: readonly (readonly [Behaviour, EditOutcome["kind"]])[];
}

const SERVICES: Record<string, Service> = {
  telegram: {
    channelAt: (apiUrl) => telegramChannel({ apiUrl, botToken: "1:a", inbound: "polling" }),
    to: "1234",
    id: "77",
    request: [
      "POST",
      "/bot1:a/editMessageText",
      { chat_id: "1234", message_id: 77, text: "<b>new</b>", parse_mode: "HTML" },
    ],
    outcomes: [
      [answers(200, { ok: true, result: { message_id: 77 } }), "sent"],
      [refuses(400, "message is not modified: specified new message content is exactly the same"), "sent"],
      [refuses(400, "message to edit not found"), "missing"],
      [refuses(400, "message can't be edited"), "missing"],
      [refuses(400, "group chat was upgraded", { parameters: { migrate_to_chat_id: -1001 } }), "missing"],
      [refuses(429, "Too Many Requests", { parameters: { retry_after: 7 } }), "rate-limited"],
      [refuses(403, "bot was blocked by the user"), "gone"],
      [refuses(400, "can't parse entities: message to edit not found"), "missing"],
    ],
  },
  slack: {
    channelAt: (apiUrl) => slackChannel({ apiUrl, botToken: "xoxb-1" }),
    to: "C0123",
    id: "C0123:17.42",
    request: ["POST", "/chat.update", { channel: "C0123", ts: "17.42", markdown_text: "<b>new</b>" }],
    outcomes: [
      [answers(200, { ok: true, channel: "C0123", ts: "17.42" }), "sent"],
      [slackRefuses("message_not_found"), "missing"],
      [slackRefuses("cant_update_message"), "missing"],
      [slackRefuses("edit_window_closed"), "missing"],
      [answers(429, { ok: false, error: "ratelimited" }, { "Retry-After": "7" }), "rate-limited"],
      [slackRefuses("channel_not_found"), "gone"],
      [answers(502, "<html>"), "transient"],
    ],
  },
  discord: {
    channelAt: (apiUrl) => discordChannel({ apiUrl, botToken: "b" }),
    to: "123456789012345678",
    id: "99",
    request: ["PATCH", "/channels/123456789012345678/messages/99", { content: "<b>new</b>", flags: 4 }],
    outcomes: [
      [answers(200, { id: "99" }), "sent"],
      [answers(404, { code: 10_008, message: "Unknown Message" }), "missing"],
      [answers(403, { code: 50_005, message: "Cannot edit a message authored by another user" }), "missing"],
      [answers(429, { message: "slow", retry_after: 0.5, global: false }), "rate-limited"],
      [answers(404, { code: 10_003, message: "Unknown Channel" }), "gone"],
    ],
  },
  mattermost: {
    channelAt: (apiUrl) => mattermostChannel({ apiUrl, botToken: "b", maxPostLength: 4_000 }),
    to: "abcdefghijklmnopqrstuvwxyz",
    id: "p1",
    request: ["PUT", "/api/v4/posts/p1/patch", { message: "<b>new</b>" }],
    outcomes: [
      [answers(200, { id: "p1" }), "sent"],
      [answers(400, { id: "api.post.update_post.permissions_time_limit.app_error" }), "missing"],
      [answers(400, { id: "api.post.update_post.find.app_error" }), "missing"],
      [answers(403, { id: "api.context.permissions.app_error" }), "missing"],
      [answers(404, { id: "app.post.get.app_error" }), "missing"],
      [answers(429, "limit exceeded", { "X-RateLimit-Reset": "1" }), "rate-limited"],
    ],
  },
  ntfy: {
    channelAt: (baseUrl) => ntfyChannel({ baseUrl, priority: 4, answers: false }),
    to: "jobs",
    id: "s1",
    request: ["POST", "/jobs", {}],
    outcomes: [
      [answers(200, { id: "m2", event: "message", sequence_id: "s1" }), "sent"],
      [answers(429, { code: 42_908, http: 429 }), "rate-limited"],
      [answers(403, { code: 40_301, http: 403 }), "gone"],
    ],
  },
};

for (const [name, { channelAt, to, id, request, outcomes }] of Object.entries(SERVICES)) {
  describe(`the edit of a message: ${name}`, () => {
    let server: ChannelServer;
    before(async () => {
      server = await startChannelServer(outcomes[0]?.[0]);
    });
    after(() => server.close());
    const edit = (): Promise<EditOutcome> => {
      const { editing } = channelAt(server.url);
      const message = {
        to,
        text: "<b>new</b>",
        plainText: "new",
        plain: false,
        title: "Job",
        live: true,
        key: "k-0",
      } as const;
      return editing?.edit(message, id, new AbortController().signal) ?? expect.fail("the channel cannot edit");
    };

    it("is one request that names the message", async () => {
      server.script();

      expect(await edit()).to.deep.equal({ kind: "sent", id });

      const [method, path, body] = request;
      const [sent = expect.fail("nothing was sent")] = server.requests;
      expect([sent.method, sent.path]).to.deep.equal([method, path]);
      expect(sent.body ?? {}).to.deep.include(body);
      if (name === "ntfy") expect(sent.headers).to.include({ "x-sequence-id": "s1", priority: "2", title: "Job" });
    });

    it("returns what the service answers", async () => {
      for (const [behaviour, kind] of [...outcomes, [breaks, "ambiguous"] as const]) {
        server.script(behaviour);
        expect(await edit()).to.include({ kind });
      }
    });
  });
}

describe("the first message that ntfy can replace", () => {
  it("has an id only if the server knows sequences", async () => {
    const server = await startChannelServer(answers(200, { id: "m1", event: "message" }));
    const channel = ntfyChannel({ baseUrl: server.url, priority: 3, answers: false });
    const message = { to: "jobs", text: "a", plainText: "a", plain: true, live: true, key: "k1" } as const;
    const send = () => channel.send(message, new AbortController().signal);

    const old = await send();
    server.script(answers(200, { id: "m2", event: "message", sequence_id: "k1" }));
    const fresh = await send();
    await server.close();

    expect([old, fresh]).to.deep.equal([
      { kind: "sent", id: null },
      { kind: "sent", id: "k1" },
    ]);
  });
});
