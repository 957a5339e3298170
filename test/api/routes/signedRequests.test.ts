import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Webhooks } from "@octokit/webhooks";
import { EventWebhook } from "@sendgrid/eventwebhook";
import { verifySlackRequest } from "@slack/bolt/dist/receivers/verify-request.js";
import { expect } from "chai";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { startApp, type TestApp } from "../../support/app.ts";

const API = { Authorization: "Bearer an-api-token-of-length" };
const GITHUB = "the secret of the GitHub webhook";
const STRIPE = "whsec_the_secret_of_the_stripe_endpoint";
const SLACK = "the signing secret of the Slack app";
const STANDARD = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const SVIX = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const SENDGRID = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const SENDGRID_KEY = SENDGRID.publicKey.export({ format: "der", type: "spki" }).toString("base64");
const WEEK_MS = 7 * 86_400_000;

/** Signs a body as the library of a sender does. */
type Sign = (body: string, now: Date) => Promise<Record<string, string>> | Record<string, string>;

const seconds = (now: Date) => Math.floor(now.getTime() / 1_000);

const SENDERS: Readonly<Record<string, Sign>> = {
  github: async (body) => ({ "X-Hub-Signature-256": await new Webhooks({ secret: GITHUB }).sign(body) }),
  stripe: (payload, now) => ({
    "Stripe-Signature": new Stripe("sk_test_x").webhooks.generateTestHeaderString({
      ...{ payload, secret: STRIPE, timestamp: seconds(now) },
    }),
  }),
  // The libraries of Slack and SendGrid only verify: each signature is checked with them before it is sent.
  slack: (body, now) => {
    const digest = createHmac("sha256", SLACK)
      .update(`v0:${seconds(now)}:${body}`)
      .digest("hex");
    const headers = { "x-slack-request-timestamp": seconds(now), "x-slack-signature": `v0=${digest}` };
    verifySlackRequest({ ...{ signingSecret: SLACK, body, headers }, nowMilliseconds: now.getTime() });
    return { "X-Slack-Request-Timestamp": String(seconds(now)), "X-Slack-Signature": `v0=${digest}` };
  },
  sendgrid: (body, now) => {
    const timestamp = String(seconds(now));
    const signature = sign("sha256", Buffer.from(timestamp + body), SENDGRID.privateKey).toString("base64");
    const library = new EventWebhook();
    const key = library.convertPublicKeyToECDSA(SENDGRID_KEY);
    if (!library.verifySignature(key, body, signature, timestamp)) throw new Error("the library refuses the signature");
    return {
      "X-Twilio-Email-Event-Webhook-Signature": signature,
      "X-Twilio-Email-Event-Webhook-Timestamp": timestamp,
    };
  },
  standard: (body, now) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(seconds(now)),
    "webhook-signature": new StandardWebhook(STANDARD).sign("msg_1", now, body),
  }),
  svix: (body, now) => ({
    "svix-id": "msg_2",
    "svix-timestamp": String(seconds(now)),
    "svix-signature": new SvixWebhook(SVIX).sign("msg_2", now, body),
  }),
};

const CONFIG = JSON.stringify({
  server: { apiToken: "an-api-token-of-length" },
  hooks: {
    ...{ enabled: true, token: "a-hook-token-of-length", keepRequests: "30d" },
    mappings: [
      { match: { path: "github" }, auth: { type: "github", secret: GITHUB } },
      { match: { path: "stripe" }, auth: { type: "stripe", secret: STRIPE } },
      { match: { path: "slack" }, auth: { type: "slack", secret: SLACK } },
      { match: { path: "sendgrid" }, auth: { type: "sendgrid", publicKey: SENDGRID_KEY } },
      { match: { path: "standard" }, auth: { type: "standard-webhooks", secret: STANDARD } },
      { match: { path: "svix" }, auth: { type: "standard-webhooks", secret: SVIX } },
    ],
  },
});

const BODY = '{ "id": "evt_1",  "event_id":"Ev1", "text": "Grüße 💶", "amount": 1.50 }\n';

describe("kept requests that official libraries have signed", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({ config: CONFIG, countFailure: async () => {} });
  });
  afterEach(() => app.close());

  const send = (name: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string>) =>
    fetch(`${app.url}/hooks/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    });
  const rows = async () => (await app.call("GET", "/api/hooks/requests", undefined, API)).body.requests;

  for (const [name, sign] of Object.entries(SENDERS)) {
    it(`${name}: is kept byte for byte with its verdict, and replayed after a week`, async () => {
      const signature = await sign(BODY, app.clock.now());
      const first = await send(name, BODY, signature);
      const [{ requestId, signature: verdict }] = await rows();
      app.clock.advance(WEEK_MS);
      const late = await send(name, BODY, signature);

      const replayed = await app.call("POST", `/api/hooks/requests/${requestId}/replay`, {}, API);

      expect(first.status).to.equal(202);
      expect(verdict.verdict).to.equal("valid");
      const hasTime = name !== "github";
      expect(late.status).to.equal(hasTime ? 401 : 202);
      expect(replayed.status).to.equal(202);
      expect(replayed.body.runIds).to.have.length(1);
      const kept = (await app.call("GET", `/api/hooks/requests/${requestId}`, undefined, API)).body;
      expect([kept.body, kept.bodyEncoding]).to.deep.equal([BODY, "utf8"]);
      const { mapped, replayOf } = await app.stores.runs.find(replayed.body.runId);
      expect(replayOf).to.equal(requestId);
      expect(JSON.parse(mapped?.call ?? "").payload).to.deep.equal(JSON.parse(BODY));
    });

    it(`${name}: a compressed body is accepted with a signature of the uncompressed one, and refused with another`, async () => {
      const packed = gzipSync(BODY);
      const coded = { "Content-Encoding": "gzip" };
      const before = await send(name, packed, { ...coded, ...(await sign(BODY, app.clock.now())) });
      const forged = await send(name, packed, { ...coded, ...(await sign(`${BODY} `, app.clock.now())) });

      expect([before.status, forged.status]).to.deep.equal([202, 401]);
    });
  }

  it("sendgrid: events that are signed again make no second run", async () => {
    const sign = SENDERS.sendgrid as Sign;
    const first = await send("sendgrid", BODY, await sign(BODY, app.clock.now()));
    app.clock.advance(60_000);
    const again = await send("sendgrid", BODY, await sign(BODY, app.clock.now()));

    expect((await again.json()).runId).to.equal((await first.json()).runId);
  });

  it("hmac: a compressed body is accepted with a signature of its compressed bytes", async () => {
    const packed = gzipSync('{"action":"opened"}');
    const digest = createHmac("sha256", GITHUB).update(packed).digest("hex");
    const answer = await send("github", packed, {
      "Content-Encoding": "gzip",
      "X-Hub-Signature-256": `sha256=${digest}`,
    });

    expect(answer.status).to.equal(202);
  });
});
