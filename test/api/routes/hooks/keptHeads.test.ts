import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const API = "an-api-token-of-length";
const HOOK = "a-hook-token-of-length";
const CONFIG = JSON.stringify({
  server: { apiToken: API },
  hooks: {
    enabled: true,
    token: HOOK,
    keepRequests: { for: "7d", maxBytes: "1GiB" },
    mappings: [
      {
        match: { path: "ci", when: { "headers.x-kind": "build", "query.key": { exists: true } } },
        messageTemplate: "{{query.stage}} of {{headers.x-pin}}",
      },
    ],
  },
});
const SECRET = "SECRET-4711";

/** Headers and parameters that hold secrets at some sender or proxy, whatever their names say. */
const SECRET_HEADERS = [
  ...["X-Webhook-Key", "X-Vault-Key", "X-Forwarded-Authorization", "X-Original-Authorization", "X-Session-Id", "X-Pin"],
  ...["X-Goog-IAP-JWT-Assertion", "Cf-Access-Jwt-Assertion", "X-Access-Code", "X-Gitlab-Token", "X-Anything", "Apikey"],
  ...["X-Hub-Signature-256", "X-Secret-Event", "X-Amzn-Oidc-Data", "Referer", "Ocp-Apim-Subscription-Key"],
];
const SECRET_PARAMETERS = ["key", "code", "sig", "signature", "jwt", "k", "anything", "api_key", "access-token"];

describe("the head of a kept request", () => {
  const app = useSharedApp({ config: CONFIG, countFailure: async () => {} });

  const secretHeaders = Object.fromEntries(SECRET_HEADERS.map((name) => [name, SECRET]));
  const search = `${SECRET_PARAMETERS.map((name) => `${name}=${SECRET}`).join("&")}&stage=two&event=push&${SECRET}`;
  const send = (token: string, headers: Record<string, string> = {}) =>
    app.call("POST", `/hooks/ci?${search}`, {}, { Authorization: `Bearer ${token}`, ...secretHeaders, ...headers });
  const newest = async (outcome: string) => {
    const admin = { Authorization: `Bearer ${API}` };
    const read = async (path: string) => (await app.call("GET", path, undefined, admin)).body;
    const [row] = await eventually(async () => {
      const { requests } = await read(`/api/hooks/requests?outcome=${outcome}`);
      return requests.length > 0 && requests;
    }, "the kept request");
    return { request: await read(`/api/hooks/requests/${row.requestId}`), row };
  };

  for (const [outcome, token, headers] of [
    ["accepted", HOOK, { "X-Kind": "build" }],
    ["filtered", HOOK, { "X-Kind": "other" }],
    ["refused", "a-wrong-token-of-length", {}],
  ] as const)
    it(`has no value whose name is not known to be harmless: ${outcome}`, async () => {
      await send(token, headers);

      const { request, row } = await newest(outcome);

      expect(JSON.stringify([request, row])).to.not.include(SECRET);
      expect(JSON.stringify(await app.stores.hookRequests.collection.native.find().toArray())).to.not.include(SECRET);
      for (const name of SECRET_HEADERS) expect(request.headers, name).to.include({ [name.toLowerCase()]: "***" });
      for (const name of SECRET_PARAMETERS) expect(request.query, name).to.include({ [name]: "***" });
      expect(request.headers).to.include({ "content-type": "application/json" });
      expect(request.query).to.include({ event: "push" });
      expect(request.url).to.match(/^\/hooks\/ci\?key=\*\*\*&code=\*\*\*&.*event=push$/);
    });

  it("keeps the values that the conditions and templates of its hook read, which a replay needs", async () => {
    await send(HOOK, { "X-Kind": "build" });

    const { request } = await newest("accepted");
    const path = `/api/hooks/requests/${request.requestId}/replay`;
    const { body } = await app.call("POST", path, { dryRun: true }, { Authorization: `Bearer ${API}` });

    expect(request.headers).to.include({ "x-kind": "build" });
    expect(request.query).to.include({ stage: "two" });
    expect(body.runs[0].message).to.equal("two of ***");
  });
});
