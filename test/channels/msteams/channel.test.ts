import { expect } from "chai";
import type { SendOutcome } from "../../../src/channels/channel.ts";
import { msteamsChannel } from "../../../src/channels/msteams/channel.ts";
import { eventually } from "../../support/eventually.ts";
import { answers, type Behaviour, breaks, hangs } from "../../support/servers/channelServer.ts";
import {
  type ChannelScript,
  describeChannel,
  describeOutcomes,
  expectNoSecrets,
  kindOf,
  type Outcome,
  send,
  TEXT,
} from "../describeChannel.ts";

const SECRET = "msteams-app-secret";
const TOKEN = "eyJ.msteams-access-token";
const APP = "c9e8c047-2a74-40a2-b28a-b162d5f5327c";
const LOGIN = "/contoso-tenant-id/oauth2/v2.0/token";
const TO = "19:9be3de4e70874c71a608cef26d2ecc58@thread.tacv2;messageid=1630443143241";
const ACTIVITIES =
  "/teams/v3/conversations/19%3A9be3de4e70874c71a608cef26d2ecc58%40thread.tacv2%3Bmessageid%3D1630443143241/activities";

/** An error response of the connector whose text contains secrets. */
const refuses = (status: number, code: string, headers: Record<string, string> = {}): Behaviour =>
  answers(status, { error: { code, message: `${TEXT} ${TOKEN}` } }, headers);

/** An error response of the login. */
const deniesToken = (status: number, error: string, number: number): Behaviour =>
  answers(status, {
    error,
    error_description: `AADSTS${number}: Invalid client secret ${SECRET} provided.\r\nTrace ID: 0`,
    error_codes: [number],
    trace_id: "0",
  });

const givesToken = (expires: object = { expires_in: 3_599 }): Behaviour =>
  answers(200, { token_type: "Bearer", access_token: TOKEN, ...expires });

let now: Date;
/** Answers to the next requests for tokens, and to the next messages. */
let logins: Behaviour[];
let posts: Behaviour[];

const SCRIPT: ChannelScript = {
  title: "Microsoft Teams channel",
  usual(response, request) {
    const behave =
      request.path === LOGIN
        ? (logins.shift() ?? givesToken())
        : (posts.shift() ?? answers(201, { id: "1632474074231" }));
    return behave(response, request);
  },
  channelAt: (url) =>
    msteamsChannel(
      {
        appId: APP,
        appPassword: SECRET,
        tenantId: "contoso-tenant-id",
        apiUrl: `${url}/teams`,
        loginUrl: url,
      },
      { now: () => now },
    ),
  to: TO,
  secrets: [SECRET, TOKEN],
  script(...behaviours) {
    posts = behaviours;
  },
  isMessage: ({ path }) => path === ACTIVITIES,
  style: { dialect: "markdown", limit: 20_000, unit: "utf16" },
  idempotentForMs: 0,
  invalidRecipients: ["", ".", "..", "\ud800"],
  invalidRecipientReason: /^This is not a conversation id\.$/,
};

describeChannel(SCRIPT, (fixture) => {
  const { server } = fixture;
  beforeEach(() => {
    logins = [];
    posts = [];
    now = new Date("2026-11-21T12:00:00Z");
  });
  const requestKinds = () => server.requests.map(({ path }) => (path === LOGIN ? "login" : "post"));

  it("requests a token with the app's credentials and posts the message with it", async () => {
    const result = await send(fixture);

    expect(result).to.deep.equal({ kind: "sent", id: "1632474074231" });
    const [login = expect.fail("no token was asked for"), post = expect.fail("nothing was sent")] = server.requests;
    expect([login.method, login.path, login.body]).to.deep.equal([
      "POST",
      LOGIN,
      {
        grant_type: "client_credentials",
        client_id: APP,
        client_secret: SECRET,
        scope: "https://api.botframework.com/.default",
      },
    ]);
    expect(login.headers["content-type"]).to.match(/^application\/x-www-form-urlencoded/);
    expect(login.headers).to.not.have.property("authorization");
    expect([post.method, post.path, post.body]).to.deep.equal([
      "POST",
      ACTIVITIES,
      { type: "message", text: TEXT, textFormat: "markdown" },
    ]);
    expect(post.headers.authorization).to.equal(`Bearer ${TOKEN}`);
    expect(post.headers["content-type"]).to.match(/^application\/json/);
  });

  it("marks plain text as plain", async () => {
    const result = await send(fixture, { plain: true });

    expect(result.kind).to.equal("sent");
    expect(fixture.messages()[0]?.body).to.deep.equal({ type: "message", text: TEXT, textFormat: "plain" });
  });

  it("returns sent for a 200 too", async () => {
    fixture.script(answers(200, { id: "1" }));

    expect(await send(fixture)).to.deep.equal({ kind: "sent", id: "1" });
  });

  const recipients: [string, string][] = [
    ["a:17I0kl8EkpE1O9PH5TWrzrLNwnWWcfrU7Qz", "a%3A17I0kl8EkpE1O9PH5TWrzrLNwnWWcfrU7Qz"],
    ["19:meeting_abc@thread.v2", "19%3Ameeting_abc%40thread.v2"],
    ["../../x?y#z", "..%2F..%2Fx%3Fy%23z"],
    ["ünd", "%C3%BCnd"],
  ];
  for (const [to, segment] of recipients) {
    it(`posts into the conversation ${to}`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("sent");
      expect(server.requests.at(-1)?.path).to.equal(`/teams/v3/conversations/${segment}/activities`);
    });
  }

  const answersToPosts: [string, Behaviour, Outcome[2], RegExp][] = [
    ["400", refuses(400, "BadSyntax"), { kind: "content" }, /BadSyntax/],
    ["400 with the code of the documentation", refuses(400, "Bad Argument"), { kind: "content" }, /Bad Argument/],
    ["403 for a removed bot", refuses(403, "BotNotInConversationRoster"), { kind: "gone" }, /not part/],
    ["403 for a user who blocks the bot", refuses(403, "ConversationBlockedByUser"), { kind: "gone" }, /blocked/],
    ["403 with the previous code", refuses(403, "MessageWritesBlocked"), { kind: "gone" }, /blocked or removed/],
    [
      "403 for a bot that an administrator disabled",
      refuses(403, "BotDisabledByAdmin"),
      { kind: "gone" },
      /administrator/,
    ],
    ["403 for a bot of another cloud", refuses(403, "InvalidBotApiHost"), { kind: "gone" }, /apiUrl/],
    ["403 with an unknown code", refuses(403, "SomethingElse"), { kind: "gone" }, /SomethingElse.*is not allowed to/],
    ["404", refuses(404, "ConversationNotFound"), { kind: "gone" }, /no such conversation/],
    ["412", refuses(412, "PreconditionFailed"), { kind: "transient" }, /PreconditionFailed/],
    ["413", refuses(413, "MessageSizeTooBig"), { kind: "content" }, /too large/],
    ["500", refuses(500, "ServiceError"), { kind: "transient" }, /ServiceError/],
    ["502", refuses(502, "ServiceError"), { kind: "transient" }, /ServiceError/],
    [
      "429",
      refuses(429, "Throttled", { "Retry-After": "12" }),
      { kind: "rate-limited", retryAfterMs: 12_000, scope: "recipient" },
      /Throttled/,
    ],
    [
      "429 without a time",
      refuses(429, "Throttled"),
      { kind: "rate-limited", retryAfterMs: null, scope: "recipient" },
      /Throttled/,
    ],
  ];
  describeOutcomes(
    fixture,
    answersToPosts.map(([title, behaviour, expected, reason]) => [
      title,
      behaviour,
      expected,
      new RegExp(`^Microsoft Teams answered \\d{3} .*${reason.source}.*\\.$`),
    ]),
  );

  describe("token", () => {
    it("is used until five minutes before it expires", async () => {
      await send(fixture);
      now = new Date(now.getTime() + 3_298_999);
      await send(fixture);
      now = new Date(now.getTime() + 1);
      await send(fixture);

      expect(requestKinds()).to.deep.equal(["login", "post", "post", "login", "post"]);
    });

    const lifetimes: [string, object, number][] = [
      ["half of a short lifetime", { expires_in: 200 }, 100_000],
      ["a lifetime that is a string", { expires_in: "3599" }, 3_299_000],
      ["an unknown lifetime once", {}, 0],
    ];
    for (const [title, expires, until] of lifetimes) {
      it(`is used with ${title}`, async () => {
        logins = [givesToken(expires)];

        await send(fixture);
        now = new Date(now.getTime() + until - 1);
        if (until > 0) await send(fixture);
        now = new Date(now.getTime() + 1);
        await send(fixture);

        expect(requestKinds()).to.deep.equal(["login", "post", ...(until > 0 ? ["post"] : []), "login", "post"]);
      });
    }

    it("is requested once for concurrent messages", async () => {
      const results = await Promise.all([send(fixture), send(fixture), send(fixture)]);

      expect(results.map(({ kind }) => kind)).to.deep.equal(["sent", "sent", "sent"]);
      expect(requestKinds()).to.deep.equal(["login", "post", "post", "post"]);
    });

    it("is returned to the other messages after one of them is cancelled", async () => {
      const answer = Promise.withResolvers<void>();
      logins = [async (...given) => answer.promise.then(() => givesToken()(...given))];
      const stop = new AbortController();

      const first = send(fixture, {}, { signal: stop.signal });
      const second = send(fixture);
      await eventually(() => server.requests.length === 1, "the request for a token");
      stop.abort();
      const stopped = await first;
      answer.resolve();

      expect(stopped).to.deep.equal({ kind: "transient", reason: "The worker is stopping." });
      expect((await second).kind).to.equal("sent");
      expect(requestKinds()).to.deep.equal(["login", "post"]);
    });

    it("request is cancelled when no message waits for it, and is sent again for the next message", async () => {
      logins = [hangs];
      const stop = new AbortController();

      const first = send(fixture, {}, { signal: stop.signal });
      await eventually(() => server.requests.length === 1, "the request for a token");
      stop.abort();

      expect((await first).kind).to.equal("transient");
      await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
      expect((await send(fixture)).kind).to.equal("sent");
      expect(requestKinds()).to.deep.equal(["login", "login", "post"]);
    });

    it("is replaced when the connector refuses it early", async () => {
      await send(fixture);
      server.script();
      posts = [answers(401, { error: { code: "Unauthorized", message: TOKEN } })];

      const result = await send(fixture);

      expect(result.kind).to.equal("sent");
      expect(requestKinds()).to.deep.equal(["post", "login", "post"]);
    });

    it("leads to authentication and no further try if its replacement is refused too", async () => {
      posts = [refuses(401, "BotNotRegistered"), refuses(401, "BotNotRegistered")];

      const result = await send(fixture);

      expect(result).to.deep.equal({
        kind: "authentication",
        reason: "Microsoft Teams answered 401 (BotNotRegistered): the credentials are not valid.",
      });
      expect(requestKinds()).to.deep.equal(["login", "post", "login", "post"]);
    });

    it("is replaced once for concurrent refusals", async () => {
      await send(fixture);
      server.script();
      logins = [answers(200, { access_token: `${TOKEN}-2`, expires_in: 3_599 })];
      const refusesTheFirst: Behaviour = (response, request) =>
        (request.headers.authorization === `Bearer ${TOKEN}` ? answers(401) : answers(201, { id: "1" }))(
          response,
          request,
        );
      posts = Array(6).fill(refusesTheFirst);

      const results = await Promise.all([send(fixture), send(fixture), send(fixture)]);

      expect(results.map(({ kind }) => kind)).to.deep.equal(["sent", "sent", "sent"]);
      expect(requestKinds().filter((what) => what === "login")).to.have.length(1);
    });

    it("is kept when a refusal of the previous token arrives late", async () => {
      await send(fixture);
      server.script();
      const late = Promise.withResolvers<void>();
      posts = [(...given) => late.promise.then(() => answers(401)(...given)), answers(401)];

      const slow = send(fixture);
      await eventually(() => server.requests.length === 1, "the message that is refused late");
      const quick = await send(fixture);
      late.resolve();

      expect([quick.kind, (await slow).kind]).to.deep.equal(["sent", "sent"]);
      expect(requestKinds()).to.deep.equal(["post", "post", "login", "post", "post"]);
    });

    const answersToLogins: [string, Behaviour, object, RegExp][] = [
      ["a wrong secret", deniesToken(401, "invalid_client", 7000215), { kind: "authentication" }, /client, 7000215/],
      ["an unknown app", deniesToken(400, "unauthorized_client", 700016), { kind: "authentication" }, /appId/],
      ["an unknown tenant", deniesToken(400, "invalid_request", 90002), { kind: "authentication" }, /tenantId/],
      ["a temporary 400", deniesToken(400, "temporarily_unavailable", 90033), { kind: "transient" }, /90033/],
      ["503", deniesToken(503, "server_error", 90006), { kind: "transient" }, /answered 503/],
      ["504", answers(504), { kind: "transient" }, /answered 504/],
      ["404 of another server", answers(404, "<html>"), { kind: "transient" }, /answered 404/],
      ["200 without a token", answers(200, { token_type: "Bearer" }), { kind: "transient" }, /answered 200/],
      ["200 without JSON", answers(200, "<html>"), { kind: "transient" }, /answered 200/],
      ["a redirect", answers(302, "", { Location: "/elsewhere" }), { kind: "transient" }, /answered 302, a redirect/],
      ["a broken connection", breaks, { kind: "transient" }, /No token: .*connection/],
      [
        "429",
        answers(429, { error: "temporarily_unavailable" }, { "Retry-After": "9" }),
        { kind: "rate-limited", retryAfterMs: 9_000, scope: "channel" },
        /answered 429/,
      ],
    ];
    for (const [title, behaviour, expected, reason] of answersToLogins) {
      it(`leads to ${(expected as SendOutcome).kind} without a message if the login ends with ${title}`, async () => {
        logins = [behaviour];

        const result = await send(fixture);

        expect(result).to.deep.include(expected);
        expect(kindOf(result).reason).to.match(reason);
        expect(requestKinds()).to.deep.equal(["login"]);
        expect((await send(fixture)).kind).to.equal("sent");
      });
    }
  });

  it("check requests a new token", async () => {
    await send(fixture);
    server.script();

    const found = await fixture.channel.check(new AbortController().signal);

    expect(found).to.deep.equal({ ok: true, detail: `received a token for the app ${APP}` });
    expect(requestKinds()).to.deep.equal(["login"]);
  });

  it("check fails with an invalid secret", async () => {
    logins = [deniesToken(401, "invalid_client", 7000215)];

    const found = await fixture.channel.check(new AbortController().signal);

    expect(found.ok).to.equal(false);
    expect(found.detail).to.match(/401 \(invalid_client, 7000215\)/);
    expectNoSecrets(fixture, found);
  });
});
