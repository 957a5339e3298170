import { once } from "node:events";
import { request } from "node:http";
import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { readLastLines } from "../../../src/models/jobs/log/readLog.ts";
import { pingSlug } from "../../../src/models/jobs/pings/slugPing.ts";
import { JobTokens } from "../../../src/models/jobs/tokens/jobTokens.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { startApp } from "../../support/app.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const KEY = "the-token-of-a-creator";
const READER = "the-token-of-a-reader-of-jobs";
const UUID = "c2d1f7a0-3d5e-4d4b-9b43-5f5b0f6d2a11";
const RID = "0c8f5a1e-93b5-4a3c-8f5c-7f0d3f0e9a01";

const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "creator", token: KEY, scopes: ["jobs:create"], jobs: { idPrefix: "team/" } },
      { name: "reader", token: READER, scopes: ["jobs:read"] },
    ],
  },
  expect: [{ id: "nightly", name: "Nightly backup", every: "1d", ping: UUID }],
});

describe("/ping", () => {
  const app = useSharedApp({ config: CONFIG });
  let slug: string;
  let number = 0;
  beforeEach(() => {
    slug = `backup-${number++}`;
  });

  const send = async (path: string, method = "GET", body?: string | Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${app.url}/ping/${path}`, { method, ...(body !== undefined && { body }) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const ping = (rest = "", method?: string, body?: string | Uint8Array<ArrayBuffer>) =>
    send(`${KEY}/${slug}${rest}`, method, body);
  const call = (method: string, path: string) => app.call(method, path, undefined, { Authorization: `Bearer ${API}` });
  const jobs = async (prefix = `team/${slug}/`) => {
    const { body } = await call("GET", `/api/jobs?jobId=${encodeURIComponent(prefix)}`);
    return body.jobs.reverse();
  };
  const read = async (jobId: string) =>
    (await call("GET", `/api/jobs/${encodeURIComponent(jobId)}?include=steps`)).body;

  it("answers OK as text with the limit of bodies, for HEAD, GET and POST", async () => {
    for (const method of ["HEAD", "GET", "POST"]) {
      const { status, headers, text } = await ping("", method);
      expect({ status, text }).to.deep.equal({ status: 200, text: method === "HEAD" ? "" : "OK" });
      expect(headers.get("Content-Type")).to.match(/^text\/plain/);
      expect(headers.get("Ping-Body-Limit")).to.equal("10000");
      expect(headers.get("Cache-Control")).to.equal("no-store");
    }
    expect((await jobs()).map(({ status }: { status: string }) => status)).to.deep.equal(Array(3).fill("completed"));
  });

  it("makes jobs of the token of a run only below the job of the run", async () => {
    await app.stores.jobs.put("a-run", {});
    const jobTokens = new JobTokens(app.stores, app.clock, app.config.server);
    const { token } = await jobTokens.seal("a-run", "run", { ttlMs: 60_000 });

    expect((await send(`${token}/${slug}`)).status).to.equal(200);

    expect(await jobs(`a-run/${slug}/`)).to.have.length(1);
    expect(await jobs(`${slug}/`)).to.deep.equal([]);
  });

  it("makes one job of a start and an end, named after the slug, with its duration from the start", async () => {
    await ping("/start");
    app.clock.advance(90_000);
    await ping("/0", "POST", "Copied\n12 files\n\n");

    const [job, ...others] = await jobs();
    expect(others).to.deep.equal([]);
    expect(job).to.include({ name: slug, status: "completed", progress: 100, message: "12 files" });
    expect(job.jobId).to.match(/^team\/backup-\d+\/\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(job.output).to.deep.equal({ message: "12 files", exitCode: 0, body: "Copied\n12 files\n\n" });
    const { durationMs } = (await call("GET", `/api/jobs/${encodeURIComponent(job.jobId)}/steps/ping`)).body;
    expect(durationMs).to.be.within(90_000, 95_000);
  });

  it("fails the job with fail or an exit code that is not 0, and keeps the text with the step", async () => {
    await ping("/start");
    await ping("/fail", "POST", "disk full");
    await ping("/3");

    const [first, second] = await jobs();
    expect(first).to.include({ status: "failed", message: "disk full" });
    expect((await read(first.jobId)).steps[0].output).to.deep.equal({ message: "disk full", body: "disk full" });
    expect(second).to.include({ status: "failed", message: "Exit code 3" });
  });

  it("never covers a failure with a later success", async () => {
    await ping("/start");
    await ping("/fail");
    await ping();

    expect((await jobs()).map(({ status }: { status: string }) => status)).to.deep.equal(["failed", "completed"]);
  });

  it("makes a job for each start, and ends the newest", async () => {
    await Promise.all([ping("/start"), ping("/start"), ping("/start")]);
    await ping("/1");
    await ping("/0");

    const statuses = (await jobs()).map(({ status }: { status: string }) => status);
    expect(statuses).to.deep.equal(["running", "completed", "failed"]);
  });

  it("ends each of several running jobs once when their ends arrive together", async () => {
    await Promise.all(Array.from({ length: 8 }, () => ping("/start")));
    await Promise.all(Array.from({ length: 8 }, () => ping()));

    const all = await jobs();
    expect(all.map(({ status }: { status: string }) => status)).to.deep.equal(Array(8).fill("completed"));
  });

  it("needs few tries for each of many pings of one millisecond, to begin runs and to end them", async () => {
    const { collection } = app.stores.jobs;
    const puts = sinon.spy(app.stores.jobs, "put");
    const finds = (["findOne", "findOneAndUpdate"] as const).map((one) => sinon.spy(collection, one));
    const runs = { pinged: `team/${slug}`, name: slug, rid: undefined };
    const now = app.clock.now();
    const pingAll = (state: "start" | "success") => {
      const one = { state, body: "", log: { lines: [], cutBytes: 0 } };
      return Promise.all(Array.from({ length: 80 }, () => pingSlug(app.stores, runs, one, { now: () => now })));
    };

    await pingAll("start");
    const tries = puts.callCount;
    for (const find of finds) find.resetHistory();
    await pingAll("success");
    const leases = finds.reduce((sum, { callCount }) => sum + callCount, 0);
    for (const spy of [puts, ...finds]) spy.restore();

    expect(tries).to.be.below(80 * 15);
    expect(leases).to.be.below(80 * 10);
    expect((await jobs()).map(({ status }: { status: string }) => status)).to.deep.equal(Array(80).fill("completed"));
  });

  it("finds the newest job of a slug by an index, however many it has and had", async () => {
    for (let i = 0; i < 20; i++) await ping(i % 4 === 0 ? "/start" : "");
    const pinged = `team/${slug}`;
    for (const statuses of [["running"], ["running", "completed", "failed"]] as const) {
      const query = { pinged, status: { $in: [...statuses] } };
      const newest = app.stores.jobs.collection.native.find(query).sort({ createdAt: -1 }).limit(1);
      const { executionStats } = await newest.explain("executionStats");
      expect(executionStats.totalDocsExamined).to.be.at.most(statuses.length);
    }
  });

  it("ends only jobs that a ping of the slug has begun", async () => {
    await app.stores.jobs.put(`team/${slug}/by-hand`, { name: slug });
    await ping();

    expect(await read(`team/${slug}/by-hand`)).to.include({ status: "running" });
  });

  it("joins the pings of a run by its rid, in any order and beside others", async () => {
    const other = RID.replace("0c", "ff");
    await ping(`?rid=${RID}`);
    await ping(`/start?rid=${other}`);
    await ping(`/start?rid=${RID}`);
    await ping(`/start?rid=${RID.toUpperCase()}`);

    expect((await jobs()).map(({ jobId, status }: Record<string, string>) => [jobId, status])).to.deep.equal([
      [`team/${slug}/${RID}`, "completed"],
      [`team/${slug}/${other}`, "running"],
    ]);
  });

  it("takes the end of a run again, and another end as a run of its own", async () => {
    await ping(`/start?rid=${RID}`);
    await ping(`/fail?rid=${RID}`);
    await ping(`/fail?rid=${RID}`);
    await ping(`?rid=${RID}`);

    const [first, second, ...others] = await jobs();
    expect(others).to.deep.equal([]);
    expect(first).to.include({ jobId: `team/${slug}/${RID}`, status: "failed" });
    expect(second).to.include({ status: "completed" });
  });

  it("keeps the whole of as many bytes as it says that it keeps, with the last line as the message", async () => {
    const limit = Number((await ping(`/start?rid=${RID}`, "POST")).headers.get("Ping-Body-Limit"));
    const body = `${"x".repeat(limit - 13)}\nlast of many`;
    await ping(`/7?rid=${RID}`, "POST", body);

    const [job] = await jobs();
    expect(job).to.include({ status: "failed", message: "last of many" });
    expect((await read(job.jobId)).steps[0].output).to.deep.include({ exitCode: 7, body });
  });

  for (const method of ["GET", "HEAD"]) {
    it(`reads no body of a ${method}`, async () => {
      const options = { method, headers: { "Content-Length": 4 } };
      const sent = request(`${app.url}/ping/${KEY}/${slug}/fail`, options).end("body");
      const [{ statusCode }] = await once(sent, "response");

      expect(statusCode).to.equal(200);
      const [job] = await jobs();
      expect(job).to.include({ status: "failed", message: null });
      expect((await read(job.jobId)).steps[0].output).to.deep.equal({ message: null });
    });
  }

  it("keeps the beginning of a long body, cut at a character", async () => {
    const { status } = await ping("", "POST", `x${"é".repeat(200_000)}`);

    expect(status).to.equal(200);
    const [{ output }] = await jobs();
    expect(Buffer.byteLength(output.body)).to.equal(9_999);
    expect(output.body).to.match(/^xé+$/);
  });

  it("takes a body of other bytes than text", async () => {
    await ping("", "POST", new Uint8Array([0x61, 0xff, 0xfe]));

    expect((await jobs())[0].output.body).to.equal("a\ufffd\ufffd");
  });

  const logOf = async (jobId: string) => {
    const path = `/api/jobs/${encodeURIComponent(jobId)}/steps/ping/log`;
    return (await call("GET", path)).body.lines.map(({ text }: { text: string }) => text);
  };

  it("adds lines to the log of the newest job, an ended one too, and changes nothing else", async () => {
    await ping("/start", "POST", "Began");
    await ping("/log", "POST", "One\nTwo\n");
    await ping("/fail", "POST", "No space");
    const [before] = await jobs();
    await ping("/log", "POST", "After the end");

    const [after, ...others] = await jobs();
    expect(others).to.deep.equal([]);
    expect(after).to.deep.equal(before);
    expect(await logOf(after.jobId)).to.deep.equal(["Began", "One", "Two", "No space", "After the end"]);
  });

  it("adds lines to the log of the run with the rid, and repeats none with a repeated ping", async () => {
    await ping(`/start?rid=${RID}`, "POST", "Began");
    await ping("/start");
    await ping(`/start?rid=${RID}`, "POST", "Began");
    await ping(`/log?rid=${RID}`, "POST", `with ${KEY}`);
    await ping(`/log?rid=${RID}`, "POST", `and ${KEY.slice(0, 3)}\x1b[K${KEY.slice(3, 5)}\x1b[1m${KEY.slice(5)}`);
    await ping(`/log?rid=${RID}`);

    expect(await logOf(`team/${slug}/${RID}`)).to.deep.equal(["Began", "with ***", "and ***\x1b[1m"]);
  });

  it("has the lines of an end in the log before the job ends", async () => {
    const { reports } = app.stores;
    const logged: string[][] = [];
    const add = reports.add.bind(reports);
    sinon.replace(reports, "add", async (report) => {
      const lines = await readLastLines(app.stores.logs, await app.stores.jobs.findId(report.jobId), 9);
      if (report.status !== "running") logged.push(lines.map(({ text }) => text));
      return add(report);
    });
    await ping("/start", "POST", "Began");
    await ping("/fail", "POST", "One\nNo space");
    await ping(`/start?rid=${RID}`);
    await ping(`/3?rid=${RID}`, "POST", "Two");
    await ping("", "POST", "Three");
    sinon.restore();

    expect(logged).to.deep.equal([["Began", "One", "No space"], ["Two"], ["Three"]]);
  });

  it("has the lines of an end only in the log of the job that it ends, however many ends arrive together", async () => {
    await Promise.all(Array.from({ length: 6 }, () => ping("/start")));
    await Promise.all(Array.from({ length: 8 }, (_, i) => ping("/fail", "POST", `End ${i}`)));

    const all = await jobs();
    const logs = await Promise.all(all.map(({ jobId }: { jobId: string }) => logOf(jobId)));
    expect(all).to.have.length(8);
    expect(logs).to.deep.equal(all.map(({ message }: { message: string }) => [message]));
  });

  it("ends the same job when the end is sent again after an error of the service", async () => {
    await ping("/start");
    const fails = sinon.stub(app.stores.reports, "add").rejects(new AppError("unavailable", { detail: "No primary." }));
    const first = await ping("/fail", "POST", "No space");
    fails.restore();
    const second = await ping("/fail", "POST", "No space");

    expect([first.status, second.status]).to.deep.equal([503, 200]);
    expect((await jobs()).map(({ status }: { status: string }) => status)).to.deep.equal(["failed"]);
  });

  it("ends in the same record whatever the order and the repetitions of the pings of a run", async () => {
    for (const end of ["0", "fail"]) {
      const pings = ["start", "start", end, end].map((state) => `/${state}?rid=${RID}`);
      await fc.assert(
        fc.asyncProperty(fc.shuffledSubarray(pings, { minLength: pings.length }), async (order) => {
          slug = `backup-${number++}`;
          for (const one of order) await ping(one);

          const [job, ...others] = await jobs();
          expect(others).to.deep.equal([]);
          expect(job).to.include({ status: end === "0" ? "completed" : "failed", progress: end === "0" ? 100 : 0 });
        }),
        { numRuns: 6, seed: 57 },
      );
    }
  });

  it("answers 404 to lines for a log without a job", async () => {
    expect(await ping("/log", "POST", "Lost")).to.include({ status: 404 });
    expect(await ping(`/log?rid=${RID}`, "POST", "Lost")).to.include({ status: 404 });
    expect(await jobs()).to.deep.equal([]);
  });

  it("takes the UUID of an expected job, in upper case too", async () => {
    await send(`${UUID}/start`);
    await send(`${UUID.toUpperCase()}/0`);

    const [job] = await jobs("nightly/");
    expect(job).to.include({ name: "Nightly backup", status: "completed" });
  });

  for (const [problem, path, status, text] of [
    ["a bad exit code", `${KEY}/slug/256`, 400, /exit code from 0 to 255/],
    ["a word that is no state", `${KEY}/slug/finish`, 400, /exit code from 0 to 255/],
    ["too many parts", `${KEY}/slug/start/now`, 400, /exit code from 0 to 255/],
    ["a bad slug", `${KEY}/a%20b`, 400, /slug must have/],
    ["a missing slug", KEY, 400, /slug must have/],
    ["a long slug", `${KEY}/${"a".repeat(101)}`, 400, /slug must have/],
    ["a rid that is no UUID", `${KEY}/slug?rid=5`, 400, /rid must be a UUID/],
    ["a path that cannot be decoded", `${KEY}/%ff`, 400, /percent-encoded/],
    ["a wrong key", "not-the-token-of-anybody/slug", 401, /no token/],
    ["a wrong key alone", "not-the-token-of-anybody", 401, /no token/],
    ["an unknown UUID", UUID.replace("c2", "c3"), 404, /expect/],
    ["an unknown UUID with a state", `${UUID.replace("c2", "c3")}/start`, 404, /expect/],
    ["a token without the scope", `${READER}/slug`, 403, /jobs:create/],
  ] as const) {
    it(`answers ${status} with a sentence to ${problem}`, async () => {
      const answer = await send(path);

      expect(answer.status).to.equal(status);
      expect(answer.headers.get("Content-Type")).to.match(/^text\/plain/);
      expect(answer.headers.get("Cache-Control")).to.equal("no-store");
      expect(answer.text).to.match(text);
    });
  }

  it("answers 405 to another method", async () => {
    const { status, headers } = await ping("", "DELETE");

    expect(status).to.equal(405);
    expect(headers.get("Allow")).to.equal("GET, HEAD, POST");
  });

  it("has neither key nor UUID in its log", async () => {
    await ping("/start");
    await send(UUID);
    await send(`not-the-token-of-anybody/${slug}`);
    await fetch(`${app.url}/Ping/${KEY}/${slug}`);

    expect(app.log.length).to.be.greaterThan(0);
    const text = JSON.stringify(app.log);
    expect(text).to.include("/ping/[token]");
    expect(text).to.not.include(KEY).and.not.include(UUID).and.not.include("anybody");
  });
});

describe("/ping with wrong keys", () => {
  it("limits them by address, and takes a right one all the same", async () => {
    const app = await startApp({ config: CONFIG });
    const status = async (path: string) => (await fetch(`${app.url}/ping/${path}`)).status;
    for (let i = 0; i < 20; i++) await status(i % 2 ? "not-the-token-of-anybody/x" : UUID.replace("c2", "c3"));

    expect(await status("not-the-token-of-anybody/x")).to.equal(429);
    expect(await status(UUID.replace("c2", "c3"))).to.equal(429);
    expect(await status(`${KEY}/x`)).to.equal(200);
    await app.close();
  });
});

describe("/ping without tokens", () => {
  it("takes any key, but nothing from pages of other sites", async () => {
    const app = await startApp();
    const status = async (headers = {}) => (await fetch(`${app.url}/ping/any/x`, { headers })).status;

    expect(await status()).to.equal(200);
    expect(await status({ "Sec-Fetch-Site": "cross-site" })).to.equal(403);
    expect((await fetch(`${app.url}/ping/${UUID}`)).status).to.equal(404);
    expect((await fetch(`${app.url}/ping/${UUID}/start`)).status).to.equal(404);
    await app.close();
  });
});
