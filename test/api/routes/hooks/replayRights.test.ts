import { createHmac } from "node:crypto";
import { expect } from "chai";
import { assignSessionOwner, hookContextOf } from "../../../../src/models/intake/sessionOwners.ts";
import { bearer } from "../../../support/app.ts";
import { useApp } from "../../../support/useApp.ts";

const API = "an-api-token-of-length";
const HOOK = "a-hook-token-of-length";
const SECRET = "a secret that only two know";
const OPERATOR = "the-token-of-an-operator-of-runs";
const READER = "the-token-that-reads-and-writes-runs";
const OF_B = "the-token-of-an-operator-with-hook-b";
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "operator", token: OPERATOR, scopes: ["runs:write"] },
      { name: "reader", token: READER, scopes: ["runs:read", "runs:write"] },
      { name: "of-b", token: OF_B, scopes: ["runs:write", "hooks:b"] },
    ],
  },
  hooks: {
    enabled: true,
    token: HOOK,
    keepRequests: { for: "7d", maxBytes: "1GiB" },
    mappings: [
      { match: { path: "a", when: { "payload.to": "a" } }, id: "a", messageTemplate: "{{text}}", sessionKey: "of-a" },
      { match: { path: "a", when: { "payload.to": "a2" } }, id: "a2", messageTemplate: "{{text}}" },
      {
        match: { path: "a", when: { "payload.to": "signed" } },
        id: "signed",
        messageTemplate: "{{text}}",
        auth: { type: "github", secret: SECRET },
      },
      { match: { path: "b" }, id: "b", messageTemplate: "{{text}}", sessionKey: "of-b" },
      { match: { source: "somewhere" }, id: "any", messageTemplate: "{{text}}" },
    ],
  },
});

describe("the replay of a kept request", () => {
  const app = useApp({ config: CONFIG });
  let requestId: string;
  const keep = async (body: object, headers: Record<string, string> = bearer(HOOK)): Promise<string> => {
    expect((await app.call("POST", "/hooks/a", body, headers)).status).to.equal(202);
    return (await app.call("GET", "/api/hooks/requests?limit=1", undefined, bearer(API))).body.requests[0].requestId;
  };
  beforeEach(async () => {
    requestId = await keep({ to: "a", text: "SECRET" });
  });

  const replay = (token: string, body: object, id = requestId) =>
    app.call("POST", `/api/hooks/requests/${id}/replay`, body, bearer(token));

  it("shows its message in a dry run only to those who may read runs", async () => {
    for (const body of [{ dryRun: true }, { dryRun: true, mapping: "b" }]) {
      const refused = await replay(OPERATOR, body);

      expect([refused.status, refused.body.code]).to.deep.equal([403, "forbidden"]);
      expect(refused.body.detail).to.include("runs:read");
      expect((await replay(READER, body)).body.runs[0].message).to.equal("SECRET");
    }
    const tried = { hook: "b", body: "{}" };
    expect((await app.call("POST", "/api/hooks/dry-run", tried, bearer(OPERATOR))).status).to.equal(403);
    expect((await app.call("POST", "/api/hooks/dry-run", tried, bearer(READER))).status).to.equal(200);
  });

  it("goes through the mappings of its own hook and sender without further rights", async () => {
    expect((await replay(OPERATOR, {})).body.mapping).to.equal("a");
    expect((await replay(OPERATOR, { mapping: "a2" })).body.mapping).to.equal("a2");
  });

  it("goes through a mapping of another hook only with admin or the scope of that hook", async () => {
    const refused = await replay(READER, { mapping: "b" });

    expect([refused.status, refused.body.code]).to.deep.equal([403, "forbidden"]);
    expect(refused.body.detail).to.include("hooks:b");
    expect((await replay(OF_B, { mapping: "b" })).status).to.equal(202);
    expect((await replay(API, { mapping: "b" })).status).to.equal(202);
  });

  it("goes through a mapping of another sender only with admin or the scope of the hook, named or selected", async () => {
    const body = JSON.stringify({ to: "signed", text: "Text" });
    const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
    const response = await fetch(`${app.url}/hooks/a`, {
      method: "POST",
      body,
      headers: { "Content-Type": "application/json", "X-Hub-Signature-256": signature },
    });
    expect(response.status).to.equal(202);
    const [{ requestId: signed }] = (await app.call("GET", "/api/hooks/requests", undefined, bearer(API))).body
      .requests;

    expect((await replay(OPERATOR, {}, signed)).body.mapping).to.equal("signed");
    expect((await replay(OPERATOR, { mapping: "a" }, signed)).status).to.equal(403);
    expect((await replay(OPERATOR, { mapping: "signed" })).status).to.equal(403);
    // the configuration has changed since: what the sender with the hook token sent is selected by another's mapping
    const collection = app.stores.hookRequests.collection;
    await collection.updateOne({ _id: signed }, { $set: { mapping: "a" } });
    expect((await replay(OPERATOR, {}, signed)).status).to.equal(403);
    expect((await replay(API, {}, signed)).status).to.equal(202);
  });

  it("keeps the session owner of its sender", async () => {
    const sessions = { sessions: app.stores.sessions, runs: app.stores.runs };
    await assignSessionOwner(sessions, "of-b", "mapping b");

    const own = await replay(API, {});
    const byB = await replay(API, { mapping: "b" });

    const [first, second] = await Promise.all([own, byB].map(({ body }) => app.stores.runs.find(body.runId)));
    expect(first?.sessionKey).to.equal("of-a");
    expect(second?.sessionKey).to.not.equal("of-b");
    const contexts = await Promise.all(
      [own, byB].map(async ({ body }) => {
        const sender = await app.stores.runs.findSender(body.runId);
        return sender && hookContextOf(sender);
      }),
    );
    expect(contexts).to.deep.equal(["mapping a", "mapping a"]);
  });
});
