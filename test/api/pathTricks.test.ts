import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { useSharedApp } from "../support/useApp.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";

/** Returns other spellings of a path, which a proxy may treat as the same. */
const writtenOtherwise = [
  ...["/api/jobs", "//api/jobs", "/API/jobs", "/Api/jobs", "/api//jobs", "/api/jobs/", "/api/./jobs", "/x/../api/jobs"],
  ...[
    "/api/../api/jobs",
    "/%61pi/jobs",
    "/api%2Fjobs",
    "/api/%6Aobs",
    "/api;x/jobs",
    "/\\api\\jobs",
    "/assets/../api/jobs",
  ],
  ...["/docs/%2e%2e/api/jobs", "/session/../api/jobs", "/guide/../api/jobs", "/guide/%2e%2e/api/jobs"],
  ...["/api/events", "/api/runs/x/request", "/api/runs/x%2Frequest", "/api/runs/../jobs", "/api/runs/..%2Fjobs"],
];

describe("a client without a token", () => {
  const app = useSharedApp({
    apiToken: TOKEN,
    readOnlyToken: READ_ONLY,
    config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }',
  });
  before(async () => {
    await app.call("PUT", "/api/jobs/behind-the-door", {}, { Authorization: `Bearer ${TOKEN}` });
  });

  /** Sends the path unchanged; fetch would normalize it. */
  const send = (method: string, path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; csp: string | undefined; body: string }>((resolve, reject) => {
      const { hostname, port } = new URL(app.url);
      const sent = request({ hostname, port, method, path, headers }, async (answer) => {
        const csp = answer.headers["content-security-policy"] as string | undefined;
        resolve({ status: answer.statusCode ?? 0, csp, body: await text(answer) });
      });
      sent.on("error", reject).end();
    });

  for (const path of writtenOtherwise) {
    it(`receives nothing at ${path} by any method, not even with the hook token`, async () => {
      for (const headers of [{}, { Authorization: "Bearer a-hook-token-of-length" }]) {
        for (const method of ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE"]) {
          const { status, body } = await send(method, path, headers);

          // OPTIONS answers with the methods of a path
          expect(status, method).to.be.oneOf([302, 400, 401, 404, 405, 429, ...(method === "OPTIONS" ? [204] : [])]);
          expect(body, method).to.not.include("behind-the-door");
        }
      }
    });
  }

  it("changes nothing by a header that overrides the method, with the read-only token", async () => {
    for (const name of ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]) {
      const headers = { Authorization: `Bearer ${READ_ONLY}`, [name]: "DELETE" };

      await send("GET", "/api/jobs/behind-the-door?_method=DELETE", headers);
      const posted = await send("POST", "/api/jobs/behind-the-door?_method=GET", { ...headers, [name]: "GET" });

      expect(posted.status).to.equal(403);
      expect((await send("GET", "/api/jobs/behind-the-door", headers)).status).to.equal(200);
    }
  });

  it("receives a policy that forbids resources of other hosts, with each page and each error", async () => {
    const paths = [
      "/",
      "/login",
      "/jobs/x",
      "/docs",
      "/docs/errors",
      "/guide/",
      "/guide/x",
      "/nothing",
      "/assets/none.js",
    ];
    for (const path of [...paths, "/api/jobs", "/session", "/healthz", "/hooks/agent", "/%zz", "/metrics"]) {
      const { csp } = await send("GET", path);

      expect(csp, path)
        .to.match(/default-src 'none'/)
        .and.match(/frame-ancestors 'none'/);
      expect(csp, path).to.not.match(/https?:|\*|unsafe-eval|script-src[^;]*unsafe/);
    }
  });
});
