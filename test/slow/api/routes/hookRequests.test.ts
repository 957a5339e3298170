import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { TIMES } from "../../../support/random.ts";

const API = "an-api-token-of-length";
const TOKEN = "a-hook-token-of-length";
/** Refused requests, many times as many as are kept; the nightly command sends more. */
const REFUSED = TIMES > 1 ? 10_000 : 2_000;
const SECRET = "a secret that only two know";
const hook = { Authorization: `Bearer ${TOKEN}` };
const CONFIG = `{
  server: { apiToken: "${API}" },
  hooks: { enabled: true, token: "${TOKEN}", keepRequests: { for: "7d", maxBytes: "1GiB" }, mappings: [
    { match: { path: "ci" }, name: "CI {{branch}}", sessionKey: "hook:ci:{{branch}}", messageTemplate: "Build of {{branch}}",
      channel: "log", to: "ops" },
    { match: { path: "items" }, forEach: "items", messageTemplate: "{{item}}" },
    { match: { path: "github", when: { "headers.x-github-event": "issues", "payload.action": ["opened", "reopened"] } },
      auth: { type: "github", secret: "${SECRET}" }, messageTemplate: "{{payload}}" },
    { id: "other", match: { path: "other" }, messageTemplate: "other {{branch}}", sessionKey: "other" },
  ] },
  channels: { log: {} },
}`;

describe("kept requests", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({ config: CONFIG, countFailure: async () => {} });
  });
  afterEach(() => app.close());

  const send = (name: string, body: unknown, headers: Record<string, string> = hook) =>
    app.call("POST", `/hooks/${name}`, body, headers);

  it(`${REFUSED} refused requests leave the newest 500 rows`, async () => {
    const numbers = Array.from({ length: REFUSED }, (_, i) => i);
    const sendNext = async () => {
      for (let n = numbers.shift(); n !== undefined; n = numbers.shift()) await send(`none-${n}`, {});
    };
    await Promise.all(Array.from({ length: 20 }, sendNext));
    const last = await send("the-last", {});
    expect(last.status).to.equal(404);
    const { collection } = app.stores.hookRequests;
    await eventually(() => collection.findOne({ hook: "the-last" }), "the last one to be stored");

    await eventually(async () => (await collection.countDocuments({})) === 500, "500 rows to be left");
    const hooks = (await collection.find({})).map(({ hook: name }) => Number(name.slice("none-".length)) || 1e5);
    expect(Math.min(...hooks)).to.be.greaterThan(REFUSED - 600);
  }).timeout(120_000);
});
