import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { HookBed } from "../../support/hooks/hookBed.ts";
import type { Service } from "../../support/process.ts";
import { startMongod, startRedis, type TestServer } from "../../support/servers/servers.ts";

const WEB = "test/support/processes/web.ts";
const WORKER = "test/support/processes/worker.ts";

/** A worker with the service's own time constants is killed in the middle of a run, and another one started. */
async function killInTheMiddle(bed: HookBed): Promise<string[]> {
  bed.hold();
  const first = await bed.startProcess("src/workers/main.ts");
  const ids = [await bed.post({ message: "a", sessionKey: "s" }), await bed.post({ message: "b", sessionKey: "s" })];
  await eventually(() => bed.count("begun") === 1, "the run to begin");
  await first.stop("SIGKILL");
  bed.letGo();
  await bed.startProcess("src/workers/main.ts");
  return ids;
}

/** Each ends with every accepted run completed once, and with one summary of each. */
describe("accepted hooks survive", function () {
  this.timeout(120_000);
  let redis: TestServer;
  let mongod: TestServer;
  let bed: HookBed;
  /** Of the test that waits for a real lease: the others run meanwhile. */
  let slowBed: HookBed;
  let taken: Promise<string[]>;
  /** Serves several tests, with leases that none of them outlasts. */
  let worker: Service | undefined;
  before(async () => {
    [redis, mongod] = await Promise.all([startRedis(), startMongod()]);
    slowBed = await HookBed.start(`slow-${randomUUID().slice(0, 8)}`);
    taken = killInTheMiddle(slowBed);
    taken.catch(() => {}); // seen by its test
    bed = await HookBed.start("faults", { mongo: `${mongod.url}/x`, redis: redis.url });
  });
  afterEach(async function () {
    if (this.currentTest?.isFailed()) await stopWorker();
    await bed.reset();
  });
  after(async () => {
    await taken?.catch(() => {});
    await Promise.all([bed, slowBed].map((one) => one?.close()));
    await Promise.all([redis, mongod].map((server) => server?.remove()));
  });

  async function aWorkerRuns(): Promise<Service> {
    worker ??= await bed.startProcess(WORKER, "long-leases");
    return worker;
  }
  async function stopWorker(): Promise<void> {
    worker = undefined;
    await bed.stopProcesses();
  }

  it("a web process that is killed right after its answer", async () => {
    await stopWorker();
    const web = await bed.startProcess(WEB);

    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => bed.post({ message: `m${i}` }, web.url)));
    await web.stop("SIGKILL");
    await bed.startWorkerBeside();

    await bed.allCompletedOnce(ids);
  });

  it("a Redis that is killed with 50 runs waiting, and empty when it is back", async () => {
    await stopWorker();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) => bed.post({ message: `m${i}`, ...(i % 2 && { sessionKey: `s${i % 5}` }) })),
    );

    await redis.stop("SIGKILL");
    await redis.start();
    await aWorkerRuns();

    await bed.allCompletedOnce(ids);
  });

  it("a Redis that is away while they are accepted", async () => {
    await aWorkerRuns();
    await redis.stop("SIGKILL");
    const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => bed.post({ message: `m${i}` })));

    await redis.start();

    await bed.allCompletedOnce(ids);
  });

  it("a MongoDB that is away from the middle of a run to after its end: the reply is kept, the agent is asked once", async () => {
    bed.hold();
    await aWorkerRuns();
    const id = await bed.post({ message: "a" });
    await eventually(() => bed.count("begun") === 1, "the run to begin");

    await mongod.stop("SIGKILL");
    bed.letGo();
    await eventually(() => bed.count("ended") === 1, "the agent to answer");
    await mongod.start();

    const [run] = await bed.allCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
    expect(bed.count("begun")).to.equal(1);
  });

  it("a worker that is told to stop: it hands back what it cannot finish", async () => {
    bed.hold();
    const first = await aWorkerRuns();
    const id = await bed.post({ message: "a" });
    await eventually(() => bed.count("begun") === 1, "the run to begin");

    const code = await first.stop();
    await stopWorker();
    const handedBack = await bed.app.stores.runs.find(id);
    bed.letGo();
    await bed.startWorkerBeside();

    expect(code).to.equal(0);
    expect(handedBack).to.include({ status: "queued", attempts: 0 });
    const [run] = await bed.allCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
  });

  it("a worker that is killed in the middle of the main session's turn: the events are there for the next one", async () => {
    await stopWorker();
    bed.hold();
    const first = await bed.startProcess(WORKER);
    await bed.wake("up");
    await eventually(() => bed.count("begun") === 1, "the turn to begin");

    await first.stop("SIGKILL");
    bed.letGo();
    await bed.startWorkerBeside();

    await eventually(async () => (await bed.app.stores.events.countWaiting()) === 0, "the event's turn", 60_000);
    expect(bed.count("begun")).to.equal(2);
  });

  it("a worker that is killed in the middle of a run: another takes it over after the 15 s of a real lease", async () => {
    const ids = await taken;

    const ended = await slowBed.allCompletedOnce(ids);
    expect(ended.find(({ _id }) => _id === ids[0])?.attempts).to.equal(2);
    expect(slowBed.count("begun")).to.equal(3);
  });
});
