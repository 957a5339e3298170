import { expect } from "chai";
import { allRoutes } from "../../../src/api/routes/all.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { bearer, startApp, type TestApp } from "../../support/app.ts";
import { openEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import { useApp, useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const TEAM = "the-token-of-the-own-team";
const REPORTER = "the-token-of-a-reporter";
const CREATOR = "the-token-of-a-creator-of-jobs";
const VIEWER = "the-token-of-a-viewer-with-runs";

const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "team", token: TEAM, scopes: ["jobs:read", "jobs:write"], jobs: { idPrefix: "own/" } },
      { name: "reporter", token: REPORTER, scopes: ["jobs:report"] },
      { name: "creator", token: CREATOR, scopes: ["jobs:create"], jobs: { idPrefix: "own/" } },
      { name: "viewer", token: VIEWER, scopes: ["runs:read"] },
    ],
  },
});

describe("a token confined to an id prefix", () => {
  const app = useApp({ config: CONFIG });
  const as = (token: string, method: string, path: string, body?: unknown) =>
    app.call(method, path, body, bearer(token));
  beforeEach(async () => {
    for (const jobId of ["own/a", "own/b", "other/a", "ow"]) await app.stores.jobs.put(jobId, {});
  });

  const idsOf = async (path: string) =>
    (await as(TEAM, "GET", path)).body.jobs.map(({ jobId }: { jobId: string }) => jobId).sort();

  it("lists only its own jobs, whatever prefix is asked for", async () => {
    expect(await idsOf("/api/jobs")).to.deep.equal(["own/a", "own/b"]);
    expect(await idsOf("/api/jobs?jobId=o")).to.deep.equal(["own/a", "own/b"]);
    expect(await idsOf("/api/jobs?jobId=own/a")).to.deep.equal(["own/a"]);
    expect(await idsOf("/api/jobs?jobId=other/")).to.deep.equal([]);
  });

  it("counts only its own jobs", async () => {
    expect((await as(TEAM, "GET", "/api/stats")).body.jobs.total).to.equal(2);
    expect((await as(API, "GET", "/api/stats")).body.jobs.total).to.equal(4);
  });

  describe("next to a job token", () => {
    const READERS = ["the team's token", "the job token"] as const;
    let tokens: Record<(typeof READERS)[number], string>;
    beforeEach(async () => {
      const { body } = await as(API, "POST", "/api/jobs/own%2Fa/token", { scope: "report" });
      tokens = { "the team's token": TEAM, "the job token": body.token };
    });

    it("lists only the gates of its own jobs, whatever their status", async () => {
      for (const job of ["own%2Fa", "own%2Fb", "other%2Fa", "ow"])
        await as(API, "PUT", `/api/jobs/${job}/gates/go`, { title: "Go on?" });
      await as(API, "POST", "/api/jobs/own%2Fb/gates/go/answer", { action: "accept" });
      const jobsOf = async (token: string, query = "") =>
        (await as(token, "GET", `/api/gates${query}`)).body.gates.map(({ jobId }: { jobId: string }) => jobId).sort();

      expect(await jobsOf(API)).to.deep.equal(["other/a", "ow", "own/a", "own/b"]);
      expect(await jobsOf(TEAM)).to.deep.equal(["own/a", "own/b"]);
      expect(await jobsOf(TEAM, "?status=open")).to.deep.equal(["own/a"]);
      expect(await jobsOf(tokens["the job token"])).to.deep.equal(["own/a"]);
      expect(await jobsOf(tokens["the job token"], "?status=answered")).to.deep.equal([]);
    });

    it("counts only its own jobs in each number, and reads no usage of runs", async () => {
      await as(API, "POST", "/api/ping/own%2Fa/done");
      await as(API, "POST", "/api/ping/other%2Fa/fail");
      await as(API, "POST", "/api/ping/ow/done");
      const statsOf = async (token: string) => (await as(token, "GET", "/api/stats")).body;

      expect(await statsOf(TEAM)).to.deep.equal({
        jobs: { total: 2, running: 1, completed: 1, failed: 0, stale: 0 },
        lastHour: { created: 2, completed: 1, failed: 0 },
        capped: false,
        usageLastHour: null,
      });
      expect(await statsOf(tokens["the job token"])).to.deep.equal({
        jobs: { total: 1, running: 0, completed: 1, failed: 0, stale: 0 },
        lastHour: { created: 1, completed: 1, failed: 0 },
        capped: false,
        usageLastHour: null,
      });
      expect((await as(TEAM, "GET", "/api/stats?jobId=o")).body.jobs.total).to.equal(2);
    });

    it("reads neither the history, which counts all jobs, nor the number of runs", async () => {
      const paths = ["/api/stats/history", "/api/stats/history?name=a", "/api/stats/runs"];
      for (const reader of READERS)
        for (const path of paths) {
          const { status, body } = await as(tokens[reader], "GET", path);
          expect([status, body.code], `${reader}: ${path}`).to.deep.equal([403, "forbidden"]);
        }
      for (const path of paths) expect((await as(API, "GET", path)).status, path).to.equal(200);
    });

    it("reads only the failures of its own jobs", async () => {
      for (const jobId of ["own/a", "other/a"])
        await as(API, "PUT", `/api/jobs/${encodeURIComponent(jobId)}`, { status: "failed", message: `In ${jobId}` });
      const failuresOf = async (token: string) =>
        (await as(token, "GET", "/api/stats/jobs")).body.errors?.map(({ message }: { message: string }) => message);

      expect(await failuresOf(TEAM)).to.deep.equal(["In own/a"]);
      expect(await failuresOf(API)).to.have.members(["In own/a", "In other/a"]);
    });

    it("has a test for each route of statistics and gates without a job in its path", () => {
      const { hooks } = parseConfig(CONFIG, {});
      const paths = allRoutes(hooks, []).map(({ path }) => path);

      expect(paths.filter((path) => /^\/api\/(stats|gates)/.test(path)).sort()).to.deep.equal([
        ...["/api/gates", "/api/stats", "/api/stats/history", "/api/stats/jobs", "/api/stats/runs"],
      ]);
    });
  });

  it("deletes only its own jobs without a filter", async () => {
    expect((await as(TEAM, "DELETE", "/api/jobs")).status).to.equal(200);

    const { body } = await as(API, "GET", "/api/jobs");
    expect(body.jobs.map(({ jobId }: { jobId: string }) => jobId).sort()).to.deep.equal(["other/a", "ow"]);
  });

  it("deletes only its own jobs with a filter", async () => {
    for (const job of ["own%2Fa", "other%2Fa"]) await as(API, "POST", `/api/ping/${job}/done`);

    expect((await as(TEAM, "DELETE", "/api/jobs?status=completed")).status).to.equal(200);
    expect((await as(TEAM, "DELETE", "/api/jobs?jobId=o")).status).to.equal(200);

    const { body } = await as(API, "GET", "/api/jobs");
    expect(body.jobs.map(({ jobId }: { jobId: string }) => jobId).sort()).to.deep.equal(["other/a", "ow"]);
  });

  it("receives live events of its own jobs only, deletions included", async () => {
    const events = await openEvents(`${app.url}/api/events`, bearer(TEAM));

    await as(API, "PUT", "/api/jobs/other%2Fa", { name: "Changed" });
    await as(API, "DELETE", "/api/jobs/other%2Fa");
    await as(API, "DELETE", "/api/jobs/own%2Fa");
    await as(API, "PUT", "/api/jobs/own%2Fb", { name: "Changed" });

    // the creation of the job may be reported late
    await events.next("job", ({ jobId, name }) => jobId === "own/b" && name === "Changed");
    const ids = events.events.flatMap(({ data }) => data.jobId ?? []);
    expect(new Set(ids)).to.deep.equal(new Set(["own/a", "own/b"]));
    events.close();
  });

  it("receives no events of runs without runs:read, and a token for runs none of jobs", async () => {
    const ofTeam = await openEvents(`${app.url}/api/events`, bearer(TEAM));
    const ofViewer = await openEvents(`${app.url}/api/events`, bearer(VIEWER));
    const runId = await acceptRun(app);

    await as(API, "PUT", "/api/jobs/own%2Fa", { name: "Changed" });

    await ofViewer.next("run", (run) => run.runId === runId);
    await ofTeam.next("job");
    expect(ofTeam.events.some(({ event }) => event === "run")).to.equal(false);
    expect(ofViewer.events.some(({ event }) => event.startsWith("job"))).to.equal(false);
    ofTeam.close();
    ofViewer.close();
  });
});

async function acceptRun(app: TestApp): Promise<string> {
  const { acceptRun: accept } = await import("../../support/factories.ts");
  return accept(app, "hook:test");
}

describe("a token that only reports", () => {
  it("pings a job that exists, and creates none", async () => {
    const app = await startApp({ config: CONFIG });
    const ping = (path: string) => app.call("POST", `/api/ping/${path}`, undefined, bearer(REPORTER));

    const missing = await ping("nightly");
    await app.stores.jobs.put("nightly", {});
    const existing = await ping("nightly/done");
    const anew = await ping("nightly?new=1");

    expect([missing.status, existing.status, anew.status]).to.deep.equal([404, 200, 404]);
    expect((await app.call("GET", "/api/stats", undefined, bearer(API))).body.jobs.total).to.equal(1);
    await app.close();
  });
});

describe("a token that creates jobs", () => {
  const app = useSharedApp({ config: CONFIG });
  const statusOf = async (method: string, path: string, body?: object) =>
    (await app.call(method, path, body, bearer(CREATOR))).status;

  it("creates, changes, reports and pings jobs of its prefix", async () => {
    expect(await statusOf("PUT", "/api/jobs/own%2Fa", { name: "A" })).to.equal(201);
    expect(await statusOf("PUT", "/api/jobs/own%2Fa", { name: "B" })).to.equal(200);
    expect(await statusOf("PUT", "/api/jobs/own%2Fa/steps/s", { stepName: "S" })).to.equal(201);
    expect(await statusOf("POST", "/api/ping/own%2Fb?new=1")).to.equal(200);
    expect(await statusOf("POST", "/api/ping/own%2Fb/done")).to.equal(200);
    expect(await statusOf("PUT", "/api/jobs/other%2Fa", {})).to.equal(403);
    expect(await statusOf("POST", "/api/ping/other%2Fa")).to.equal(403);
  });

  it("neither reads, deletes nor cancels jobs, and creates no tokens", async () => {
    await app.stores.jobs.put("own/c", {});

    for (const [method, path, body] of [
      ["GET", "/api/jobs/own%2Fc"],
      ["GET", "/api/jobs"],
      ["DELETE", "/api/jobs/own%2Fc"],
      ["DELETE", "/api/jobs"],
      ["POST", "/api/jobs/own%2Fc/cancel", {}],
      ["POST", "/api/jobs/own%2Fc/token", { scope: "read" }],
    ] as const)
      expect(await statusOf(method, path, body), `${method} ${path}`).to.equal(403);
    expect((await app.stores.jobs.find("own/c")).status).to.equal("running");
  });
});

describe("a token with an expiry", () => {
  it("is valid until then, its log-in too, and its streams end", async () => {
    const token = "a-token-that-expires-soon";
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const tokens = [{ name: "soon", token, scopes: ["jobs:read"], expiresAt }];
    const app = await startApp({ config: JSON.stringify({ server: { apiToken: API, tokens } }) });
    const { headers } = await app.call("POST", "/session", { token });
    const cookie = { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
    const statuses = async () => [
      (await app.call("GET", "/api/jobs", undefined, bearer(token))).status,
      (await app.call("GET", "/api/jobs", undefined, cookie)).status,
    ];
    const events = await openEvents(`${app.url}/api/events`, bearer(token));

    expect(await statuses()).to.deep.equal([200, 200]);
    app.clock.advance(3_600_000);

    expect(await statuses()).to.deep.equal([401, 401]);
    await eventually(() => events.isOver(), "the end of the stream");
    await app.close();
  });
});

describe("the log-in with a token of server.tokens", () => {
  const app = useSharedApp({ config: CONFIG });

  it("names the token, its scopes and its jobs, and does what they allow", async () => {
    const { headers } = await app.call("POST", "/session", { token: TEAM });
    const cookie = { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };

    expect((await app.call("GET", "/session", undefined, cookie)).body).to.deep.equal({
      needsToken: true,
      access: "read",
      name: "team",
      by: "token",
      provider: null,
      jobIdPrefixes: ["own/"],
      hooksUrl: null,
      scopes: ["jobs:read", "jobs:write", "jobs:create", "jobs:report"],
    });
    expect((await app.call("PUT", "/api/jobs/own%2Fz", {}, cookie)).status).to.equal(201);
    expect((await app.call("PUT", "/api/jobs/other%2Fz", {}, cookie)).status).to.equal(403);
  });

  it("needs jobs:read", async () => {
    const { status, body } = await app.call("POST", "/session", { token: REPORTER });

    expect([status, body.code]).to.deep.equal([403, "forbidden"]);
    expect(body.detail).to.include("jobs:read");
  });
});
