import { expect } from "chai";
import { bearer, startApp, type TestApp } from "../../../support/app.ts";
import { useApp } from "../../../support/useApp.ts";

const API = "an-api-token-of-length";
const NEWER = "a-newer-api-token-of-length";
const report = { stepName: "Load", status: "running" };

describe("POST /api/jobs/:jobId/token", () => {
  const app = useApp({ apiToken: API });
  beforeEach(async () => {
    await app.stores.jobs.put("import/2041", {});
  });

  const path = "/api/jobs/import%2F2041";
  const create = async (body: object, { from = app, by = API } = {}) =>
    from.call("POST", `${path}/token`, body, bearer(by));
  const canReport = async (token: string, { at = app } = {}) =>
    (await at.call("PUT", `${path}/steps/load`, report, bearer(token))).status;

  it("answers 201 with a token for reporting on this job, valid for a day", async () => {
    const before = app.clock.now().getTime();
    const { status, body } = await create({ scope: "report" });

    expect(status).to.equal(201);
    expect(new Date(body.expiresAt).getTime()).to.be.closeTo(before + 86_400_000, 60_000);
    expect(await canReport(body.token)).to.equal(201);
    expect((await app.call("GET", path, undefined, bearer(body.token))).status).to.equal(200);
  });

  it("answers 404 for a missing job, and 400 for a lifetime of more than 90 days", async () => {
    const missing = await app.call("POST", "/api/jobs/none/token", { scope: "read" }, bearer(API));
    const long = await create({ scope: "read", ttlSeconds: 90 * 86_400 + 1 });

    expect([missing.status, missing.body.code]).to.deep.equal([404, "job_not_found"]);
    expect([long.status, long.body.errors[0].pointer]).to.deep.equal([400, "/ttlSeconds"]);
  });

  describe("for a token of server.tokens", () => {
    const WRITER = "the-token-of-a-writer-of-jobs";
    const SOON = "the-token-that-ends-in-an-hour";
    const HOUR = 3_600_000;
    let scoped: TestApp;
    let ends: Date;
    beforeEach(async () => {
      ends = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + HOUR);
      const tokens = [
        { name: "writer", token: WRITER, scopes: ["jobs:write"] },
        { name: "soon", token: SOON, scopes: ["jobs:read", "jobs:write"], expiresAt: ends.toISOString() },
      ];
      const config = JSON.stringify({ server: { apiToken: API, tokens } });
      scoped = await startApp({ config, mongo: app.mongoUri });
    });
    afterEach(() => scoped.close());

    it("answers 403 without jobs:read, which each job token has", async () => {
      for (const scope of ["read", "report"]) {
        const { status, body } = await create({ scope }, { from: scoped, by: WRITER });

        expect([status, body.code], scope).to.deep.equal([403, "forbidden"]);
        expect(body.detail).to.include("jobs:read");
      }
    });

    it("makes a token that ends no later than its maker", async () => {
      const short = await create({ scope: "read", ttlSeconds: 60 }, { from: scoped, by: SOON });
      const { body } = await create({ scope: "report", ttlSeconds: 90 * 86_400 }, { from: scoped, by: SOON });

      expect(Date.parse(short.body.expiresAt)).to.be.below(ends.getTime());
      expect(body.expiresAt).to.equal(ends.toISOString());
      expect(await canReport(body.token, { at: scoped })).to.equal(201);
      scoped.clock.advance(HOUR + 1_000);
      expect(await canReport(body.token, { at: scoped })).to.equal(401);
    });

    it("makes a token that ends no later than the log-in of its maker", async () => {
      const { headers } = await scoped.call("POST", "/session", { token: SOON });
      const cookie = { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };

      const { body } = await scoped.call("POST", `${path}/token`, { scope: "read", ttlSeconds: 90 * 86_400 }, cookie);

      expect(body.expiresAt).to.equal(ends.toISOString());
    });
  });

  it("makes a token that ends with its time", async () => {
    const { body } = await create({ scope: "report", ttlSeconds: 60 });

    app.clock.advance(61_000);

    expect(await canReport(body.token)).to.equal(401);
  });

  it("makes a token that ends with the job, also if a job with the same id is created", async () => {
    const { body } = await create({ scope: "report" });

    await app.call("DELETE", path, undefined, bearer(API));
    expect(await canReport(body.token)).to.equal(401);
    await app.stores.jobs.put("import/2041", {});

    expect(await canReport(body.token)).to.equal(401);
  });

  it("makes a token that cannot be changed", async () => {
    const { body } = await create({ scope: "read" });
    const [content = "", seal = ""] = body.token.slice(4).split(".");
    const claims = JSON.parse(Buffer.from(content, "base64url").toString());
    const forge = (changed: unknown) => `sbj_${Buffer.from(JSON.stringify(changed)).toString("base64url")}.${seal}`;
    const forged = [
      forge([claims[0], claims[1], "report", claims[3]]),
      forge([claims[0], claims[1], "read", claims[3] + 1]),
      forge(["other", claims[1], "read", claims[3]]),
      `sbj_${content}.${"A".repeat(43)}`,
      `sbj_${content}.`,
      "sbj_",
      `${body.token}A`,
    ];

    for (const token of forged) expect(await canReport(token), token).to.equal(401);
    expect(await canReport(body.token)).to.equal(403);
  });

  it("is not used to create another token, or anything about another job", async () => {
    const { body } = await create({ scope: "report" });

    expect((await create({ scope: "report" }, { by: body.token })).status).to.equal(403);
    expect((await app.call("PUT", path, {}, bearer(body.token))).status).to.equal(403);
    expect((await app.call("GET", "/api/jobs/other", undefined, bearer(body.token))).status).to.equal(404);
    await app.stores.jobs.put("other", {});
    expect((await app.call("GET", "/api/jobs", undefined, bearer(body.token))).body.jobs).to.have.length(1);
  });

  const settings = [
    ["server.apiToken was replaced by a list with both", { apiToken: [NEWER, API] }, 201],
    ["server.apiToken was replaced", { apiToken: NEWER }, 401],
    ["server.secret was set", { apiToken: API, secret: "a-new-secret-of-the-service" }, 401],
  ] as const;
  for (const [title, server, status] of settings) {
    it(`makes a token that ${status === 201 ? "stays valid" : "ends"} when ${title}`, async () => {
      const { body } = await create({ scope: "report" });
      const later = await startApp({ ...server, mongo: app.mongoUri });

      expect(await canReport(body.token, { at: later })).to.equal(status);
      await later.close();
    });
  }

  it("works without a configured token, and the token is good for its job only", async () => {
    const open = await startApp({ mongo: app.mongoUri });
    const { body } = await open.call("POST", `${path}/token`, { scope: "report" });

    expect(await canReport(body.token, { at: open })).to.equal(201);
    expect((await open.call("PUT", "/api/jobs/other", {}, bearer(body.token))).status).to.equal(403);
    await open.close();
  });
});
