import { expect } from "chai";
import { createJob, report, whole } from "../../../support/factories.ts";
import { useApp, useSharedApp } from "../../../support/useApp.ts";

const COUNTS = { running: 0, completed: 0, failed: 0 };
const LINK = { title: "Build", url: "https://ci.example.com/1" };
const TEAM_TOKEN = "a-token-of-team-a-of-length";
const CONFIG = `{ server: { apiToken: "the-api-token-of-length", tokens: [
  { name: "team", token: "${TEAM_TOKEN}", scopes: ["jobs:create", "jobs:read"], jobs: { idPrefix: "a/" } },
] } }`;

describe("links of jobs and steps", () => {
  const app = useSharedApp();

  it("are empty by default, replaced as a list, and removed by null or an empty list", async () => {
    const { path } = await createJob(app);
    const links = async () => (await app.call("GET", path)).body.links;
    expect(await links()).to.deep.equal([]);

    const { body } = await app.call("PUT", path, { links: [LINK, { title: "Log", url: "HTTP://x.example/a?b=1#c" }] });

    expect(body.links).to.deep.equal([LINK, { title: "Log", url: "HTTP://x.example/a?b=1#c" }]);
    await app.call("PUT", path, { name: "kept" });
    expect(await links()).to.have.length(2);
    await app.call("PUT", path, { links: [LINK] });
    expect(await links()).to.deep.equal([LINK]);
    await app.call("PUT", path, { links: null });
    expect(await links()).to.deep.equal([]);
  });

  it("belong to the step that a report names, and are in lists, single reads and currentStep", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", { links: [LINK] });
    await report(app, path, "a", { progress: 10 });

    const { body: job } = await app.call("GET", `${path}?include=steps&stepKey=a`);
    const { body: step } = await app.call("GET", `${path}/steps/a`);

    expect([job.links, job.currentStep.links, job.step.links, job.steps[0].links, step.links]).to.deep.equal([
      [],
      [LINK],
      [LINK],
      [LINK],
      [LINK],
    ]);
    await app.call("PUT", `${path}/steps/a`, step);
    await report(app, path, "a", { links: [] });
    expect((await app.call("GET", `${path}/steps/a`)).body.links).to.deep.equal([]);
  });

  const refused: [string, unknown, string][] = [
    ["another protocol", [{ title: "x", url: "javascript:alert(1)" }], "/links/0/url"],
    ["a space", [{ title: "x", url: "https://x.example/a b" }], "/links/0/url"],
    ["an impossible address", [LINK, { title: "x", url: "https://[x" }], "/links/1/url"],
    ["no title", [{ url: "https://x.example" }], "/links/0/title"],
    ["more than 20", Array.from({ length: 21 }, () => LINK), "/links"],
  ];
  for (const [name, links, pointer] of refused) {
    it(`are refused with ${name}, on jobs and steps`, async () => {
      const { path } = await createJob(app);
      const job = await app.call("PUT", path, { links });
      const step = await app.call("PUT", `${path}/steps/a`, { stepName: "A", links });

      for (const { status, body } of [job, step]) {
        expect(status).to.equal(400);
        expect(body.errors[0].pointer).to.equal(pointer);
      }
    });
  }
});

describe("counts of a job's steps", () => {
  const app = useSharedApp();

  it("follow each change of a step, in reads, lists and the answer to PUT", async () => {
    const { path, jobId } = await createJob(app);
    const seen = async () => (await app.call("GET", path)).body.stepCounts;
    expect(await seen()).to.deep.equal(COUNTS);

    await report(app, path, "a", {});
    await report(app, path, "b", { status: "completed" });
    await report(app, path, "c", { status: "failed" });
    expect(await seen()).to.deep.equal({ running: 1, completed: 1, failed: 1 });

    await report(app, path, "a", { progress: 10 });
    await report(app, path, "a", { status: "failed" });
    await report(app, path, "a", { status: "failed" });
    await report(app, path, "c", { status: "running" });
    expect(await seen()).to.deep.equal({ running: 1, completed: 1, failed: 1 });

    await report(app, path, "c", { ...whole(100), status: "completed", output: {} });
    const expected = { running: 0, completed: 2, failed: 1 };
    expect(await seen()).to.deep.equal(expected);
    expect((await app.call("GET", `/api/jobs?jobId=${jobId}`)).body.jobs[0].stepCounts).to.deep.equal(expected);
    expect((await app.call("PUT", path, { name: "x" })).body.stepCounts).to.deep.equal(expected);
    const stored = await app.stores.jobs.collection.native.findOne({ jobId });
    expect(stored).to.not.have.any.keys("statusBefore");
  });

  it("are right after many concurrent reports, and after a report that is refused", async () => {
    const { path } = await createJob(app);
    const statuses = ["running", "completed", "failed"];
    const all = Array.from({ length: 90 }, (_, i) => report(app, path, `s${i % 30}`, { status: statuses[i % 3] }));
    await Promise.all(all);
    const refused = await app.call("PUT", `${path}/steps/new`, { status: "running" });

    const { body } = await app.call("GET", `${path}?include=steps`);
    const counted = { ...COUNTS } as Record<string, number>;
    for (const { status } of body.steps) counted[status] = (counted[status] ?? 0) + 1;
    expect(refused.status).to.equal(400);
    expect(body.stepCounts).to.deep.equal(counted);
    expect(body.steps).to.have.length(30);
  });
});

describe("children of a job", () => {
  const app = useSharedApp({ config: CONFIG });
  const as = (token: string) => (method: string, path: string, body?: unknown) =>
    app.call(method, path, body, { Authorization: `Bearer ${token}` });
  const operator = as("the-api-token-of-length");
  const team = as(TEAM_TOKEN);
  const ids = async (query: string) =>
    (await operator("GET", `/api/jobs?${query}`)).body.jobs.map(({ jobId }: { jobId: string }) => jobId);

  it("are counted by status, listed by their parent, and left out with children=hide", async () => {
    await operator("PUT", "/api/jobs/p%2F1", { parentJobId: "p" });
    await operator("PUT", "/api/jobs/p%2F2", { parentJobId: "p", status: "completed" });
    await operator("PUT", "/api/jobs/p%2F3", { parentJobId: "p", status: "failed" });
    await operator("PUT", "/api/jobs/p", { name: "Parent" });

    const { body } = await operator("GET", "/api/jobs/p");

    expect(body.children).to.deep.equal({ running: 1, completed: 1, failed: 1 });
    expect(body).to.include({ parentJobId: null, progress: 0, status: "running" });
    expect((await operator("GET", "/api/jobs/p%2F1")).body).to.deep.include({ parentJobId: "p", children: COUNTS });
    expect(await ids("parentJobId=p")).to.deep.equal(["p/3", "p/2", "p/1"]);
    expect(await ids("parentJobId=p&status=failed")).to.deep.equal(["p/3"]);
    expect(await ids("children=hide&jobId=p")).to.deep.equal(["p"]);
  });

  it("are counted whichever comes first, also when parent and child are created at the same time or the parent again", async () => {
    const keys = Array.from({ length: 20 }, (_, i) => `race-${i}`);
    await Promise.all(
      keys.flatMap((key) => [
        operator("PUT", `/api/jobs/${key}`, {}),
        operator("PUT", `/api/jobs/${key}%2F1`, { parentJobId: key }),
      ]),
    );
    await operator("DELETE", "/api/jobs/race-0");
    await operator("PUT", "/api/jobs/race-0", {});

    const read = await Promise.all(keys.map((key) => operator("GET", `/api/jobs/${key}`)));

    for (const { body } of read) expect(body.children).to.deep.equal({ ...COUNTS, running: 1 });
  });

  it("stay when their parent is deleted, and lose it with null", async () => {
    await operator("PUT", "/api/jobs/q", {});
    await operator("PUT", "/api/jobs/q%2F1", { parentJobId: "q" });

    await operator("DELETE", "/api/jobs/q");

    expect((await operator("GET", "/api/jobs/q%2F1")).body.parentJobId).to.equal("q");
    expect((await operator("PUT", "/api/jobs/q%2F1", { parentJobId: null })).body.parentJobId).to.equal(null);
  });

  it("name only a parent that the caller may use, and never themselves", async () => {
    const own = await team("PUT", "/api/jobs/a%2F1", { parentJobId: "a/0" });
    const other = await team("PUT", "/api/jobs/a%2F2", { parentJobId: "b/0" });
    const itself = await team("PUT", "/api/jobs/a%2F2", { parentJobId: "a/2" });

    expect(own.status).to.equal(201);
    expect([other.status, other.body.code]).to.deep.equal([403, "forbidden"]);
    expect([itself.status, itself.body.errors[0].pointer]).to.deep.equal([400, "/parentJobId"]);
    expect((await operator("GET", "/api/jobs/a%2F2")).status).to.equal(404);
  });
});

describe("the messages of failed jobs", () => {
  const app = useApp();
  const found = async (search: string) =>
    (await app.call("GET", `/api/jobs?search=${search}`)).body.jobs.map(({ jobId }: { jobId: string }) => jobId);

  it("are found by their words while the job is failed, also when the message is that of the step", async () => {
    const one = await createJob(app);
    await report(app, one.path, "a", { message: "Cannot reach Warehouse-7 today" });
    expect(await found("warehouse")).to.deep.equal([]);

    await report(app, one.path, "a", { status: "failed", failJob: true });

    expect(await found("Ware%20REACH")).to.deep.equal([one.jobId]);
    expect(await found("warehouse%20missing")).to.deep.equal([]);
    await app.call("PUT", one.path, { status: "running" });
    expect(await found("warehouse")).to.deep.equal([]);
  });

  it("group failures of a window, in which numbers, ids and quoted words do not count", async () => {
    const fail = async (message: string) => {
      const { path, jobId } = await createJob(app);
      await app.call("PUT", path, { status: "failed", message });
      app.clock.advance(10);
      return jobId;
    };
    await fail('row 17 of "orders.csv" has no price');
    await fail("disk 3f2a9c81 is full");
    const newest = await fail('row 2041 of "x" has no price\nat line 3');

    const { body } = await app.call("GET", "/api/stats/jobs?by=error");

    expect(body.errors.map(({ message, count }: { message: string; count: number }) => [message, count])).to.deep.equal(
      [
        ["row N of “…” has no price", 2],
        ["disk ID is full", 1],
      ],
    );
    expect(body.errors[0].newest.jobId).to.equal(newest);
    const { path } = await createJob(app, { message: "out of memory" });
    await app.call("POST", `${path}/cancel`, { force: true });
    expect((await app.call("GET", "/api/stats/jobs?by=error")).body.errors).to.have.length(2);
    app.clock.advance(2 * 86_400_000);
    expect((await app.call("GET", "/api/stats/jobs?by=error")).body.errors).to.deep.equal([]);
    expect((await app.call("GET", "/api/stats/jobs?by=error&span=week")).body.errors).to.have.length(2);
    for (const letter of "abcdefghijklmnopqrstuv") await fail(`fault ${letter}`);
    const { errors } = (await app.call("GET", "/api/stats/jobs?by=error")).body;
    expect(errors.map(({ message }: { message: string }) => message.at(-1)).join("")).to.equal("vutsrqponmlkjihgfedc");
  });
});

describe("the scope jobs:create", () => {
  const app = useSharedApp({ config: CONFIG });

  it("allows PUT of jobs, reports, log lines and pings within the prefix, and no deletion, cancellation or token", async () => {
    const call = async (method: string, path: string, body?: unknown, type = "application/json") =>
      (await app.call(method, path, body, { Authorization: `Bearer ${TEAM_TOKEN}`, "Content-Type": type })).status;

    expect(await call("PUT", "/api/jobs/a%2F1", {})).to.equal(201);
    expect(await call("PUT", "/api/jobs/a%2F1/steps/s", { stepName: "S" })).to.equal(201);
    expect(await call("POST", "/api/jobs/a%2F1/steps/s/log", "x", "text/plain")).to.equal(204);
    expect(await call("POST", "/api/ping/a%2F2", "x", "text/plain")).to.equal(200);
    expect(await call("PUT", "/api/jobs/b%2F1", {})).to.equal(403);
    expect(await call("PUT", "/api/jobs/b%2F1/steps/s", { stepName: "S" })).to.equal(403);
    expect(await call("POST", "/api/jobs/b%2F1/steps/s/log", "x", "text/plain")).to.equal(403);
    expect(await call("GET", "/api/jobs/b%2F1/steps/s/log")).to.equal(404);
    expect(await call("DELETE", "/api/jobs/a%2F1")).to.equal(403);
    expect(await call("DELETE", "/api/jobs")).to.equal(403);
    expect(await call("POST", "/api/jobs/a%2F1/cancel", {})).to.equal(403);
    expect(await call("POST", "/api/jobs/a%2F1/token", { scope: "read" })).to.equal(403);
  });
});
