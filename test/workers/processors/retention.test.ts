import { randomUUID } from "node:crypto";
import { setTimeout as busyFor } from "node:timers/promises";
import { expect } from "chai";
import { mongo } from "mongoose";
import pino from "pino";
import { mailRunId } from "../../../src/gmail/listener/acceptMail.ts";
import { newRunDoc } from "../../../src/models/runs/acceptance.ts";
import type { RunDoc } from "../../../src/models/runs/run.ts";
import { type RetentionSettings, retentionProcessor } from "../../../src/workers/processors/retention.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { useApp } from "../../support/useApp.ts";

const DAY_MS = 86_400_000;

describe("retention", () => {
  const app = useApp();

  const run = (settings: Partial<RetentionSettings>, signal = new AbortController().signal) => {
    const context = { signal, clock: app.clock, log: pino({ level: "silent" }), timings: FAST_TIMINGS };
    return retentionProcessor(app.stores, { retainSingleUse: "7d", auditAfter: "90d", logsAfter: "30d", ...settings })(
      { id: "1", payload: {}, lastTry: true },
      context,
    );
  };
  const exists = async (path: string) => (await app.call("GET", path)).status === 200;
  const ended = async (status: string) => {
    const job = await createJob(app);
    await report(app, job.path, "a", whole(10));
    await app.call("PUT", job.path, { status });
    return job.path;
  };

  it("deletes ended jobs that are old enough, with their steps, and counts them", async () => {
    const old = [await ended("completed"), await ended("completed"), await ended("failed")];
    app.clock.advance(31 * DAY_MS);
    const young = [await ended("completed"), await ended("failed")];

    const outcome = await run({ completedAfter: "30d", failedAfter: "2w" });

    expect(outcome).to.deep.include({ kind: "done" });
    expect(outcome).to.have.property("result").that.includes({ completed: 2, failed: 1 });
    for (const path of old) expect(await exists(path), path).to.equal(false);
    for (const path of young) expect(await exists(path), path).to.equal(true);
  });

  it("deletes the log lines that are older than logsAfter, and no other", async () => {
    const job = await createJob(app);
    const add = async (step: string) => {
      await report(app, job.path, step, { log: "one\ntwo" });
    };
    const texts = async (step: string) => (await app.call("GET", `${job.path}/steps/${step}/log`)).body.lines.length;
    await add("old");
    await add("both");
    app.clock.advance(20 * DAY_MS);
    await add("both");
    app.clock.advance(11 * DAY_MS);

    const outcome = await run({ logsAfter: "30d" });

    expect(outcome).to.have.property("result").that.includes({ logs: 1 });
    expect([await texts("old"), await texts("both")]).to.deep.equal([0, 4]);
    const [size] = await app.stores.logs.collections.sizes.find({});
    expect(size?.bytes).to.equal(16);
  });

  it("deletes the entries of the audit log that are older than auditAfter, and no other", async () => {
    const add = (target: string) =>
      app.stores.audit.add(
        { actor: "ci", address: "::1", serviceRequestId: "0", requestId: "1" },
        "job.delete",
        target,
      );
    await add("old");
    app.clock.advance(DAY_MS);
    await add("young");
    app.clock.advance(9.5 * DAY_MS);
    await createJob(app);

    const outcome = await run({ auditAfter: "10d" });
    const again = await run({ auditAfter: "10d" });

    expect(outcome).to.have.property("result").that.includes({ audit: 1, completed: 0, requests: 0 });
    expect(again).to.have.property("result").that.includes({ audit: 0 });
    const { entries } = await app.stores.audit.list({ limit: 10 });
    expect(entries.map(({ target }) => target)).to.deep.equal(["young"]);
    expect(await app.stores.jobs.collection.native.countDocuments()).to.equal(1);
  });

  it("deletes all old entries of the audit log, also when they are more than a batch", async () => {
    const entry = {
      actor: "ci",
      action: "job.delete",
      target: null,
      address: "::1",
      requestId: "1",
      serviceRequestId: "1",
    } as const;
    const createdAt = app.clock.now();
    const entries = Array.from({ length: 501 }, (_, i) => ({ _id: `entry-${i}`, createdAt, ...entry }));
    await app.stores.audit.collection.native.insertMany(entries);
    app.clock.advance(91 * DAY_MS);

    const outcome = await run({});

    expect(outcome).to.have.property("result").that.includes({ audit: 501 });
  });

  it("keeps jobs for ever by default, for each status on its own", async () => {
    const completed = await ended("completed");
    const failed = await ended("failed");
    app.clock.advance(1_000 * DAY_MS);

    await run({});
    expect([await exists(completed), await exists(failed)]).to.deep.equal([true, true]);

    await run({ failedAfter: "1d" });
    expect([await exists(completed), await exists(failed)]).to.deep.equal([true, false]);
  });

  it("never deletes a running job, however old, nor one that was reopened", async () => {
    const running = (await createJob(app)).path;
    const opened = await ended("completed");
    await app.call("PUT", opened, { status: "running" });
    app.clock.advance(1_000 * DAY_MS);

    await run({ completedAfter: "1d", failedAfter: "1d" });

    expect([await exists(running), await exists(opened)]).to.deep.equal([true, true]);
  });

  it("counts from the end of a job, not from its creation or later changes", async () => {
    const path = (await createJob(app)).path;
    app.clock.advance(20 * DAY_MS);
    await app.call("PUT", path, { status: "completed" });
    app.clock.advance(20 * DAY_MS);
    await app.call("PUT", path, { name: "renamed" });

    await run({ completedAfter: "30d" });
    expect(await exists(path)).to.equal(true);

    app.clock.advance(11 * DAY_MS);
    await run({ completedAfter: "30d" });
    expect(await exists(path)).to.equal(false);
  });

  it("deletes more than one batch", async () => {
    const jobs = Array.from({ length: 1_200 }, (_, i) => ({
      jobId: `old-${i}`,
      status: "failed",
      endedAt: new Date(0),
    }));
    await app.stores.jobs.collection.native.insertMany(jobs as never);

    const outcome = await run({ failedAfter: "1d" });

    expect(outcome).to.have.property("result").that.includes({ failed: 1_200 });
    expect(await app.stores.jobs.collection.native.countDocuments()).to.equal(0);
  });

  it("stops between two batches when the process stops", async () => {
    const path = await ended("failed");
    app.clock.advance(2 * DAY_MS);

    await run({ failedAfter: "1d" }, AbortSignal.abort());

    expect(await exists(path)).to.equal(true);
  });

  it("deletes stored payloads that nothing refers to", async () => {
    const { jobId } = await createJob(app, { input: { text: "x".repeat(40_000) } });
    await app.stores.jobs.collection.native.deleteOne({ jobId });

    const counts: number[] = [];
    for (const minutes of [0, 11, 50]) {
      app.clock.advance(minutes * 60_000);
      await run({});
      counts.push(await app.stores.payloads.collection.native.countDocuments());
    }

    expect(counts, "at once, within the hour, and after it").to.deep.equal([1, 1, 0]);
  });

  it("goes on behind the payloads that an interrupted pass has read, after all other deletions", async () => {
    await addPayloads(1_100);
    await ended("failed");
    app.clock.advance(2 * DAY_MS);
    const { payloads } = app.stores;
    const reads = spyOnReads();
    const stopping = new AbortController();
    const remove = payloads.delete.bind(payloads);
    payloads.delete = async (...args) => {
      await remove(...args);
      if (args[1].length === 500) stopping.abort();
    };

    const first = await run({ failedAfter: "1d" }, stopping.signal);
    const second = await run({});
    const third = await run({});

    expect(first).to.have.property("result").that.includes({ failed: 1, payloads: 500 });
    expect(second).to.have.property("result").that.includes({ payloads: 600 });
    expect(third).to.have.property("result").that.includes({ payloads: 0 });
    expect(
      reads.filter((from) => from === undefined),
      "scans from the beginning",
    ).to.have.length(1);
  });

  it("leaves a pass to the worker that has begun one", async () => {
    await ended("failed");
    app.clock.advance(2 * DAY_MS);
    await app.stores.leases.acquire("retention", "another worker", 15_000);

    const during = await run({ failedAfter: "1d" });
    app.clock.advance(16_000);
    const later = await run({ failedAfter: "1d" });
    const next = await run({ failedAfter: "1d" });

    expect(during).to.deep.equal({ kind: "done", isIdle: true });
    expect(later).to.have.property("result").that.includes({ failed: 1 });
    expect(next).to.have.property("result").that.includes({ failed: 0 });
  });

  const addPayloads = (count: number) => {
    const old = Array.from({ length: count }, (_, i) => ({
      _id: new mongo.ObjectId(i.toString(16).padStart(24, "0")),
      jobId: "gone",
      text: "{}",
    }));
    return app.stores.payloads.collection.native.insertMany(old);
  };

  /** Returns the queries of the first reads of each scan: undefined for one from the beginning. */
  function spyOnReads(): unknown[] {
    const { collection } = app.stores.payloads;
    const find = collection.find.bind(collection);
    const reads: unknown[] = [];
    collection.find = ((query: mongo.Document, ...rest: []) => {
      reads.push(query.$or);
      return find(query, ...rest);
    }) as typeof collection.find;
    return reads;
  }

  it("pauses after each batch of stored payloads for as long as the batch took", async () => {
    const { payloads } = app.stores;
    await addPayloads(600);
    const times: { readonly startedAt: number; readonly endedAt: number }[] = [];
    const remove = payloads.delete.bind(payloads);
    payloads.delete = async (...args) => {
      const startedAt = performance.now();
      await Promise.all([remove(...args), busyFor(100)]); // As a busy MongoDB answers.
      times.push({ startedAt, endedAt: performance.now() });
    };

    const outcome = await run({});

    const [first, second] = times;
    expect(outcome).to.have.property("result").that.includes({ payloads: 600 });
    expect(second!.startedAt - first!.endedAt).to.be.above(first!.endedAt - first!.startedAt);
  });

  it("deletes the transcript of a single-use session a week after its end, and keeps the run and other sessions", async () => {
    const request = {
      message: "x",
      wakeMode: "now" as const,
      deliver: false,
      channel: "last",
      to: null,
      model: null,
      thinking: null,
      timeoutSeconds: 1,
      trackAsJob: false,
    };
    const run = (_id: string, sessionKey: string, singleUse: boolean) => ({
      _id,
      sessionKey,
      singleUse,
      name: null,
      request,
      kind: "agent" as const,
      mapped: null,
    });
    const runs = [
      run("a", "hook:a", true),
      run("b", "hook:b", true),
      run("c", "hook:b", false),
      run("d", "constant", false),
    ];
    await app.stores.runs.accept(runs);
    await app.stores.runs.collection.native.updateMany(
      {},
      { $set: { endedAt: app.clock.now(), open: false, finalized: true } },
    );
    for (const key of ["hook:a", "hook:b", "constant"]) {
      const turn = { sessionKey: key, prompt: "asked", outside: true, reply: "answered", endedAt: app.clock.now() };
      await app.stores.messages.addTurn(key, turn);
    }

    await afterDays(6);
    const early = await app.stores.messages.collection.native.countDocuments();
    await afterDays(2);

    expect(early).to.equal(6);
    expect(await app.stores.messages.collection.native.distinct("sessionKey")).to.deep.equal(["constant", "hook:b"]);
    expect(await app.stores.runs.collection.native.countDocuments()).to.equal(4);
  });

  it("deletes messages by their age if a setting says so, also of named sessions and of the main one", async () => {
    const { messages, sessions } = app.stores;
    const add = (sessionKey: string, id: string) =>
      messages.addTurn(id, { sessionKey, prompt: "asked", outside: true, reply: "x", endedAt: app.clock.now() });
    const use = (key: string) =>
      sessions.acquire({ key, holder: key }, { token: key, until: new Date(app.clock.now().getTime() + 1) });
    for (const key of ["main", "old", "used"]) await add(key, `${key}-1`);
    for (const key of ["main", "old"]) await use(key);
    for (const key of ["main", "old"]) await sessions.release(key, key);
    app.clock.advance(20 * DAY_MS);
    await add("used", "used-2");
    await use("used");

    await afterDays(11);
    const kept = await messages.collection.native.countDocuments();
    await run({ messagesAfter: "30d" });

    expect(kept).to.equal(8);
    expect(await messages.collection.native.distinct("_id")).to.deep.equal(["used-2-0", "used-2-1"]);
    expect(await sessions.collection.native.distinct("_id")).to.deep.equal(["main", "used"]);
  });

  async function afterDays(days: number, settings: Partial<RetentionSettings> = {}): Promise<void> {
    app.clock.advance(days * DAY_MS);
    await run(settings);
  }

  describe("runs", () => {
    const common = {
      kind: "agent" as const,
      name: null,
      sessionKey: "x",
      singleUse: false,
      mapped: null,
      request: null,
    };
    /** Adds a run that has just ended and is finalized. */
    async function endedRun(_id: string, change: Partial<RunDoc> = {}): Promise<string> {
      await app.stores.runs.accept([{ _id, ...common }]);
      const over = { status: "completed" as const, open: false, finalized: true, endedAt: app.clock.now() };
      await app.stores.runs.collection.native.updateOne({ _id }, { $set: { ...over, ...change } });
      return _id;
    }
    const deliver = (_id: string, runId: string | null, fault: string | null = null) =>
      app.stores.deliveries.add({ _id, runId, channel: "log", to: "x", text: "s3cret", fault });
    const left = async () => {
      const of = async (collection: { native: { distinct(key: string): Promise<unknown[]> } }) =>
        collection.native.distinct("_id");
      return { runs: await of(app.stores.runs.collection), deliveries: await of(app.stores.deliveries.collection) };
    };

    it("deletes runs that ended long enough ago with their deliveries, and deliveries of the main session", async () => {
      await endedRun("old");
      await deliver("old-0", "old", "No recipient.");
      await deliver("turn-old", null, "No recipient.");
      app.clock.advance(31 * DAY_MS);
      await endedRun("young");
      await deliver("young-0", "young", "No recipient.");

      const outcome = await run({ runsAfter: "30d" });

      expect(outcome).to.have.property("result").that.includes({ runs: 1, deliveries: 2 });
      expect(await left()).to.deep.equal({ runs: ["young"], deliveries: ["young-0"] });
    });

    it("keeps runs for ever by default", async () => {
      await endedRun("old");
      await deliver("old-0", "old", "No recipient.");

      await afterDays(1_000);

      expect(await left()).to.deep.equal({ runs: ["old"], deliveries: ["old-0"] });
    });

    it("never deletes a run that is open, not finalized, or whose delivery waits or ended recently", async () => {
      await endedRun("open", { status: "queued", open: true, finalized: null, endedAt: null });
      await endedRun("unsettled", { finalized: false });
      await endedRun("waiting");
      await deliver("waiting-0", "waiting");
      await endedRun("cancelled");
      await deliver("cancelled-0", "cancelled");
      await endedRun("begun-anew");
      await deliver("begun-anew-0", "begun-anew", "No recipient.");
      app.clock.advance(1_000 * DAY_MS);
      await app.stores.deliveries.cancel("cancelled-0");
      await app.stores.deliveries.retry("begun-anew-0", "anna");

      await run({ runsAfter: "7d" });
      const before = await left();
      await afterDays(8, { runsAfter: "7d" });

      expect(before.deliveries).to.deep.equal(["begun-anew-0", "cancelled-0", "waiting-0"]);
      expect(before.runs).to.deep.equal(["begun-anew", "cancelled", "open", "unsettled", "waiting"]);
      expect(await left()).to.deep.equal({
        runs: ["begun-anew", "open", "unsettled", "waiting"],
        deliveries: ["begun-anew-0", "waiting-0"],
      });
    });

    it("deletes a single-use run after its session was deleted", async () => {
      await endedRun("single", { singleUse: true, sessionKey: "hook:single" });
      const turn = { sessionKey: "hook:single", prompt: "asked", outside: true, reply: "x", endedAt: app.clock.now() };
      await app.stores.messages.addTurn("single-0", turn);

      await afterDays(8, { runsAfter: "7d", retainSingleUse: "30d" });
      const early = await left();
      await afterDays(30, { runsAfter: "7d", retainSingleUse: "30d" });

      expect(early.runs).to.deep.equal(["single"]);
      expect((await left()).runs).to.deep.equal([]);
      expect(await app.stores.messages.collection.native.countDocuments()).to.equal(0);
    });

    it("keeps a run that is retried while its session is being deleted", async () => {
      const { messages, runs } = app.stores;
      await endedRun("single", { singleUse: true, sessionKey: "hook:single", status: "failed" });
      const deleteOf = messages.deleteOf.bind(messages);
      messages.deleteOf = async (sessionKeys) => {
        await deleteOf(sessionKeys);
        await runs.retry("single");
      };

      await afterDays(8);

      expect(await runs.find("single")).to.include({ open: true, forgotten: false });
    });

    it("deletes more than one batch, past runs that are kept", async () => {
      const endedAt = new Date(0);
      const old = { ...common, status: "failed" as const, finalized: true, open: false, endedAt };
      const docs = Array.from({ length: 1_200 }, (_, i) => ({
        ...newRunDoc({ _id: `run-${i}`, ...common }, endedAt),
        ...old,
      }));
      await app.stores.runs.collection.native.insertMany(docs);
      for (let i = 0; i < 3; i++) await deliver(`run-${i}-0`, `run-${i}`);

      const outcome = await run({ runsAfter: "7d" });

      expect(outcome).to.have.property("result").that.includes({ runs: 1_197, deliveries: 0 });
      expect((await left()).runs).to.deep.equal(["run-0", "run-1", "run-2"]);
    });

    it("keeps the runs of the last mails of a mailbox, however old, because a listener finds the handled mails by them", async () => {
      const { gmailMailboxes } = app.stores;
      const lease = { token: "t", holder: "h" };
      const mail = (account: string, name: string) => endedRun(mailRunId(account, name));
      for (const account of ["old@example.org", "now@example.org"]) {
        await gmailMailboxes.acquire(account, lease, DAY_MS);
        await mail(account, "long ago");
        app.clock.advance(10 * DAY_MS);
        await mail(account, "last");
        const now = app.clock.now();
        await gmailMailboxes.update(account, "t", { lastMailAt: now, listedAt: now }, now);
        app.clock.advance(10 * DAY_MS);
      }
      // stored, but not noted in the mailbox any more
      await mail("now@example.org", "untold");
      await endedRun(randomUUID());

      await afterDays(1_000, { runsAfter: "7d" });

      const kept = [
        mailRunId("old@example.org", "last"),
        mailRunId("now@example.org", "last"),
        mailRunId("now@example.org", "untold"),
      ];
      expect((await left()).runs).to.have.members(kept);
    });
  });
});
