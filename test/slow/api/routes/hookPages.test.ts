import { expect } from "chai";
import { type Answer, startApp, type TestApp } from "../../../support/app.ts";
import { freeze } from "../../../support/freeze.ts";
import type { TestServer } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const config = (more = "") => `{ hooks: { enabled: true, token: "${TOKEN}"${more} } }`;
const _UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

describe("POST /hooks/agent and /hooks/wake", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ config: config() });
  });
  after(() => app.close());
  const _post = (hook: string, body: unknown, headers: Record<string, string> = bearer): Promise<Answer> =>
    app.call("POST", `/hooks/${hook}`, body, headers);
  const _runs = async () => (await app.call("GET", "/api/runs")).body.runs;

  const _refused: [string, string, object, string][] = [
    ["agent", "a blank message", { message: " \n" }, "/message"],
    ["agent", "no message", {}, "/message"],
    ["agent", "a message that is no text", { message: 5 }, "/message"],
    ["agent", "an unknown wakeMode", { message: "x", wakeMode: "later" }, "/wakeMode"],
    ["agent", 'deliver as "false"', { message: "x", deliver: "false" }, "/deliver"],
    ["agent", "an unknown channel", { message: "x", channel: "fax" }, "/channel"],
    ["agent", "a time-out of 0", { message: "x", timeoutSeconds: 0 }, "/timeoutSeconds"],
    ["agent", "a negative time-out", { message: "x", timeoutSeconds: -1 }, "/timeoutSeconds"],
    ["agent", "the main session's key", { message: "x", sessionKey: "main" }, "/sessionKey"],
    ["agent", "a sessionKey with a line feed", { message: "x", sessionKey: "a\nb" }, "/sessionKey"],
    ["wake", "a blank text", { text: "" }, "/text"],
    ["wake", "no text", {}, "/text"],
    ["wake", "an unknown mode", { text: "x", mode: "soon" }, "/mode"],
  ];

  it("ends a page of runs early when their replies exceed the size of one response", async () => {
    const app = await startApp({ config: config() });
    try {
      for (let i = 0; i < 4; i++) await app.call("POST", "/hooks/agent", { message: "x" }, bearer);
      await app.stores.runs.collection.native.updateMany({}, { $set: { reply: "x".repeat(4 * 1024 * 1024) } });

      const first = await app.call("GET", "/api/runs");
      const second = await app.call("GET", `/api/runs?cursor=${first.body.nextCursor}`);

      expect([first.body.runs.length, second.body.runs.length, second.body.nextCursor]).to.deep.equal([3, 1, null]);
    } finally {
      await app.close();
    }
  });
});

describe("session key policy", () => {
  const _cases: [string, string, object, number, string | undefined][] = [
    ["a default key", ', defaultSessionKey: "inbox"', {}, 202, "inbox"],
    ["a request's own key", ', defaultSessionKey: "inbox"', { sessionKey: "mine" }, 202, "mine"],
    ["a key where requests may set none", ", allowRequestSessionKey: false", { sessionKey: "mine" }, 400, undefined],
    ["a key with an allowed prefix", ', allowedSessionKeyPrefixes: ["ci:"]', { sessionKey: "ci:7" }, 202, "ci:7"],
    ["a key without an allowed prefix", ', allowedSessionKeyPrefixes: ["ci:"]', { sessionKey: "mine" }, 400, undefined],
  ];

  for (const [_title, _more, _body, _isAlone] of [
    ["no key at all", "", {}, true],
    ["a key of its own", "", { sessionKey: "mine" }, false],
    ["a default key", ', defaultSessionKey: "inbox"', {}, false],
  ] as const) {
  }
});

describe("hooks while Redis is unavailable", () => {
  const _ways = [
    ["dead", (redis: TestServer) => redis.stop("SIGKILL")],
    ["frozen", (redis: TestServer) => freeze(redis.pid)],
  ] as const;
});
