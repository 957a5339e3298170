import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Queue } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { agentHook, queuePrefix } from "../../../src/shared/queue/definitions.ts";
import { isRunning } from "../../cli/service.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };

interface Run {
  runId: string;
  sessionKey: string;
  status: string;
  attempts: number;
  reply: string | null;
  error: { code: string } | null;
  startedAt: string;
  endedAt: string;
  deliveries: { channel: string; to: string | null; state: string; reason: string | null }[];
}

describe("an agent run with a command as agent", () => {
  let app: TestApp;
  let worker: TestWorker;
  let dir: string;

  /** A worker whose agent is a program that reads the prompt from standard input. */
  async function start(program: string, { more = "", url = false, concurrency = 10 } = {}): Promise<void> {
    dir = mkdtempSync(join(tmpdir(), "signalbox-agent-"));
    const file = join(dir, "agent.sh");
    writeFileSync(file, `#!/bin/sh\ncd ${dir}\n${program}\n`);
    chmodSync(file, 0o755);
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: { defaults: { runner: "command", ${more} }, runners: { command: { command: ["${file}"] } } },
        channels: { log: {} },
        worker: { concurrency: ${concurrency} },
      }`,
    });
    worker = await startWorker(app, url ? { SIGNALBOX_URL: app.url } : {});
  }
  afterEach(async () => {
    await worker.close();
    await app.close();
    rmSync(dir, { recursive: true });
  });

  const agent = async (body: object): Promise<string> => {
    const { status, body: answer } = await app.call(
      "POST",
      "/hooks/agent",
      { deliver: false, wakeMode: "next-heartbeat", ...body },
      bearer,
    );
    expect(status).to.equal(202);
    return answer.runId;
  };
  const read = async (runId: string): Promise<Run> => (await app.call("GET", `/api/runs/${runId}`)).body;
  const listed = async (key: string): Promise<{ busy: boolean } | undefined> => {
    const { body } = await app.call("GET", "/api/sessions");
    return body.sessions.find(({ sessionKey }: { sessionKey: string }) => sessionKey === key);
  };
  const ended = (runId: string) =>
    eventually(async () => {
      const run = await read(runId);
      return ["completed", "failed", "dropped"].includes(run.status) && run;
    }, "the run to end");

  it("ends with the agent's reply, one summary in the main session and one turn in the transcript", async () => {
    await start('cat > prompt; echo "All fine."');

    const runId = await agent({ message: "How is it?", name: "Check", sessionKey: "s" });
    const run = await ended(runId);

    expect(run).to.include({ status: "completed", reply: "All fine.", attempts: 1 });
    const prompt = readFileSync(join(dir, "prompt"), "utf8");
    expect(prompt).to.include("How is it?").and.to.not.equal("How is it?\n");
    const events = await eventually(async () => {
      const { events: waiting } = await app.stores.events.findWaiting({ limit: 10, maxChars: 1e6 });
      return waiting.length > 0 && waiting;
    }, "the summary");
    expect(events.map(({ text }) => text)).to.deep.equal(["Check: completed\nAll fine."]);
    const { body } = await app.call("GET", "/api/sessions/s/messages");
    expect(body.messages.map(({ role, content }: { role: string; content: string }) => [role, content])).to.deep.equal([
      ["user", "How is it?"],
      ["assistant", "All fine."],
    ]);
  });

  it("waits for the earlier runs of its session in the order of acceptance, while other sessions run concurrently", async () => {
    await start(
      'read -r line; cat > /dev/null; echo "begin $$" >> log; while [ ! -e go ]; do sleep 0.02; done; echo "end $$" >> log; echo ok',
    );

    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push(await agent({ message: `m${i}`, sessionKey: "one" }));
    const other = await agent({ message: "x", sessionKey: "two" });
    await eventually(async () => (await read(other)).status === "running", "the other session's run");
    await eventually(async () => (await read(ids[0] as string)).status === "running", "the first run");
    const waiting = await Promise.all(ids.slice(1).map(async (id) => (await read(id)).status));
    writeFileSync(join(dir, "go"), "");
    const runs = await Promise.all([...ids, other].map(ended));

    expect(waiting).to.deep.equal(["queued", "queued"]);
    expect(runs.every(({ status, attempts }) => status === "completed" && attempts === 1)).to.equal(true);
    for (let i = 1; i < 3; i++) expect((runs[i] as Run).startedAt >= (runs[i - 1] as Run).endedAt).to.equal(true);
  });

  it("receives the transcript of the earlier runs of its session", async () => {
    await start('cat > prompt; while [ ! -e go ]; do sleep 0.02; done; echo "So it is."');

    const sessionKey = "talk";
    const first = await agent({ message: "The first question.", sessionKey });
    await eventually(async () => {
      const run = await read(first);
      return run.status === "running" && run;
    }, "the first run");
    const later = await agent({ message: "The second question.", sessionKey });
    await eventually(async () => (await listed(sessionKey))?.busy, "the session to be shown as busy");
    const waiting = (await read(later)).status;
    writeFileSync(join(dir, "go"), "");
    const runs = await Promise.all([first, later].map(ended));

    expect(waiting).to.equal("queued");
    expect(runs.map(({ status, attempts }) => [status, attempts])).to.deep.equal([
      ["completed", 1],
      ["completed", 1],
    ]);
    expect((runs[1] as Run).startedAt >= (runs[0] as Run).endedAt).to.equal(true);
    const laterPrompt = readFileSync(join(dir, "prompt"), "utf8");
    expect(laterPrompt).to.match(/The first question\..*So it is\..*The second question\./s);
    await eventually(async () => (await listed(sessionKey))?.busy === false, "the session to be free");
  });

  it("fails as timeout when it takes too long, and its program is ended", async () => {
    await start("echo $$ > pid; sleep 600 & wait");

    const runId = await agent({ message: "x", timeoutSeconds: 1 });
    const run = await ended(runId);

    expect(run).to.deep.include({ status: "failed", attempts: 1 });
    expect(run.error?.code).to.equal("timeout");
    const pid = Number(readFileSync(join(dir, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).to.throw("ESRCH");
  });

  it("fails at once when its program fails, and can be retried", async () => {
    await start('cat > /dev/null; [ -e mended ] && echo "Better." || exit 3');

    const runId = await agent({ message: "x" });
    const failed = await ended(runId);
    writeFileSync(join(dir, "mended"), "");
    const retried = await eventually(async () => {
      const answer = await app.call("POST", `/api/runs/${runId}/retry`);
      return answer.status === 202 && answer;
    }, "the failed run to be settled");
    const run = await eventually(async () => {
      const now = await read(runId);
      return now.status === "completed" && now;
    }, "the second round");

    expect(failed).to.deep.include({ status: "failed", attempts: 1 });
    expect(failed.error?.code).to.equal("agent_failed");
    expect(retried.body.status).to.be.oneOf(["queued", "running", "completed"]);
    expect(run.reply).to.equal("Better.");
    expect((await app.call("POST", `/api/runs/${runId}/retry`)).body.code).to.equal("run_state_conflict");
  });

  it("is aborted within seconds when it is cancelled, and the next run of the session starts", async () => {
    await start("cat > /dev/null; [ -e go ] && echo ok && exit; echo $$ > pid; sleep 600 & wait");

    const runId = await agent({ message: "x", sessionKey: "s" });
    const pid = await eventually(() => {
      try {
        return Number(readFileSync(join(dir, "pid"), "utf8").trim());
      } catch {
        return 0;
      }
    }, "the program to run");
    writeFileSync(join(dir, "go"), "");
    const next = await agent({ message: "y", sessionKey: "s" });
    const { status, body } = await app.call("POST", `/api/runs/${runId}/cancel`);
    const after = await ended(next);
    await eventually(() => !isRunning(pid), "the program to be gone");

    expect(status).to.equal(200);
    expect(body).to.deep.include({ status: "failed" });
    expect(body.error.code).to.equal("cancelled");
    expect(after.status).to.equal("completed");
  });

  it("ends at once with a summary when it is cancelled before it starts", async () => {
    await start("cat > /dev/null; while [ ! -e go ]; do sleep 0.02; done; echo ok");

    const first = await agent({ message: "x", sessionKey: "s" });
    const second = await agent({ message: "y", sessionKey: "s", name: "Second" });
    const third = await agent({ message: "z", sessionKey: "s" });
    const { status } = await app.call("POST", `/api/runs/${second}/cancel`);
    const summary = await eventually(async () => {
      const { events: waiting } = await app.stores.events.findWaiting({ limit: 10, maxChars: 1e6 });
      return waiting.find(({ text }) => text.startsWith("Second"));
    }, "the summary of the cancelled run");
    writeFileSync(join(dir, "go"), "");
    const runs = await Promise.all([first, second, third].map(ended));

    expect(status).to.equal(200);
    expect(summary.text).to.equal("Second: failed (cancelled): The run was cancelled.");
    expect(runs.map((run) => run.status)).to.deep.equal(["completed", "failed", "completed"]);
  });

  it("fences external content also in later turns of the session", async () => {
    await start('cat > "prompt.$(ls | wc -l)"; echo "Reply."');

    for (const message of ["first words", "second words"]) await ended(await agent({ message, sessionKey: "s" }));

    const prompts = readdirSync(dir).filter((name) => name.startsWith("prompt"));
    const last = readFileSync(join(dir, prompts.sort().at(-1) as string), "utf8");
    for (const words of ["first words", "second words"]) {
      expect(last).to.match(
        new RegExp(
          `<<<BEGIN_UNTRUSTED_CONTENT id="([0-9a-f]{32})">>>\\n${words}\\n<<<END_UNTRUSTED_CONTENT id="\\1">>>`,
        ),
      );
    }
    const { body } = await app.call("GET", "/api/sessions/s/messages");
    expect(body.messages[0].content).to.equal("first words");
  });

  it("delivers its reply to the requested channel, and records why it could not", async () => {
    await start('cat > /dev/null; echo "Hello."');

    const sent = await agent({ message: "x", deliver: true, channel: "log", to: "me" });
    const delivered = await eventually(async () => {
      const [one] = (await read(sent)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the delivery");
    const lost = await agent({ message: "x", deliver: true, channel: "telegram", to: "me" });
    const failed = await eventually(async () => {
      const [one] = (await read(lost)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the failed delivery");
    const unmoved = await app.stores.sessions.replyTarget();
    await app.stores.sessions.setReplyTarget({ channel: "log", to: "the operator" });
    const last = await agent({ message: "x", deliver: true });
    const toLast = await eventually(async () => {
      const [one] = (await read(last)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the delivery to the last recipient");

    expect(delivered).to.include({ channel: "log", to: "me", state: "sent" });
    expect(failed).to.include({ channel: "telegram", state: "failed" });
    expect(failed.reason).to.equal("The channel telegram is not configured: add channels.telegram.");
    expect((await read(lost)).status).to.equal("completed");
    expect(unmoved).to.equal(null);
    expect(toLast).to.include({ channel: "log", to: "the operator", state: "sent" });
  });

  it("wakes the main session with its summary, and the turn removes the events", async () => {
    await start('cat > "heartbeat.$$"; echo "HEARTBEAT_OK"');

    await app.call("POST", "/hooks/wake", { text: "Disk is full" }, bearer);
    await eventually(async () => (await app.stores.events.countWaiting()) === 0, "the turn to receive the event");

    const { body } = await app.call("GET", "/api/sessions/main/messages");
    expect(body.messages[0].content).to.include("Disk is full");
    expect(body.messages[1].content).to.equal("HEARTBEAT_OK");
    expect(await app.stores.deliveries.collection.countDocuments()).to.equal(0);
  });

  it("leaves events waiting when the main session's turn fails", async () => {
    await start("cat > /dev/null; echo x >> turns; exit 1");

    await app.call("POST", "/hooks/wake", { text: "Disk is full" }, bearer);
    await eventually(
      () => worker.log.some(({ msg, queue }) => msg === "the queue job failed" && queue === "heartbeat"),
      "the turn to fail",
    );

    expect(await app.stores.events.countWaiting()).to.equal(1);
  });

  it("is a tracked job too with trackAsJob, and its agent can report further steps", async () => {
    const report = `curl -s -X PUT -H 'Content-Type: application/json' -H "Authorization: Bearer $SIGNALBOX_TOKEN" -d '{"stepName":"Own step"}'`;
    await start(
      `cat > /dev/null; ${report} "$SIGNALBOX_URL/api/jobs/$SIGNALBOX_JOB_ID/steps/own" > /dev/null; [ -e fail ] && exit 1; echo Done.`,
      {
        more: "trackAsJob: true",
        url: true,
      },
    );

    const good = await agent({ message: "x", name: "Tracked" });
    await ended(good);
    writeFileSync(join(dir, "fail"), "");
    const bad = await agent({ message: "x" });
    await ended(bad);
    const jobOf = (runId: string, status: string) =>
      eventually(async () => {
        const { body } = await app.call("GET", `/api/jobs/${runId}?include=steps`);
        return body.status === status && body;
      }, `the job to be ${status}`);

    const job = await jobOf(good, "completed");
    expect(job).to.deep.include({ name: "Tracked", progress: 100, output: { reply: "Done." } });
    expect(
      job.steps.map(({ stepKey, status }: { stepKey: string; status: string }) => [stepKey, status]),
    ).to.deep.equal([
      ["agent", "completed"],
      ["own", "running"],
    ]);
    expect((await jobOf(bad, "failed")).message).to.match(/exit code 1/);

    rmSync(join(dir, "fail"));
    await eventually(async () => (await app.call("POST", `/api/runs/${bad}/retry`)).status === 202, "it to be settled");
    expect((await jobOf(bad, "completed")).output).to.deep.equal({ reply: "Done." });
  });

  it("runs once, however many queue entries name it", async () => {
    await start("read -r line; cat > /dev/null; echo x >> begun; echo ok", { more: "heartbeat: { every: '1d' }" });
    await worker.close();
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await agent({ message: `m${i}`, sessionKey: `s${i % 2}` }));
    for (const runId of ids) {
      for (const again of ["x", "y"]) await app.queues.add(agentHook, { runId }, { jobId: `${runId}-${again}` });
    }

    worker = await startWorker(app);
    const runs = await Promise.all(ids.map(ended));

    expect(runs.map(({ status, attempts }) => `${status} ${attempts}`)).to.deep.equal(ids.map(() => "completed 1"));
    expect(readFileSync(join(dir, "begun"), "utf8")).to.equal("x\n".repeat(6));
  });

  it("runs once when it waits in a queue of the previous version", async () => {
    await start("read -r line; cat > /dev/null; echo x >> begun; echo ok", { more: "heartbeat: { every: '1d' }" });
    await worker.close();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => agent({ message: `m${i}` })));
    for (const queue of app.queues.all) await queue.drain();
    const connection = new Redis(app.redisUrl);
    const former = new Queue("accepted-runs", { connection, prefix: queuePrefix(app.prefix, "accepted-runs") });
    await former.add("accepted-runs", { queue: "agent-hook", runIds: ids });

    worker = await startWorker(app);
    const runs = await Promise.all(ids.map(ended));
    await former.close();
    connection.disconnect();

    expect(runs.map(({ status, attempts }) => `${status} ${attempts}`)).to.deep.equal(ids.map(() => "completed 1"));
    expect(readFileSync(join(dir, "begun"), "utf8")).to.equal("x\n".repeat(20));
  });

  it("fails when its worker died in the third attempt, and the summary counts three attempts", async () => {
    await start("cat > /dev/null; echo ok");
    await worker.close();
    const runId = await agent({ message: "x", name: "Doomed" });
    const dead = { token: "t", until: new Date(0) };
    const error = { code: "agent_unavailable" as const, message: "The model server answered 503." };
    await app.stores.runs.collection.updateOne(
      { _id: runId },
      { $set: { status: "running", attempts: 3, claim: dead, error } },
    );

    worker = await startWorker(app);
    const run = await ended(runId);

    expect(run).to.include({ status: "failed", attempts: 3 });
    const summary = await eventually(() => app.stores.events.collection.findOne({ source: `run ${runId}` }), "it");
    expect(summary.text).to.equal(
      "Doomed: failed after 3 tries (agent_failed): The worker process ended during the last of 3 attempts.",
    );
  });

  it("does not block other runs while its end cannot be stored", async () => {
    await start("cat > /dev/null; echo ok");
    await worker.close();
    const broken = await agent({ message: "unwritable", sessionKey: "a" });
    const other = await agent({ message: "x", sessionKey: "b" });
    const end = { status: "completed" as const, open: false, settled: false, reply: "r", endedAt: new Date(0) };
    await app.stores.runs.collection.updateMany({ _id: { $in: [broken, other] } }, { $set: end });
    const add = app.stores.messages.addTurn.bind(app.stores.messages);
    app.stores.messages.addTurn = (id, turn) =>
      turn.prompt === "unwritable" ? Promise.reject(new Error("broken")) : add(id, turn);

    worker = await startWorker(app);
    await eventually(async () => (await app.stores.runs.find(other)).settled, "the other run to be finalized");

    await eventually(() => worker.log.some(({ level, run }) => level === 50 && run === broken), "the sweep to say so");
    expect((await app.stores.runs.find(broken)).settled).to.equal(false);
  });

  it("is retried when the outcome of its turn cannot be stored, and the log contains the error", async () => {
    await start("cat > /dev/null; echo ok");
    const { runs } = app.stores;
    const end = runs.end.bind(runs);
    runs.end = () => {
      runs.end = end;
      return Promise.reject(new Error("broken"));
    };

    const runId = await agent({ message: "x" });
    await eventually(() => worker.log.some(({ level, job }) => level === 50 && job === runId), "the worker to say so");
    await runs.collection.updateOne({ _id: runId }, { $set: { "claim.until": new Date(0) } });
    const { collection: sessions } = app.stores.sessions;
    await sessions.updateOne({ "active.holder": `${runId}-0` }, { $set: { "active.until": new Date(0) } });
    const run = await ended(runId);

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
      ({ events }: TestApp["stores"], hold: () => Promise<void>) => {
        const add = events.add.bind(events);
        events.add = (...args) => hold().then(() => add(...args));
      },
    ],
  ] as const) {
    it(`is finished by a worker that stops while ${what} is stored`, async () => {
      await start("cat > /dev/null; echo ok");
      const { promise: mayBeWritten, resolve: write } = Promise.withResolvers<void>();
      let writing = 0;
      delay(app.stores, () => {
        writing++;
        return mayBeWritten;
      });

      const runs = [await agent({ message: "x" }), await agent({ message: "y" })];
      await eventually(() => writing === 2, "both to be written");
      const before = await Promise.all(runs.map((id) => app.stores.runs.find(id)));
      const closed = worker.close();
      write();
      await closed;

      const after = await Promise.all(runs.map((id) => app.stores.runs.find(id)));
      expect(before.map(({ settled }) => settled === true)).to.deep.equal([false, false]);
      expect(after.map(({ status, settled }) => [status, settled])).to.deep.equal(Array(2).fill(["completed", true]));
    });
  }

  it("writes no prompt, reply or token to the log", async () => {
    await start('cat > /dev/null; echo "secret reply"');

    await ended(await agent({ message: "secret message", name: "n" }));
    await worker.close();

    expect(JSON.stringify([worker.log, app.log])).to.not.include("secret");
  });
});
