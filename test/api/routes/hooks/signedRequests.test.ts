import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { GITHUB, SENDGRID_KEY, SIGNERS, SLACK, STANDARD, STRIPE, SVIX } from "../../../support/hooks/signers.ts";
import { useApp } from "../../../support/useApp.ts";

const API = { Authorization: "Bearer an-api-token-of-length" };
const WEEK_MS = 7 * 86_400_000;

const CONFIG = JSON.stringify({
  server: { apiToken: "an-api-token-of-length" },
  hooks: {
    enabled: true,
    token: "a-hook-token-of-length",
    keepRequests: "30d",
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

describe("kept requests with the signatures of senders", () => {
  const app = useApp({ config: CONFIG, countFailure: async () => {} });

  const send = (name: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string>) =>
    fetch(`${app.url}/hooks/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body,
    });
  const rows = async () => (await app.call("GET", "/api/hooks/requests", undefined, API)).body.requests;

  for (const [name, sign] of Object.entries(SIGNERS)) {
    it(`${name}: is kept byte for byte with its verdict, and replayed after a week`, async () => {
      const signature = sign(BODY, app.clock.now());
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
      const before = await send(name, packed, { ...coded, ...sign(BODY, app.clock.now()) });
      const forged = await send(name, packed, { ...coded, ...sign(`${BODY} `, app.clock.now()) });

      expect([before.status, forged.status]).to.deep.equal([202, 401]);
    });
  }

  it("sendgrid: events that are signed again make no second run", async () => {
    const sign = SIGNERS.sendgrid;
    const first = await send("sendgrid", BODY, sign(BODY, app.clock.now()));
    app.clock.advance(60_000);
    const again = await send("sendgrid", BODY, sign(BODY, app.clock.now()));

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
