import { request } from "node:http";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { useSharedApp } from "../support/useApp.ts";

/** Sends a request with a host name, as a browser does for a page of that host. */
function visit(app: TestApp, host: string, method: string, path: string, headers: Record<string, string> = {}) {
  const { hostname, port } = new URL(app.url);
  const own = { Host: host, Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin", ...headers };
  return new Promise<{ status: number; code: unknown }>((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: own }, async (answer) => {
      const body = (await json(answer).catch(() => ({}))) as { code?: string };
      resolve({ status: answer.statusCode ?? 0, code: body.code });
    });
    sent.on("error", reject).end();
  });
}

describe("a page whose name resolves to this machine (DNS rebinding)", () => {
  const app = useSharedApp({
    allowedHosts: ["Signalbox.internal"],
    trustProxy: 1,
    config: `{
        hooks: { enabled: true, token: "a-hook-token-of-length" },
        channels: { slack: { botToken: "xoxb-1", signingSecret: "a-signing-secret", allowFrom: ["U1"] } },
      }`,
  });
  before(async () => {
    await app.call("PUT", "/api/jobs/kept", {});
  });

  const strangers = [
    ...["evil.example", "evil.example:3000", "127.0.0.1.evil.example", "localhost.evil.example", "evillocalhost"],
    ...["internal", "x.signalbox.internal", "localhost@evil.example", "evil.example#.localhost", "a b", "[::1"],
  ];
  for (const host of strangers) {
    it(`reads nothing and changes nothing without a token: ${host}`, async () => {
      const forwarded = { "X-Forwarded-Host": "localhost" };

      const refused = [
        await visit(app, host, "GET", "/api/jobs"),
        await visit(app, host, "DELETE", "/api/jobs", forwarded),
        await visit(app, host, "PUT", "/api/jobs/kept", forwarded),
        await visit(app, host, "GET", "/api/events"),
        await visit(app, host, "GET", "/session"),
        await visit(app, host, "GET", "/metrics"),
        await visit(app, host, "GET", "/"),
      ];

      expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).to.deep.equal(new Set(["403 forbidden"]));
      expect((await app.call("GET", "/api/jobs/kept")).status).to.equal(200);
    });
  }

  const own = ["localhost", "LOCALHOST:3000", "signalbox.localhost", "localhost.", "127.0.0.1:80", "[::1]:3000"];
  for (const host of [...own, "192.0.2.7", "signalbox.internal:3000", "SIGNALBOX.INTERNAL"]) {
    it(`is not the sender of a request under ${host}`, async () => {
      expect((await visit(app, host, "GET", "/api/jobs/kept")).status).to.equal(200);
    });
  }

  it("is not a chat service, which proves who it is: any name will do", async () => {
    expect(await visit(app, "tunnel.example", "POST", "/hooks/slack")).to.deep.equal({
      status: 401,
      code: "unauthorized",
    });
  });

  it("is not who has a token of the hooks, which have one always: any name will do, as behind a tunnel", async () => {
    const bearer = { Authorization: "Bearer a-hook-token-of-length" };

    const known = await visit(app, "tunnel.example", "POST", "/hooks/wake", bearer);
    const unknown = await visit(app, "tunnel.example", "POST", "/hooks/wake");

    expect([known.status, known.code]).to.deep.equal([400, "invalid_body"]); // The request lacks a text.
    expect([unknown.status, unknown.code]).to.deep.equal([401, "unauthorized"]);
  });
});

describe("the host name of a request", () => {
  const settings: [string, Parameters<typeof startApp>[0], number][] = [
    ["is not checked when a token is required, since the page has none", { apiToken: "an-api-token-of-length" }, 401],
    ["is not checked beyond loopback without server.allowedHosts", { host: "0.0.0.0" }, 200],
    [
      "must be one of server.allowedHosts beyond loopback",
      { host: "0.0.0.0", allowedHosts: ["signalbox.internal"] },
      403,
    ],
    ["is checked on another loopback address", { host: "127.0.0.2" }, 403],
    ["is checked on ::1", { host: "::1" }, 403],
  ];
  for (const [title, options, expected] of settings) {
    it(title, async () => {
      const app = await startApp(options);

      const { status } = await visit(app, "evil.example", "GET", "/api/jobs");
      await app.close();

      expect(status).to.equal(expected);
    });
  }
});
