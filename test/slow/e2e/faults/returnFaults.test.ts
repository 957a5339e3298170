import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { RunDoc } from "../../../../src/models/runs/run.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { acceptRun, createJob, report, whole } from "../../../support/factories.ts";
import { type Service, startProcess } from "../../../support/process.ts";

const SESSION = "the-session";
const JOBS = 5;
const completed = { status: "completed", output: { ok: true }, ...whole(100) };

/** The moments at which both workers are killed, by what of the returns of a round can be seen then. */
const MOMENTS: Readonly<Record<string, (runs: readonly RunDoc[], isNoted: boolean) => boolean>> = {
  "between the ends of jobs and their run": (_runs, isNoted) => isNoted,
  "as the record of the run is stored": (runs) => runs.length > 0,
  "while the run waits in its queue": (runs) => runs.some(({ returnOf = [] }) => returnOf.length === JOBS),
  "while the turn runs": (runs) => runs.some(({ status }) => status !== "queued"),
};

describe("returns of jobs survive two workers that are killed", () => {
  let app: TestApp;
  let room: string;
  let workers: Service[] = [];
  before(async () => {
    room = mkdtempSync(join(tmpdir(), "signalbox-returns-"));
    app = await startApp({ prefix: `returns-${process.pid}` });
    writeFileSync(
      join(room, "signalbox.json5"),
      `{ redis: { prefix: ${JSON.stringify(app.prefix)} }, agents: { returns: { gather: "1s" } } }`,
    );
    await acceptRun(app, SESSION);
  });
  after(async () => {
    await Promise.all(workers.map((worker) => worker.stop("SIGKILL")));
    await app.close();
    rmSync(room, { recursive: true });
  });

  async function startWorkers(): Promise<void> {
    const config = { SIGNALBOX_CONFIG: join(room, "signalbox.json5"), LOG_LEVEL: "warn" };
    const env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, ...config };
    workers = [1, 2].map(() => startProcess("test/support/processes/worker.ts", env));
    await Promise.all(workers.map(({ ready }) => ready));
  }
  const killWorkers = () => Promise.all(workers.map((worker) => worker.stop("SIGKILL")));
  /** Reads the return runs about jobs. */
  const runsOf = (jobIds: readonly string[]): Promise<RunDoc[]> =>
    app.database.collections.runs.find({ kind: "return", "returnOf.jobId": { $in: jobIds } }).toArray();

  for (const [moment, isNow] of Object.entries(MOMENTS)) {
    it(moment, async () => {
      const jobs = await Promise.all(Array.from({ length: JOBS }, () => createJob(app, { returnTo: SESSION })));
      const ids = jobs.map(({ jobId }) => jobId);
      await startWorkers();
      await Promise.all(jobs.map(({ path }) => report(app, path, "a", completed)));
      await eventually(async () => isNow(await runsOf(ids), true), moment, 60_000, 1);
      await killWorkers();
      await startWorkers();

      const runs = await eventually(async () => {
        const all = await runsOf(ids);
        const isWhole = all.flatMap(({ returnOf = [] }) => returnOf).length >= JOBS;
        return isWhole && all.every(({ finalized }) => finalized) && all;
      }, "the turns of the returns");
      const shown = await eventually(async () => {
        const all = await Promise.all(jobs.map(async ({ path }) => (await app.call("GET", path)).body.returns));
        return all.every((returns) => returns.length > 0) && all;
      }, "the jobs to name their runs");
      await killWorkers();

      const returned = runs.flatMap(({ returnOf = [] }) => returnOf.map(({ jobId }) => jobId));
      expect(returned.toSorted()).to.deep.equal(ids.toSorted());
      for (const [i, returns] of shown.entries()) {
        const run = runs.find(({ returnOf = [] }) => returnOf.some(({ jobId }) => jobId === ids[i]));
        expect(returns).to.have.length(1);
        expect(returns[0]).to.include({ event: "completed", runId: run?._id });
      }
      const { body } = await app.call("GET", `/api/sessions/${SESSION}/messages?limit=100`);
      for (const { _id, status } of runs) {
        expect(status).to.equal("completed");
        const turns = body.messages.filter((one: { role: string; runId: string }) => one.runId === _id);
        expect(turns.map((one: { role: string }) => one.role)).to.deep.equal(["return", "assistant"]);
      }
    });
  }
});
