import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Queue } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { agentHook, queuePrefix } from "../../../../src/shared/queue/definitions.ts";
import { bearer, CommandAgent, type Run } from "../../../e2e/agents/commandAgent.ts";
import type { TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { startWorker } from "../../../support/worker.ts";

describe("an agent run with a command as agent", () => {
  const agent = new CommandAgent();

  const listed = async (key: string): Promise<{ busy: boolean } | undefined> => {
    const { body } = await agent.app.call("GET", "/api/sessions");
    return body.sessions.find(({ sessionKey }: { sessionKey: string }) => sessionKey === key);
  };
  it("waits for the earlier runs of its session in the order of acceptance, while other sessions run concurrently", async () => {
    await agent.start(
      'read -r line; cat > /dev/null; echo "begin $$" >> log; while [ ! -e go ]; do sleep 0.02; done; echo "end $$" >> log; echo ok',
    );

    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push(await agent.accept({ message: `m${i}`, sessionKey: "one" }));
    const other = await agent.accept({ message: "x", sessionKey: "two" });
    await eventually(async () => (await agent.read(other)).status === "running", "the other session's run");
    await eventually(async () => (await agent.read(ids[0] as string)).status === "running", "the first run");
    const waiting = await Promise.all(ids.slice(1).map(async (id) => (await agent.read(id)).status));
    writeFileSync(join(agent.dir, "go"), "");
    const runs = await Promise.all([...ids, other].map((id) => agent.ended(id)));

    expect(waiting).to.deep.equal(["queued", "queued"]);
    expect(runs.every(({ status, attempts }) => status === "completed" && attempts === 1)).to.equal(true);
    for (let i = 1; i < 3; i++) expect((runs[i] as Run).startedAt >= (runs[i - 1] as Run).endedAt).to.equal(true);
  });

  it("receives the transcript of the earlier runs of its session", async () => {
    await agent.start('cat > prompt; while [ ! -e go ]; do sleep 0.02; done; echo "So it is."');

    const sessionKey = "talk";
    const first = await agent.accept({ message: "The first question.", sessionKey });
    await eventually(async () => {
      const run = await agent.read(first);
      return run.status === "running" && run;
    }, "the first run");
    const later = await agent.accept({ message: "The second question.", sessionKey });
    await eventually(async () => (await listed(sessionKey))?.busy, "the session to be shown as busy");
    const waiting = (await agent.read(later)).status;
    writeFileSync(join(agent.dir, "go"), "");
    const runs = await Promise.all([first, later].map((id) => agent.ended(id)));

    expect(waiting).to.equal("queued");
    expect(runs.map(({ status, attempts }) => [status, attempts])).to.deep.equal([
      ["completed", 1],
      ["completed", 1],
    ]);
    expect((runs[1] as Run).startedAt >= (runs[0] as Run).endedAt).to.equal(true);
    const laterPrompt = readFileSync(join(agent.dir, "prompt"), "utf8");
    expect(laterPrompt).to.match(/The first question\..*So it is\..*The second question\./s);
    await eventually(async () => (await listed(sessionKey))?.busy === false, "the session to be free");
  });

  it("ends at once with a summary when it is cancelled before it starts", async () => {
    await agent.start("cat > /dev/null; while [ ! -e go ]; do sleep 0.02; done; echo ok");

    const first = await agent.accept({ message: "x", sessionKey: "s" });
    const second = await agent.accept({ message: "y", sessionKey: "s", name: "Second" });
    const third = await agent.accept({ message: "z", sessionKey: "s" });
    const { status } = await agent.app.call("POST", `/api/runs/${second}/cancel`);
    const summary = await eventually(async () => {
      const { events: waiting } = await agent.app.stores.mainEvents.findWaiting({ limit: 10, maxChars: 1e6 });
      return waiting.find(({ text }) => text.startsWith("Second"));
    }, "the summary of the cancelled run");
    writeFileSync(join(agent.dir, "go"), "");
    const runs = await Promise.all([first, second, third].map((id) => agent.ended(id)));

    expect(status).to.equal(200);
    expect(summary.text).to.equal("Second: failed (cancelled): The run was cancelled.");
    expect(runs.map((run) => run.status)).to.deep.equal(["completed", "failed", "completed"]);
  });

  it("leaves events waiting when the main session's turn fails", async () => {
    await agent.start("cat > /dev/null; echo x >> turns; exit 1");

    await agent.app.call("POST", "/hooks/wake", { text: "Disk is full" }, bearer);
    await eventually(
      () => agent.worker.log.some(({ msg, queue }) => msg === "the queue job failed" && queue === "heartbeat"),
      "the turn to fail",
    );

    expect(await agent.app.stores.mainEvents.countWaiting()).to.equal(1);
  });

  it("runs once, however many queue entries name it", async () => {
    await agent.start("read -r line; cat > /dev/null; echo x >> begun; echo ok", {
      more: "heartbeat: { every: '1d' }",
    });
    await agent.worker.close();
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await agent.accept({ message: `m${i}`, sessionKey: `s${i % 2}` }));
    for (const runId of ids) {
      for (const again of ["x", "y"]) await agent.app.queues.add(agentHook, { runId }, { jobId: `${runId}-${again}` });
    }

    agent.worker = await startWorker(agent.app);
    const runs = await Promise.all(ids.map((id) => agent.ended(id)));

    expect(runs.map(({ status, attempts }) => `${status} ${attempts}`)).to.deep.equal(ids.map(() => "completed 1"));
    expect(readFileSync(join(agent.dir, "begun"), "utf8")).to.equal("x\n".repeat(6));
  });

  it("runs once when it waits in a queue of the previous version", async () => {
    await agent.start("read -r line; cat > /dev/null; echo x >> begun; echo ok", {
      more: "heartbeat: { every: '1d' }",
    });
    await agent.worker.close();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => agent.accept({ message: `m${i}` })));
    for (const queue of agent.app.queues.all) await queue.drain();
    const connection = new Redis(agent.app.redisUrl);
    const former = new Queue("accepted-runs", { connection, prefix: queuePrefix(agent.app.prefix, "accepted-runs") });
    await former.add("accepted-runs", { queue: "agent-hook", runIds: ids });

    agent.worker = await startWorker(agent.app);
    const runs = await Promise.all(ids.map((id) => agent.ended(id)));
    await former.close();
    connection.disconnect();

    expect(runs.map(({ status, attempts }) => `${status} ${attempts}`)).to.deep.equal(ids.map(() => "completed 1"));
    expect(readFileSync(join(agent.dir, "begun"), "utf8")).to.equal("x\n".repeat(20));
  });

  it("fails when its worker died in the third attempt, and the summary counts three attempts", async () => {
    await agent.start("cat > /dev/null; echo ok");
    await agent.worker.close();
    const runId = await agent.accept({ message: "x", name: "Doomed" });
    const dead = { token: "t", until: new Date(0) };
    const error = { code: "agent_unavailable" as const, message: "The model server answered 503." };
    await agent.app.stores.runs.collection.native.updateOne(
      { _id: runId },
      { $set: { status: "running", attempts: 3, lease: dead, error } },
    );

    agent.worker = await startWorker(agent.app);
    const run = await agent.ended(runId);

    expect(run).to.include({ status: "failed", attempts: 3 });
    const summary = await eventually(
      () => agent.app.stores.mainEvents.collection.native.findOne({ source: `run ${runId}` }),
      "it",
    );
    expect(summary.text).to.equal(
      "Doomed: failed after 3 tries (agent_failed): The worker process ended during the last of 3 attempts.",
    );
  });

  it("does not block other runs while its end cannot be stored", async () => {
    await agent.start("cat > /dev/null; echo ok");
    await agent.worker.close();
    const broken = await agent.accept({ message: "unwritable", sessionKey: "a" });
    const other = await agent.accept({ message: "x", sessionKey: "b" });
    const end = { status: "completed" as const, open: false, finalized: false, reply: "r", endedAt: new Date(0) };
    await agent.app.stores.runs.collection.native.updateMany({ _id: { $in: [broken, other] } }, { $set: end });
    const add = agent.app.stores.messages.addTurn.bind(agent.app.stores.messages);
    agent.app.stores.messages.addTurn = (id, turn) =>
      turn.prompt === "unwritable" ? Promise.reject(new Error("broken")) : add(id, turn);

    agent.worker = await startWorker(agent.app);
    await eventually(async () => (await agent.app.stores.runs.find(other)).finalized, "the other run to be finalized");

    await eventually(
      () => agent.worker.log.some(({ level, run }) => level === 50 && run === broken),
      "the sweep to say so",
    );
    expect((await agent.app.stores.runs.find(broken)).finalized).to.equal(false);
  });

  it("is retried when the outcome of its turn cannot be stored, and the log contains the error", async () => {
    await agent.start("cat > /dev/null; echo ok");
    const { runs } = agent.app.stores;
    const end = runs.end.bind(runs);
    runs.end = () => {
      runs.end = end;
      return Promise.reject(new Error("broken"));
    };

    const runId = await agent.accept({ message: "x" });
    await eventually(
      () => agent.worker.log.some(({ level, job }) => level === 50 && job === runId),
      "the worker to say so",
    );
    await runs.collection.native.updateOne({ _id: runId }, { $set: { "lease.until": new Date(0) } });
    const { collection: sessions } = agent.app.stores.sessions;
    await sessions.updateOne({ "active.holder": `${runId}-0` }, { $set: { "active.until": new Date(0) } });
    const run = await agent.ended(runId);

    expect(run).to.include({ status: "completed", attempts: 2 });
    expect(run.reply?.trim()).to.equal("ok");
  });

  for (const [what, delay] of [
    [
      "their end",
      ({ runs }: TestApp["stores"], hold: () => Promise<void>) => {
        const end = runs.end.bind(runs);
        runs.end = (...args) => hold().then(() => end(...args));
      },
    ],
    [
      "what follows from it",
      ({ mainEvents }: TestApp["stores"], hold: () => Promise<void>) => {
        const add = mainEvents.add.bind(mainEvents);
        mainEvents.add = (...args) => hold().then(() => add(...args));
      },
    ],
  ] as const) {
    it(`is finished by a worker that stops while ${what} is stored`, async () => {
      await agent.start("cat > /dev/null; echo ok");
      const { promise: mayBeWritten, resolve: write } = Promise.withResolvers<void>();
      let writing = 0;
      delay(agent.app.stores, () => {
        writing++;
        return mayBeWritten;
      });

      const runs = [await agent.accept({ message: "x" }), await agent.accept({ message: "y" })];
      await eventually(() => writing === 2, "both to be written");
      const before = await Promise.all(runs.map((id) => agent.app.stores.runs.find(id)));
      const closed = agent.worker.close();
      write();
      await closed;

      const after = await Promise.all(runs.map((id) => agent.app.stores.runs.find(id)));
      expect(before.map(({ finalized }) => finalized === true)).to.deep.equal([false, false]);
      expect(after.map(({ status, finalized }) => [status, finalized])).to.deep.equal(
        Array(2).fill(["completed", true]),
      );
    });
  }
});
