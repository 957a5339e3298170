import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mongo } from "mongoose";
import { prepareDatabase } from "../../../../src/cli/commands/service/release.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Service, startProcess } from "../../../support/process.ts";
import { type ReplicaSet, redisUrl, startReplicaSet } from "../../../support/servers/servers.ts";

const TOKEN = "a-hook-token-of-length";

describe("a replica set of three whose primary is killed", function () {
  this.timeout(240_000);
  let service: Service;
  let mongod: ReplicaSet;
  let dir: string;
  let url: string;
  before(async () => {
    mongod = await startReplicaSet(3);
    dir = mkdtempSync(join(tmpdir(), "signalbox-set-"));
    const file = join(dir, "signalbox.json5");
    const prefix = `set-${randomUUID().slice(0, 8)}`;
    const config = {
      hooks: { enabled: true, token: TOKEN },
      agents: { defaults: { runner: "echo" } },
      redis: { prefix },
    };
    writeFileSync(file, JSON.stringify(config));
    const env = { MONGODB_URI: mongod.url, REDIS_URL: await redisUrl(), SIGNALBOX_CONFIG: file };
    await prepareDatabase(mongod.url);
    service = startProcess("test/support/processes/both.ts", env);
    ({ url } = await service.ready);
  });
  after(async () => {
    await service?.stop("SIGKILL");
    await mongod.remove();
    rmSync(dir, { recursive: true });
  });

  /** @returns the answer; null without one, or if it asks for a retry */
  const send = async (method: string, path: string, body?: object): Promise<Record<string, unknown> | null> => {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const answer = (await response.json()) as Record<string, unknown>;
    if (response.status === 503) return null;
    expect(response.ok, JSON.stringify(answer)).to.equal(true);
    return answer;
  };
  /** Retries a request until it is accepted. */
  const insist = (method: string, path: string, body: object) =>
    eventually(() => send(method, path, body), `${method} ${path} to be accepted`, 60_000);

  it("keeps every acknowledged write, never shows decreasing progress, and continues with another primary", async () => {
    const jobIds = Array.from({ length: 12 }, (_, i) => `job-${i}`);
    for (const jobId of jobIds) await insist("PUT", `/api/jobs/${jobId}`, {});
    const answered = new Map<string, number>();
    const hooks: { runs: string[]; events: string[] } = { runs: [], events: [] };
    let isOver = false;
    const reporter = async (jobId: string) => {
      for (let n = 0; n < 900 && !isOver; n++) {
        const report = {
          stepName: "S",
          progress: n / 10,
          jobProgressStart: 0,
          jobProgressEnd: 100,
          message: `at ${n}`,
        };
        await insist("PUT", `/api/jobs/${jobId}/steps/s`, report);
        answered.set(jobId, n);
      }
    };
    const reader = async (jobId: string) => {
      for (let seen = 0; !isOver; ) {
        const progress = ((await send("GET", `/api/jobs/${jobId}`))?.progress as number | undefined) ?? seen;
        expect(progress).to.be.at.least(seen);
        seen = progress;
      }
    };
    const sender = async () => {
      while (!isOver) {
        const run = await insist("POST", "/hooks/agent", {
          message: "Look.",
          deliver: false,
          wakeMode: "next-heartbeat",
        });
        hooks.runs.push(run.runId as string);
        const wake = await insist("POST", "/hooks/wake", { text: "It rang.", mode: "next-heartbeat" });
        hooks.events.push(wake.eventId as string);
      }
    };
    const reports = () => [...answered.values()].reduce((sum, n) => sum + n, 0);

    const working = Promise.all([...jobIds.map(reporter), reader("job-0"), reader("job-1"), sender()]);
    working.catch(() => {}); // It is awaited below.
    await eventually(() => reports() > 300 && hooks.events.length > 5, "work to be under way", 60_000);
    await mongod.killPrimary();
    const then = { reports: reports(), events: hooks.events.length };
    await eventually(() => reports() > then.reports + 300, "reports to go on", 60_000);
    await eventually(() => hooks.events.length > then.events + 3, "hooks to go on", 60_000);
    isOver = true;
    await working;

    for (const jobId of jobIds) {
      const job = await insist("GET", `/api/jobs/${jobId}`, undefined as never);
      expect(job.progress).to.equal(Math.round(((answered.get(jobId) ?? 0) / 10) * 1e9) / 1e9);
      expect(job.message).to.equal(`at ${answered.get(jobId)}`);
    }
    const client = await mongo.MongoClient.connect(mongod.url);
    const count = (name: string, ids: string[]) =>
      client
        .db()
        .collection<{ _id: string }>(name)
        .countDocuments({ _id: { $in: ids } });
    expect(await count("events", hooks.events)).to.equal(hooks.events.length);
    expect(await count("runs", hooks.runs)).to.equal(hooks.runs.length);
    const isDone = async () =>
      (await client
        .db()
        .collection("runs")
        .countDocuments({ finalized: { $ne: true } })) === 0;
    await eventually(isDone, "every run to end", 120_000);
    expect(
      await client
        .db()
        .collection("runs")
        .countDocuments({ status: { $ne: "completed" } }),
    ).to.equal(0);
    await client.close();
  });
});
