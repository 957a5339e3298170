import { expect } from "chai";
import sinon from "sinon";
import { ChatAccess } from "../../../../src/config/channels/chatAccess.ts";
import { deleteSingleUseSessions } from "../../../../src/models/retention/deleteSingleUseSessions.ts";
import type { RunDoc } from "../../../../src/models/runs/run.ts";
import { agentHook, notify } from "../../../../src/shared/queue/definitions.ts";
import { WorkerMetrics } from "../../../../src/workers/metrics.ts";
import { dispatchAll } from "../../../../src/workers/notify/dispatch.ts";
import { eventually } from "../../../support/eventually.ts";
import { acceptRun, createJob, report, whole } from "../../../support/factories.ts";
import { NotifyFixture } from "../../../support/notifyFixture.ts";
import { startWorker } from "../../../support/worker.ts";

const SESSION = "the-session";
const completed = { status: "completed", output: { ok: true }, ...whole(100) };

describe("returns of jobs to a session", () => {
  let fixture: NotifyFixture;
  beforeEach(async () => {
    fixture = await NotifyFixture.start([], { agents: { returns: { gather: "1s" } } });
    await acceptRun(fixture.app, SESSION);
  });
  afterEach(async () => {
    sinon.restore();
    await fixture.close();
  });

  const create = (returnTo: object | string = SESSION, more: object = {}) =>
    createJob(fixture.app, { returnTo, ...more });
  const runs = (): Promise<RunDoc[]> =>
    fixture.app.database.collections.runs.find({ kind: "return" }).sort({ order: 1 }).toArray();
  const read = async (path: string) => (await fixture.app.call("GET", path)).body;
  /** Waits until the return runs exist, or have ended, with so many transitions. */
  const returning = (count: number, isDone = (_run: RunDoc) => true) =>
    eventually(async () => {
      const all = await runs();
      const transitions = all.flatMap(({ returnOf = [] }) => returnOf);
      return transitions.length === count && all.every(isDone) && all;
    }, `returns with ${count} transitions`);
  const returned = (count: number) => returning(count, ({ finalized }) => finalized === true);

  it("are one run for the ends that follow each other, with the news of each job", async () => {
    const jobs = [await create(), await create(SESSION, { name: "Deploy" }), await create()];
    for (const { path } of jobs.slice(0, 2)) await report(fixture.app, path, "a", completed);
    const failure = { status: "failed", failJob: true, message: "No space", log: "copying\nno space left" };
    await report(fixture.app, jobs[2]!.path, "a", failure);

    const [run, ...others] = await returned(3);

    expect(others).to.be.empty;
    expect(run?.request?.instructions).to.equal("3 jobs that this session started have ended.");
    for (const { jobId } of jobs) expect(run?.request?.message).to.include(`Id: ${jobId}`);
    expect(run?.request?.message).to.include("Job: Deploy").and.to.include("Message: No space");
    expect(run?.request?.message).to.include("Last lines of the log: \ncopying\nno space left\n");
    const view = await read(`/api/runs/${run?._id}`);
    expect(view.returnOf).to.deep.equal(jobs.map(({ jobId }, i) => ({ jobId, event: i < 2 ? "completed" : "failed" })));
    const job = await read(jobs[2]!.path);
    expect(job.returns).to.have.lengthOf(1);
    expect(job.returns[0]).to.include({ event: "failed", runId: run?._id });
  });

  it("are one run for an end and an answer, with a sentence that fits both", async () => {
    const asking = await create({ sessionKey: SESSION, on: ["gate"] });
    const ending = await create();
    await fixture.app.call("PUT", `${asking.path}/gates/publish`, { title: "Publish?" });
    await fixture.app.call("POST", `${asking.path}/gates/publish/answer`, { action: "accept", answeredBy: "ada" });
    await report(fixture.app, ending.path, "a", completed);

    const [run, ...others] = await returned(2);

    expect(others).to.be.empty;
    expect(run?.request?.instructions).to.match(/^2 jobs that this session started have news: /);
  });

  it("are a run of its own for each end of a job that runs again", async () => {
    const { jobId, path } = await create();
    for (let end = 0; end < 2; end++) {
      await report(fixture.app, path, "a", completed);
      await fixture.app.call("PUT", path, { status: "running" });
    }

    const all = await returned(2);

    expect(all.map(({ returnOf = [] }) => returnOf.map((one) => one.jobId))).to.deep.equal([[jobId], [jobId]]);
    expect((await read(path)).returns).to.have.lengthOf(2);
  });

  it("come only at the transitions that the job names, and once for an end that is reported again", async () => {
    const { path } = await create({ sessionKey: SESSION, on: ["failed"] });
    const other = await create();
    await report(fixture.app, path, "a", completed);
    for (let i = 0; i < 3; i++) await report(fixture.app, other.path, "a", completed);

    const [run] = await returned(1);

    expect(run?.returnOf?.[0]?.jobId).to.equal(other.jobId);
    expect((await read(path)).returns).to.deep.equal([]);
  });

  it("come for a job that turns stale, without a rule, once for each silence", async () => {
    const { path } = await create({ sessionKey: SESSION, on: ["stale"] }, { staleAfterSeconds: 30 });
    await fixture.scanned();
    fixture.app.clock.advance(32_000);
    const [first] = await returning(1);
    await fixture.scanned();
    await report(fixture.app, path, "a", {});
    fixture.app.clock.advance(32_000);

    await returning(2);

    expect(first?.request?.instructions).to.equal(
      "A job that this session started has not been heard of for 30 seconds.",
    );
    await fixture.dispatched();
    expect((await read(path)).returns.map(({ event }: { event: string }) => event)).to.deep.equal(["stale", "stale"]);
  });

  it("come for an answer to a question, and for its expiry", async () => {
    const { path } = await create({ sessionKey: SESSION, on: ["gate"] });
    await fixture.app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
    await fixture.app.call("POST", `${path}/gates/publish/answer`, { action: "accept", answeredBy: "ada" });
    const [run] = await returning(1);
    const expiresAt = new Date(fixture.app.clock.now().getTime() + 60_000).toISOString();
    await fixture.app.call("PUT", `${path}/gates/again`, { title: "Again?", expiresAt });
    fixture.app.clock.advance(61_000);

    const [, expired] = await returning(2);

    expect(run?.request?.instructions).to.equal("A job that this session started has an answer to its question.");
    expect(run?.request?.message).to.include("Question: Publish?\nAnswer: accept, by ada");
    expect(expired?.request?.message).to.include("Question: Again?\nAnswer: decline, by expiry");
  });

  it("are dropped, counted and shown when the session was deleted", async () => {
    const { path } = await create();
    await eventually(async () => (await read("/api/runs")).runs[0].status === "completed", "the turn of the session");
    await fixture.app.database.collections.sessions.deleteMany({});
    await report(fixture.app, path, "a", completed);
    await fixture.dispatched();

    const [dropped] = (await read(path)).returns;

    expect(dropped).to.include({ event: "completed", runId: null });
    expect(await runs()).to.be.empty;
    const { values } = await fixture.worker.metrics.returns.get();
    expect(values.find(({ labels }) => labels.outcome === "dropped")?.value).to.equal(1);
  });

  it("come for an end whose job is deleted before a worker sees it, and not to a job made anew under its id", async () => {
    await fixture.stopWorker();
    const { jobId, path } = await create(SESSION, { name: "First" });
    await report(fixture.app, path, "a", completed);
    await fixture.app.call("DELETE", path);
    await fixture.app.call("PUT", path, { returnTo: SESSION, name: "Second" });
    await fixture.startWorker();

    const [run] = await returned(1);
    const anew = await read(path);
    await report(fixture.app, path, "a", completed);
    const all = await returned(2);

    expect(run?.request?.message).to.include("Job: First").and.to.include('Output: {"ok":true}');
    expect(anew.returns).to.deep.equal([]);
    expect(all.map(({ returnOf }) => returnOf?.[0]?.jobId)).to.deep.equal([jobId, jobId]);
    expect((await read(path)).returns).to.have.lengthOf(1);
  });

  it("survive that Redis is emptied, before the dispatch and between the run and its entry", async () => {
    await fixture.stopWorker();
    const { path } = await create();
    await report(fixture.app, path, "a", completed);
    const queues = fixture.app.queues.all.filter(({ name }) => [notify.name, agentHook.name].includes(name));
    const add = sinon.stub(fixture.app.queues, "add").resolves();
    await Promise.all(queues.map((queue) => queue.obliterate({ force: true })));
    fixture.app.clock.advance(1_000);
    await fixture.startWorker();
    await eventually(async () => (await runs()).length === 1, "the record of the run");
    add.restore();

    await returned(1);
  });

  it("keep a single-use session while a job that returns to it is open", async () => {
    const sessionKey = "single-use";
    await acceptRun(fixture.app, sessionKey, true);
    const { sessions, runs: all } = fixture.app.database.collections;
    await eventually(async () => (await all.findOne({ sessionKey }))?.finalized, "the turn of the session");
    const { path } = await create(sessionKey);
    const later = new Date(fixture.app.clock.now().getTime() + 86_400_000);

    const kept = await deleteSingleUseSessions(fixture.app.stores, later);
    const isThere = (await sessions.findOne({ _id: sessionKey })) !== null;
    await report(fixture.app, path, "a", completed);
    await returned(1);
    const deleted = await deleteSingleUseSessions(fixture.app.stores, later);

    expect([kept, isThere, deleted]).to.deep.equal([0, true, 2]);
    expect(await sessions.findOne({ _id: sessionKey })).to.equal(null);
  });

  it("are one for each transition with two workers, and when a dispatch is repeated after each of its writes", async () => {
    await fixture.stopWorker();
    const { stores, config, clock } = fixture.app;
    const jobs = [];
    for (let at = 1; at <= 5; at++) {
      jobs.push(await create());
      await report(fixture.app, jobs.at(-1)!.path, "a", completed);
      let writes = 0;
      const crashes = (store: object, method: string) => {
        const inner = (Reflect.get(store, method) as (...args: unknown[]) => Promise<unknown>).bind(store);
        return async (...args: unknown[]) => {
          if (++writes === at) throw new Error("crash");
          const result = await inner(...args);
          if (++writes === at) throw new Error("crash");
          return result;
        };
      };
      sinon.replace(stores.runs, "accept", crashes(stores.runs, "accept") as never);
      sinon.replace(stores.jobs, "addReturn", crashes(stores.jobs, "addReturn") as never);
      sinon.replace(stores.outbox, "remove", crashes(stores.outbox, "remove") as never);
      const deps = {
        ...{ stores, clock, rules: [], publicUrl: undefined, metrics: new WorkerMetrics(), retryMs: 0 },
        ...{ delivery: { initialReplyTarget: null, channels: new Set<string>() }, deliver: async () => {} },
        ...{ access: new ChatAccess(config.channels) },
        ...{ triggerHeartbeat: async () => {}, queues: fixture.app.queues, log: { error() {}, warn() {} } as never },
        ...{ url: "", gatherMs: 1, staleAfterSeconds: 900, agent: config.agents.defaults, startRun: async () => {} },
      };
      await dispatchAll(deps).catch(() => {});
      sinon.restore();
    }
    const workers = [await startWorker(fixture.app), await startWorker(fixture.app)];
    const more = await Promise.all(Array.from({ length: 60 }, () => create()));
    await Promise.all(more.map(({ path }) => report(fixture.app, path, "a", completed)));

    const all = await returned(65);
    await Promise.all(workers.map((worker) => worker.close()));

    const ids = all.flatMap(({ returnOf = [] }) => returnOf.map(({ jobId }) => jobId));
    expect(ids.toSorted()).to.deep.equal([...jobs, ...more].map(({ jobId }) => jobId).toSorted());
    expect(all.every(({ returnOf = [] }) => returnOf.length <= 50)).to.equal(true);
    await fixture.startWorker();
  });

  it("are few runs for 500 jobs that end together, each job in exactly one, in the order of the session", async () => {
    const jobs = await Promise.all(Array.from({ length: 500 }, () => create()));
    await fixture.stopWorker(); // On a busy machine the reports take seconds, in which the worker would return the first ends.
    await Promise.all(jobs.map(({ path }) => report(fixture.app, path, "a", completed)));
    await fixture.startWorker();

    const all = await returned(500);

    const ids = all.flatMap(({ returnOf = [] }) => returnOf.map(({ jobId }) => jobId));
    expect(ids.toSorted()).to.deep.equal(jobs.map(({ jobId }) => jobId).toSorted());
    expect(all.length).to.be.within(10, 30);
    const starts = all.map(({ startedAt, endedAt }) => [startedAt?.getTime(), endedAt?.getTime()]);
    for (const [i, [startedAt = 0]] of starts.entries())
      if (i > 0) expect(startedAt).to.be.at.least(starts[i - 1]?.[1] ?? 0);
  });
});
