import { expect } from "chai";
import { bearer, startApp } from "../../support/app.ts";
import { startRedis } from "../../support/servers/servers.ts";
import { useApp } from "../../support/useApp.ts";

const TOKEN = "a-token-of-some-length";

describe("API authentication with server.apiToken", () => {
  const app = useApp({ apiToken: TOKEN, trustProxy: 1 });
  const get = (headers: Record<string, string> = {}, path = "/api/jobs") => app.call("GET", path, undefined, headers);

  it("accepts the valid token, however Bearer is written", async () => {
    expect((await get(bearer(TOKEN))).status).to.equal(200);
    expect((await get({ Authorization: `bearer ${TOKEN}` })).status).to.equal(200);
  });

  const wrong: [string, Record<string, string>][] = [
    ["no token", {}],
    ["a wrong token", bearer("another-token-of-that")],
    ["a longer token", bearer(`${TOKEN}x`)],
    ["a shorter token", bearer(TOKEN.slice(0, -1))],
    ["another scheme", { Authorization: `Basic ${TOKEN}` }],
    ["an empty token", { Authorization: "Bearer " }],
  ];
  for (const [title, headers] of wrong) {
    it(`answers ${title} with 401 and WWW-Authenticate, and says whether a token was sent`, async () => {
      const hasToken = /^Bearer \S/.test(headers.Authorization ?? "");

      const { status, body, headers: answered } = await get(headers);

      expect([status, body.code]).to.deep.equal([401, "unauthorized"]);
      expect(answered.get("WWW-Authenticate")).to.match(/^Bearer/);
      expect(body.detail.startsWith("The token of this request is not valid, or has expired.")).to.equal(hasToken);
    });
  }

  it("rejects a request before the path is routed and before the body is read", async () => {
    const unknown = await get({}, "/api/nowhere");
    const broken = await app.call("PUT", "/api/jobs/a", "{ not json");

    expect([unknown.status, broken.status]).to.deep.equal([401, 401]);
  });

  it("leaves probes, metrics and documents public", async () => {
    for (const path of ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"]) {
      expect((await get({}, path)).status, path).to.equal(200);
    }
  });

  it("answers the 21st failure of an address in a minute with 429 and Retry-After, but accepts other addresses and the valid token", async () => {
    const from = (address: string) => ({ "X-Forwarded-For": address });
    for (let i = 0; i < 20; i++) expect((await get(from("203.0.113.7"))).status).to.equal(401);

    const refused = await get(from("203.0.113.7"));
    const right = await get({ ...from("203.0.113.7"), ...bearer(TOKEN) });
    const other = await get(from("203.0.113.8"));

    expect([refused.status, refused.body.code]).to.deep.equal([429, "rate_limited"]);
    expect(Number(refused.headers.get("Retry-After"))).to.be.within(1, 60);
    expect(right.status).to.equal(200);
    expect(other.status).to.equal(401);
  });
});

describe("API authentication of IPv6 clients", () => {
  it("counts the failures of a /64 together (G12)", async () => {
    const app = await startApp({ apiToken: TOKEN, trustProxy: 1 });
    try {
      const get = async (address: string) =>
        (await app.call("GET", "/api/jobs", undefined, { "X-Forwarded-For": address })).status;
      for (let i = 0; i < 20; i++) expect(await get(`2001:db8:1:2::${i}`)).to.equal(401);

      expect(await get("2001:db8:1:2:ffff::1")).to.equal(429);
      expect(await get("2001:db8:1:3::1")).to.equal(401);
    } finally {
      await app.close();
    }
  });
});

describe("API authentication while Redis is unavailable", () => {
  it("counts failures in the process", async () => {
    const redis = await startRedis();
    const app = await startApp({ apiToken: TOKEN, redis: redis.url });
    try {
      await redis.stop("SIGKILL");

      const statuses: number[] = [];
      for (let i = 0; i < 22; i++) statuses.push((await app.call("GET", "/api/jobs")).status);

      expect(statuses.slice(0, 20)).to.deep.equal(Array(20).fill(401));
      expect(statuses.slice(20)).to.deep.equal([429, 429]);
      expect((await app.call("GET", "/api/jobs", undefined, bearer(TOKEN))).status).to.equal(200);
    } finally {
      await app.close();
      await redis.remove();
    }
  });
});

describe("server.trustProxy", () => {
  it("at 0 ignores X-Forwarded-For", async () => {
    const app = await startApp({ apiToken: TOKEN });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 21; i++) {
        statuses.push((await app.call("GET", "/api/jobs", undefined, { "X-Forwarded-For": `203.0.113.${i}` })).status);
      }

      expect(statuses[20]).to.equal(429);
    } finally {
      await app.close();
    }
  });

  it("at 1 takes the address that the proxy adds, not one that the client has set", async () => {
    const app = await startApp({ apiToken: TOKEN, trustProxy: 1 });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 21; i++) {
        const headers = { "X-Forwarded-For": `203.0.113.${i}, 198.51.100.1` };
        statuses.push((await app.call("GET", "/api/jobs", undefined, headers)).status);
      }

      expect(statuses[20]).to.equal(429);
    } finally {
      await app.close();
    }
  });
});
