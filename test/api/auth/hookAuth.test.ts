import { once } from "node:events";
import { request } from "node:http";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { BODY, SCHEMES, SLACK, STAMPED_SCHEMES, STRIPE } from "../../hooks/signatures/senders.ts";
import { type Answer, startApp, type TestApp } from "../../support/app.ts";

const TOKEN = "a-hook-token-of-length";
const OWN_TOKEN = "a-token-of-its-own";
const bearer = { Authorization: `Bearer ${TOKEN}` };

type Headers = Record<string, string>;

const nobodyCounts = { countFailure: async () => {} };
const start = (mappings: string, options = {}) =>
  startApp({
    config: `{ hooks: { enabled: true, token: "${TOKEN}", presets: ["gmail"], mappings: [${mappings}] } }`,
    ...options,
  });
const nowOf = ({ clock }: TestApp) => Math.floor(clock.now().getTime() / 1_000);
const runsOf = ({ stores }: TestApp, mapping: string) =>
  stores.runs.collection.native.countDocuments({ "mapped.mapping": mapping });

function expectRefused({ status, headers, body }: Answer): void {
  expect([status, body.code]).to.deep.equal([401, "unauthorized"]);
  expect(headers.get("WWW-Authenticate")).to.match(/^Bearer/);
}

describe("mapped hooks with an auth of their own", () => {
  const slug = (title: string) => title.replaceAll(" ", "-");
  let app: TestApp;
  before(async () => {
    const signed = SCHEMES.map(([title, { auth }]) => ({
      match: { path: slug(title) },
      auth: { ...auth, shared: true },
    }));
    const token = { match: { path: "token" }, auth: { type: "token", token: OWN_TOKEN } };
    app = await start(
      `${[...signed, token].map((one) => JSON.stringify(one)).join()},
       { id: "stripe test", match: { path: "two", source: "test" }, auth: { type: "stripe", secret: "another secret" } },
       { id: "stripe live", match: { path: "two", source: "live" }, auth: ${JSON.stringify({ ...STRIPE.auth, shared: true })} },
       { id: "by token", match: { path: "two", source: "cron" } },
       { match: { path: "plain" } }`,
      nobodyCounts,
    );
  });
  after(() => app.close());
  const post = (name: string, headers: Headers, body: object | string = BODY): Promise<Answer> =>
    app.call("POST", `/hooks/${name}`, body, headers);

  for (const [title, { sign }] of SCHEMES) {
    it(`${title}: accept a valid proof without the hook token, and answer a repeated message like the first without a second run`, async () => {
      const headers = sign(BODY, nowOf(app));

      const answers = [await post(slug(title), headers), await post(slug(title), headers)];

      expect(answers.map(({ status }) => status)).to.deep.equal([202, 202]);
      const ids = answers.map(({ body }) => body.runId);
      expect(ids[0]).to.equal(ids[1]);
      expect(answers[1]?.headers.get("Location")).to.equal(`/api/runs/${ids[1]}`);
      expect(await runsOf(app, slug(title))).to.equal(1);
    });

    it(`${title}: answer a wrong proof, no proof and the hook token alone with 401, and store nothing`, async () => {
      const before = await runsOf(app, slug(title));
      const headers = sign(BODY, nowOf(app));

      const answers = [
        await post(slug(title), headers, BODY.replace("evt_1", "evt_2")),
        await post(slug(title), {}),
        await post(slug(title), bearer),
        await post(slug(title), { ...bearer, ...headers }, '{"id":"another"}'),
      ];

      for (const answer of answers) expectRefused(answer);
      expect(await runsOf(app, slug(title))).to.equal(before);
    });
  }

  for (const [title, { sign }] of STAMPED_SCHEMES) {
    it(`${title}: answer a timestamp more than 300 seconds off with 401`, async () => {
      for (const off of [-310, 310]) expectRefused(await post(slug(title), sign(BODY, nowOf(app) + off)));
    });
  }

  it("token: accept the sender's token in each of the three places, but neither the hook token nor others", async () => {
    const right = [
      await post("token", { Authorization: `Bearer ${OWN_TOKEN}` }),
      await post("token", { "X-Service-Token": OWN_TOKEN }),
      await post(`token?token=${OWN_TOKEN}`, {}),
    ];
    const wrong = [await post("token", {}), await post("token", bearer), await post("token?token=wrong", {})];

    expect(right.map(({ status }) => status)).to.deep.equal([202, 202, 202]);
    for (const answer of wrong) expectRefused(answer);
  });

  it("name both the hook token and the mapping's proof in the 401 response", async () => {
    const { body } = await post("token", bearer);

    expect(body.detail).to.match(/^Send the hook token in the header .* as that sender does\.$/);
  });

  it("token: log one warning about a sender's token in the URL, without the token", async () => {
    const app = await start(
      `{ match: { path: "own" }, auth: { type: "token", token: "${OWN_TOKEN}" } }, { match: { path: "plain" } }`,
    );
    const post = (name: string, headers: Headers = {}) => app.call("POST", `/hooks/${name}`, BODY, headers);
    const warnings = () => app.log.filter(({ msg }) => String(msg).includes("?token="));
    try {
      await post("own?token=wrong");
      await post(`plain?token=${OWN_TOKEN}`);
      await post(`own?token=${OWN_TOKEN}`, { "X-Service-Token": OWN_TOKEN });
      const before = warnings().length;
      const answers = [await post(`own?token=${OWN_TOKEN}`), await post(`own?token=${OWN_TOKEN}`)];

      expect(answers.map(({ status }) => status)).to.deep.equal([202, 202]);
      expect([before, warnings().length]).to.deep.equal([0, 1]);
      expect(JSON.stringify(app.log)).to.not.include(OWN_TOKEN);
    } finally {
      await app.close();
    }
  });

  it("accept a proof for no other name, and for no other mapping of its name", async () => {
    const stripe = (body: string) => STRIPE.sign(body, nowOf(app));
    const bodyOf = (source: string) => JSON.stringify({ source });

    const refused = [
      await post("plain", stripe(BODY)),
      await post("gmail", stripe(BODY)),
      await post("agent", stripe(BODY)),
      await post("nobody", stripe(BODY)),
      await post("slack", stripe(BODY)),
      await post("agent", { Authorization: `Bearer ${OWN_TOKEN}` }),
      await post("two", stripe(bodyOf("test")), bodyOf("test")),
      await post("two", stripe(bodyOf("cron")), bodyOf("cron")),
      await post("two", bearer, bodyOf("live")),
    ];
    const taken = [
      await post("two", stripe(bodyOf("live")), bodyOf("live")),
      await post("two", bearer, bodyOf("cron")),
      await post("two", { ...bearer, ...stripe(bodyOf("cron")) }, bodyOf("cron")),
    ];

    for (const answer of refused) expectRefused(answer);
    expect(taken.map(({ status }) => status)).to.deep.equal([202, 202, 202]);
  });

  it("answer a valid proof with 404 when no mapping matches the source, and a wrong proof with 401", async () => {
    const body = '{"source":"nobody"}';

    const right = await post("two", STRIPE.sign(body, nowOf(app)), body);
    const wrong = await post("two", STRIPE.sign(BODY, nowOf(app)), body);

    expect([right.status, right.body.code]).to.deep.equal([404, "hook_not_found"]);
    expectRefused(wrong);
  });

  const unproven: [string, string, Headers, string][] = [
    ...SCHEMES.map(([title]): [string, string, Headers, string] => [`${title}: no proof`, slug(title), {}, "missing"]),
    ["stripe: the hook token alone", "stripe", bearer, "missing"],
    ["stripe: a header without a signature", "stripe", { "stripe-signature": "v1" }, "malformed"],
    ["token: none", "token", {}, "missing"],
    ["token: another one", "token", { "X-Service-Token": "wrong" }, "wrong"],
    ["token: the hook token", "token", bearer, "wrong"],
    ["two of a name: no proof", "two", {}, "missing"],
  ];
  for (const [title, name, headers, reason] of unproven) {
    it(`answer ${title} with 401 before the body is read, whatever its type and length`, async () => {
      const before = app.log.length;
      const req = request(`${app.url}/hooks/${name}`, {
        method: "POST",
        headers: { "Content-Type": "text/plain", "Content-Length": 1e9, ...headers },
      });
      req.flushHeaders();

      const [answer] = await once(req, "response");

      expect([answer.statusCode, ((await json(answer)) as { code: string }).code]).to.deep.equal([401, "unauthorized"]);
      const reasons = app.log.slice(before).flatMap((line) => (line.reason === undefined ? [] : [line.reason]));
      expect(reasons).to.deep.equal([reason]);
      req.destroy();
    });
  }

  it("answer a signed request with an unsupported type or a large body with 415 and 413", async () => {
    const headers = STRIPE.sign(BODY, nowOf(app));

    const answers = [
      await post("stripe", { ...headers, "Content-Type": "text/plain" }),
      await post("stripe", headers, "x".repeat(300_000)),
    ];

    expect(answers.map(({ status }) => status)).to.deep.equal([415, 413]);
  });

  it("verify the proof before the JSON is parsed", async () => {
    const body = "{ not json";

    expectRefused(await post("stripe", {}, body));
    expect(await post("stripe", STRIPE.sign(body, nowOf(app)), body)).to.include({ status: 400 });
  });

  it("verify the signature over the bytes of the body, not over its parsed value", async () => {
    const body = '{ "id" : "evt_spaced",\n "a": 1.0 }';

    expect(await post("stripe", STRIPE.sign(body, nowOf(app)), body)).to.include({ status: 202 });
    expectRefused(await post("stripe", STRIPE.sign(body, nowOf(app)), JSON.stringify(JSON.parse(body))));
  });

  it("make no second run when a signed message is repeated under another Idempotency-Key", async () => {
    const body = '{"id":"evt_keys"}';
    const headers = STRIPE.sign(body, nowOf(app));

    const first = await post("stripe", { ...headers, "Idempotency-Key": "a" }, body);
    const again = await post("stripe", { ...headers, "Idempotency-Key": "b" }, body);

    expect(again.body).to.deep.equal(first.body);
  });

  it("make no second run when a message is signed again under the same Idempotency-Key, and answer another body with 409", async () => {
    const signedAnew = (body: string, at: number) =>
      post("stripe", { ...STRIPE.sign(body, at), "Idempotency-Key": "signed-anew" }, body);
    const first = await signedAnew('{"id":"evt_anew"}', nowOf(app) - 20);

    const again = await signedAnew('{"id":"evt_anew"}', nowOf(app));
    const other = await signedAnew('{"id":"evt_other"}', nowOf(app));

    expect([first.status, again.status]).to.deep.equal([202, 202]);
    expect(again.body).to.deep.equal(first.body);
    expect([other.status, other.body.code]).to.deep.equal([409, "idempotency_conflict"]);
  });

  it("keep the Idempotency-Keys of each sender and of the hook token separate", async () => {
    app.clock.advance(2_000); // no earlier test has signed the same body in the same second
    const headers = { ...bearer, "X-Service-Token": OWN_TOKEN, "Idempotency-Key": "daily-1" };
    const signed = (name: string, body: string) => post(name, { ...STRIPE.sign(body, nowOf(app)), ...headers }, body);
    const send = async () => [
      await post("token", headers, "{}"),
      await post("plain", headers, "{}"),
      await signed("stripe", "{}"),
      await signed("two", '{"source":"live"}'),
      await signed("two", '{"source":"cron"}'),
    ];

    const first = await send();
    const again = await send();

    expect(first.map(({ status, body }) => `${status} ${body.code}`)).to.deep.equal([
      ...Array(5).fill("202 undefined"),
    ]);
    expect(new Set(first.map(({ body }) => body.runId))).to.have.property("size", 5);
    expect(again.map(({ body }) => body.runId)).to.deep.equal(first.map(({ body }) => body.runId));
  });

  it("do not let an Idempotency-Key block a later message whose id it equals", async () => {
    const [early, late] = ["evt_early", "evt_late"].map((id) => JSON.stringify({ id })) as [string, string];
    const keys = ["stripe:evt_late", "stripe stripe:evt_late"];
    for (const key of keys) await post("stripe", { ...STRIPE.sign(early, nowOf(app)), "Idempotency-Key": key }, early);
    for (const key of keys) await post("plain", { ...bearer, "Idempotency-Key": key }, "{}");
    const before = await runsOf(app, "stripe");

    const { status } = await post("stripe", STRIPE.sign(late, nowOf(app)), late);

    expect(status).to.equal(202);
    expect(await runsOf(app, "stripe")).to.equal(before + 1);
  });

  const changing: [string, string, (tries: number) => string][] = [
    ["stripe", "an event", (tries) => JSON.stringify({ id: "evt_again", pending_webhooks: 3 - tries })],
    ["slack", "an event", (tries) => JSON.stringify({ event_id: "Ev_again", event_time: tries })],
    ["standard-webhooks", "a message", (tries) => JSON.stringify({ tries })],
  ];
  for (const [name, what, bodyOf] of changing) {
    it(`${name}: treat ${what} with a repeated id as the same message, even if its body has changed`, async () => {
      const [, scheme] = SCHEMES.find(([title]) => title === name) as (typeof SCHEMES)[number];
      const send = (tries: number, more: Headers = {}) => {
        const body = bodyOf(tries);
        return post(name, { ...scheme.sign(body, nowOf(app) - 20 + tries), ...more }, body);
      };

      const answers = [
        await send(0),
        await send(1),
        await send(2, { "Idempotency-Key": name }),
        await send(3, { "Idempotency-Key": name }),
      ];

      expect(answers.map(({ status }) => status)).to.deep.equal(Array(4).fill(202));
      expect(new Set(answers.map(({ body }) => body.runId))).to.have.property("size", 1);
    });
  }

  it("slack: answer the challenge of an authenticated sender only, and make no run", async () => {
    const body = JSON.stringify({ type: "url_verification", token: "x", challenge: "3eZbrw1aB" });
    const before = await runsOf(app, "slack");

    const right = await post("slack", SLACK.sign(body, nowOf(app)), body);
    const wrong = await post("slack", SLACK.sign(BODY, nowOf(app)), body);
    const elsewhere = await post("plain", bearer, body);

    expect([right.status, right.body]).to.deep.equal([200, { challenge: "3eZbrw1aB" }]);
    expectRefused(wrong);
    expect(elsewhere.status).to.equal(202);
    expect(await runsOf(app, "slack")).to.equal(before);
  });

  it("answer every failed authentication alike, and log the mapping and the reason", async () => {
    const old = STRIPE.sign(BODY, nowOf(app) - 1_000);
    const before = app.log.length;

    const answers = [await post("stripe", {}), await post("stripe", old), await post("stripe", { ...old, ...bearer })];

    const responses = answers.map(({ status, body }) => JSON.stringify([status, body]));
    expect(new Set(responses)).to.have.property("size", 1);
    const reasons = app.log.slice(before).filter(({ reason }) => reason !== undefined);
    expect(reasons.map(({ mapping, reason }) => `${mapping} ${reason}`)).to.deep.equal([
      "stripe missing",
      "stripe expired",
      "stripe expired",
    ]);
  });
});

describe("rate limit for hook senders", () => {
  it("answers the 21st failure in a minute with 429 and Retry-After, but accepts a valid proof and the valid token", async () => {
    const app = await start(
      `{ match: { path: "stripe" }, auth: ${JSON.stringify(STRIPE.auth)} }, { match: { path: "plain" } }`,
    );
    const post = (name: string, headers: Headers) => app.call("POST", `/hooks/${name}`, BODY, headers);
    try {
      const wrong: Answer[] = [];
      for (let i = 0; i < 22; i++) wrong.push(await post(i % 2 ? "stripe" : "nobody", { "X-Service-Token": "wrong" }));

      const right = [await post("stripe", STRIPE.sign(BODY, nowOf(app))), await post("plain", bearer)];

      expect(wrong.map(({ status }) => status)).to.deep.equal([...Array(20).fill(401), 429, 429]);
      expect(Number(wrong[21]?.headers.get("Retry-After"))).to.be.within(1, 60);
      expect(right.map(({ status }) => status)).to.deep.equal([202, 202]);
    } finally {
      await app.close();
    }
  });
});

describe("secrets of a mapped hook's request", () => {
  const SECRETS = ["proxy-s3cret", "service-s3cret", "cookie-s3cret", "query-s3cret"];
  let app: TestApp;
  before(async () => {
    app = await start(
      `{
        match: { path: "ci" }, sessionKey: "ci:{{headers.x-kept}}",
        name: "[{{headers.authorization}}{{headers.x-service-token}}{{headers.cookie}}{{query.token}}{{query.a}}]",
      },
      { match: { path: "own" }, auth: { type: "token", token: "${OWN_TOKEN}" } }`,
      nobodyCounts,
    );
  });
  after(() => app.close());
  const secret = {
    ...bearer,
    "Proxy-Authorization": "Basic proxy-s3cret",
    "X-Service-Token": "service-s3cret",
    Cookie: "a=cookie-s3cret",
  };

  it("are in no record, in no log and in no template's input", async () => {
    const path = "/hooks/ci/?a=1&%74oken=query-s3cret&b=x?y&c";
    const { status, body } = await app.call("POST", path, {}, { ...secret, "X-Kept": "kept", "Idempotency-Key": "k" });

    expect(status).to.equal(202);
    const run = await app.stores.runs.find(body.runId);
    const call = JSON.parse(run.mapped?.call ?? "");
    expect(run).to.include({ name: "[1]", sessionKey: "ci:kept" });
    expect(call).to.deep.include({ url: "/hooks/ci/?a=1&b=x?y&c", path: "ci", query: { a: "1", b: "x?y", c: "" } });
    expect(call.headers).to.include({ "x-kept": "kept", "content-type": "application/json" });
    const { runs, idempotencyKeys } = app.stores;
    const stored = [
      await runs.collection.native.find().toArray(),
      await idempotencyKeys.collection.native.find().toArray(),
      app.log,
    ];
    for (const text of [TOKEN, ...SECRETS]) expect(JSON.stringify(stored)).to.not.include(text);
  });

  it("are in no record and no log when a mapping has a token of its own or no mapping matches", async () => {
    const answers = [
      await app.call("POST", "/hooks/own", {}, { "X-Service-Token": OWN_TOKEN }),
      await app.call("POST", `/hooks/own?token=${OWN_TOKEN}`, {}),
      await app.call("POST", "/hooks/own?token=query-s3cret", { body: "body-s3cret" }),
      await app.call("POST", "/hooks/own", "{ body-s3cret", { "X-Service-Token": OWN_TOKEN }),
      await app.call("POST", "/hooks/nobody?token=query-s3cret", { body: "body-s3cret" }, secret),
      await app.call("POST", "/hooks/ci", { body: "body-s3cret" }, bearer),
    ];

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 401, 400, 404, 202]);
    const stored = [await app.stores.runs.collection.native.find().toArray(), app.log];
    for (const text of [TOKEN, OWN_TOKEN, ...SECRETS]) expect(JSON.stringify(stored)).to.not.include(text);
    expect(JSON.stringify(app.log)).to.not.include("body-s3cret");
  });
});
