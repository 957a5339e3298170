import { createHmac, hash } from "node:crypto";
import { expect } from "chai";
import { AppError } from "../../../src/shared/errors.ts";
import { bearer, startApp } from "../../support/app.ts";
import { useApp } from "../../support/useApp.ts";

const TOKEN = "a-token-of-some-length";
const READ = "a-token-that-may-read";

/** Opens an event stream and reads it until the service ends it. */
async function openStream(url: string, path: string, headers: Record<string, string>) {
  const controller = new AbortController();
  const answer = await fetch(`${url}${path}`, { headers, signal: controller.signal });
  expect(answer.status).to.equal(200);
  let isOver = false;
  const over = answer.text().then(
    () => {
      isOver = true;
    },
    () => undefined,
  );
  return { over, isOver: () => isOver, abort: () => controller.abort() };
}

describe("browser log-in", () => {
  const app = useApp({ apiToken: TOKEN, readOnlyToken: READ });
  const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    app.call(method, path, body, headers);
  const setCookie = async (token: string) =>
    (await call("POST", "/session", { token })).headers.get("Set-Cookie") ?? "";
  const logIn = async (token: string) => ({ Cookie: (await setCookie(token)).split(";")[0] as string });

  it("sets a cookie that replaces the token, is HttpOnly and SameSite, and does not reveal the token", async () => {
    const cookie = await setCookie(TOKEN);
    const headers = { Cookie: cookie.split(";")[0] as string };

    const before = await call("GET", "/session");
    const after = await call("GET", "/session", undefined, headers);
    const made = await call("PUT", "/api/jobs/a", {}, headers);

    expect(cookie).to.match(
      /^signalbox_session=full\.\d+\.[\w-]{12}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(cookie).to.not.include(TOKEN);
    expect([before.body, after.body]).to.deep.equal([
      {
        needsToken: true,
        access: null,
        name: null,
        by: null,
        scopes: [],
        jobIdPrefixes: null,
        hooksUrl: null,
        provider: null,
      },
      {
        needsToken: true,
        access: "full",
        name: "api-token",
        by: "token",
        scopes: ["admin"],
        jobIdPrefixes: null,
        hooksUrl: null,
        provider: null,
      },
    ]);
    expect(made.status).to.equal(201);
  });

  it("sets a Secure cookie only behind a proxy that terminates TLS", async () => {
    const proxied = await startApp({ apiToken: TOKEN, trustProxy: 1 });
    const answer = await proxied.call("POST", "/session", { token: TOKEN }, { "X-Forwarded-Proto": "https" });

    expect(answer.headers.get("Set-Cookie")).to.match(/; Secure$/);
    await proxied.close();
  });

  it("answers a wrong token with 401, and too many of them with 429", async () => {
    const first = await call("POST", "/session", { token: "wrong" });
    for (let i = 0; i < 20; i++) await call("POST", "/session", { token: "wrong" });
    const last = await call("POST", "/session", { token: "wrong" });
    const right = await call("POST", "/session", { token: TOKEN });

    expect([first.status, first.body.code]).to.deep.equal([401, "unauthorized"]);
    expect([last.status, last.body.code]).to.deep.equal([429, "rate_limited"]);
    expect(right.status).to.equal(204);
  });

  it("ends with the log-out in every process, after thirty days, and when the token changes", async () => {
    const headers = await logIn(TOKEN);
    const kept = await logIn(TOKEN);
    const other = await startApp({ apiToken: `${TOKEN}-2`, readOnlyToken: READ });
    const elsewhere = await other.call("GET", "/api/jobs", undefined, headers);
    const before = await call("GET", "/api/jobs", undefined, headers);
    const out = await call("DELETE", "/session", undefined, headers);
    const ended = await call("GET", "/api/jobs", undefined, headers);
    const again = await call("DELETE", "/session", undefined, headers);
    const visit = await call("GET", "/session", undefined, headers);
    const browser = await call("GET", "/api/jobs", undefined, kept);
    app.clock.advance(31 * 86_400_000);
    const after = await call("GET", "/api/jobs", undefined, kept);

    for (const answer of [out, again]) {
      expect([answer.status, answer.headers.get("Set-Cookie")]).to.deep.equal([
        204,
        "signalbox_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict",
      ]);
    }
    expect([elsewhere.status, before.status, ended.status, browser.status, after.status]).to.deep.equal([
      401, 200, 401, 200, 401,
    ]);
    expect(visit.body.access).to.equal(null);
    await other.close();
  });

  it("log-out ends the browser's event streams, in another process at the next heartbeat, and no others", async () => {
    const second = await startApp({
      apiToken: TOKEN,
      readOnlyToken: READ,
      mongo: app.mongoUri,
      redis: app.redisUrl,
      prefix: app.prefix,
      timings: { liveHeartbeatMs: 100 },
    });
    const headers = await logIn(TOKEN);
    const kept = await logIn(TOKEN);
    await call("PUT", "/api/jobs/a", {}, headers);
    const ended = await Promise.all([
      openStream(app.url, "/api/events", headers),
      openStream(app.url, "/api/jobs/a/events", headers),
      openStream(second.url, "/api/events", headers),
    ]);
    const others = await Promise.all([
      openStream(app.url, "/api/events", kept),
      openStream(second.url, "/api/events", kept),
      openStream(app.url, "/api/events", bearer(TOKEN)),
    ]);

    await call("DELETE", "/session", undefined, headers);
    await Promise.all(ended.map(({ over }) => over));

    expect(others.map(({ isOver }) => isOver())).to.deep.equal([false, false, false]);
    app.clock.advance(31 * 86_400_000);
    await others[0]?.over;
    for (const { abort } of others) abort();
    await second.close();
  });

  it("signs cookies of a token of which only the hash is configured with more than the hash", async () => {
    const token = "a-token-that-is-configured-by-its-hash";
    const tokenSha256 = hash("sha256", token, "hex");
    const tokens = [{ name: "ci", tokenSha256, scopes: ["admin"] }];
    const hashed = await startApp({ apiToken: [TOKEN, `${TOKEN}-2`], tokens });
    const rotated = await startApp({ apiToken: [`${TOKEN}-2`], tokens });
    const status = async (cookie: string, service = hashed) =>
      (await service.call("GET", "/api/audit", undefined, { Cookie: cookie })).status;
    const payload = `token-ci.${Math.floor(hashed.clock.now().getTime() / 1_000) + 60}.nonce`;
    const forged = [tokenSha256, `cookies of ${tokenSha256}`, ""].map((key) => {
      const seal = createHmac("sha256", key).update(`signalbox session ${payload}`).digest("base64url");
      return `signalbox_session=${payload}.${seal}`;
    });

    const login = await hashed.call("POST", "/session", { token });
    const [cookie = ""] = login.headers.get("Set-Cookie")?.split(";") ?? [];
    const statuses = [await status(cookie), ...(await Promise.all(forged.map((one) => status(one))))];
    const otherSecret = await status(cookie, rotated);
    await Promise.all([hashed.close(), rotated.close()]);

    expect(statuses).to.deep.equal([200, 401, 401, 401]);
    expect(otherSecret).to.equal(401);
  });

  it("accepts the token of a job, for that job alone, until it expires or the browser logs out", async () => {
    for (const jobId of ["a", "b"]) await call("PUT", `/api/jobs/${jobId}`, {}, bearer(TOKEN));
    const { body } = await call("POST", "/api/jobs/a/token", { scope: "read", ttlSeconds: 60 }, bearer(TOKEN));
    const [first, second] = [await logIn(body.token), await logIn(body.token)];
    const status = async (path: string, headers: Record<string, string>, method = "GET") =>
      (await call(method, path, method === "GET" ? undefined : {}, headers)).status;

    const session = await call("GET", "/session", undefined, first);
    const reads = [await status("/api/jobs/a", first), await status("/api/jobs/b", first)];
    const writes = await status("/api/jobs/a", first, "PUT");
    const listed = await call("GET", "/api/jobs", undefined, first);
    await call("DELETE", "/session", undefined, first);
    const afterLogOut = [await status("/api/jobs/a", first), await status("/api/jobs/a", second)];
    app.clock.advance(61_000);
    const afterExpiry = await status("/api/jobs/a", second);

    expect(session.body).to.deep.include({
      access: "read",
      name: "job-token:a",
      scopes: ["jobs:read"],
      jobIdPrefixes: ["a"],
    });
    expect(reads).to.deep.equal([200, 404]);
    expect(writes).to.equal(403);
    expect(listed.body.jobs.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal(["a"]);
    expect(afterLogOut).to.deep.equal([401, 200]);
    expect(afterExpiry).to.equal(401);
  });

  it("rejects a signed cookie without the id of its log-in, which a log-out could not end", async () => {
    const payload = `read.${Math.floor(app.clock.now().getTime() / 1_000) + 60}`;
    const signature = createHmac("sha256", READ).update(`signalbox session ${payload}`).digest("base64url");

    const { status } = await call("GET", "/api/jobs", undefined, {
      Cookie: `signalbox_session=${payload}.${signature}`,
    });

    expect(status).to.equal(401);
  });

  it("rejects a cookie while MongoDB cannot be asked whether its log-in has ended", async () => {
    const headers = await logIn(TOKEN);
    app.stores.endedLogins.has = async () => {
      throw new AppError("unavailable");
    };

    const { status } = await call("GET", "/api/jobs", undefined, headers);
    const probe = await call("GET", "/healthz", undefined, headers);

    expect([status, probe.status]).to.deep.equal([503, 200]);
  });

  const forged: [string, (cookie: string) => string][] = [
    ["more access", (cookie) => cookie.replace("=read.", "=full.")],
    ["more time", (cookie) => cookie.replace(/\.(\d+)\./, (_, until) => `.${Number(until) + 1}.`)],
    ["another signature", (cookie) => `${cookie.slice(0, -1)}${cookie.endsWith("A") ? "B" : "A"}`],
    ["no signature", (cookie) => cookie.split(".").slice(0, 2).join(".")],
    ["an empty value", () => "signalbox_session="],
  ];
  for (const [title, forge] of forged) {
    it(`rejects a cookie that was given ${title}`, async () => {
      const { Cookie } = await logIn(READ);

      expect((await call("GET", "/api/jobs", undefined, { Cookie: forge(Cookie) })).status).to.equal(401);
    });
  }

  for (const [title, headersOf] of [
    ["in the header", async () => bearer(READ)],
    ["in the cookie", () => logIn(READ)],
  ] as const) {
    it(`server.readOnlyToken allows reading everything and changing nothing: ${title}`, async () => {
      await call("PUT", "/api/jobs/a", {}, bearer(TOKEN));
      const headers = await headersOf();

      const reads = ["/api/jobs", "/api/jobs/a", "/api/stats", "/api/runs", "/api/deliveries", "/api/channels"];
      const read = await Promise.all(reads.map((path) => call("GET", path, undefined, headers)));
      const writes = [
        await call("PUT", "/api/jobs/b", {}, headers),
        await call("DELETE", "/api/jobs", undefined, headers),
        await call("POST", "/api/runs/x/cancel", undefined, headers),
      ];

      expect(new Set(read.map(({ status }) => status))).to.deep.equal(new Set([200]));
      expect(writes.map(({ status, body }) => [status, body.code])).to.deep.equal(Array(3).fill([403, "forbidden"]));
      expect((await call("GET", "/session", undefined, headers)).body.access).to.equal("read");
    });
  }

  const foreign: [string, Record<string, string>][] = [
    ["is cross-site by Sec-Fetch-Site", { "Sec-Fetch-Site": "cross-site" }],
    ["is same-site by Sec-Fetch-Site, but not same-origin", { "Sec-Fetch-Site": "same-site" }],
    ["has another Origin", { Origin: "https://evil.example" }],
    ["has the Origin null", { Origin: "null" }],
  ];
  for (const [title, headers] of foreign) {
    it(`rejects changes with a browser's cookie by a page that ${title}`, async () => {
      const cookie = await logIn(TOKEN);

      const write = await call("PUT", "/api/jobs/a", {}, { ...cookie, ...headers });
      const byToken = await call("PUT", "/api/jobs/a", {}, { ...bearer(TOKEN), ...headers });
      const logInFromThere = await call("POST", "/session", { token: TOKEN }, headers);

      expect([write.status, write.body.code]).to.deep.equal([403, "forbidden"]);
      expect(byToken.status).to.equal(201);
      expect(logInFromThere.status).to.equal(403);
    });

    it(`without a configured token, rejects changes by a page that ${title}`, async () => {
      const open = await startApp();

      const { status } = await open.call("DELETE", "/api/jobs", undefined, headers);
      const own = await open.call("DELETE", "/api/jobs", undefined, { Origin: open.url });

      expect([status, own.status]).to.deep.equal([403, 200]);
      expect((await open.call("GET", "/session")).body).to.include({ needsToken: false, access: "full", name: null });
      await open.close();
    });
  }

  it("explains the error when a proxy has replaced the browser's Host", async () => {
    const origin = "http://jobs.example.com:8080";

    const renamed = await call("POST", "/session", { token: TOKEN }, { Origin: origin });

    const { host } = new URL(app.url);
    expect([renamed.status, renamed.body.detail]).to.deep.equal([
      403,
      "Pages of other sites are not allowed to change anything. " +
        `The Origin is ${origin} and the Host is ${host}: a proxy in between must forward the Host header unchanged.`,
    ]);
  });
});
