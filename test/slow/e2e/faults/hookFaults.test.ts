import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { HookFixture } from "../../../support/hooks/hookFixture.ts";
import type { Service } from "../../../support/process.ts";
import { startMongod, startRedis, type TestServer } from "../../../support/servers/servers.ts";

const WEB = "test/support/processes/web.ts";
const WORKER = "test/support/processes/worker.ts";

/** Kills a worker with the production time constants in the middle of a run, and starts another one. */
async function killInTheMiddle(fixture: HookFixture): Promise<string[]> {
  fixture.blockAgent();
  const first = await fixture.startProcess("src/workers/main.ts");
  const ids = [
    await fixture.post({ message: "a", sessionKey: "s" }),
    await fixture.post({ message: "b", sessionKey: "s" }),
  ];
  await eventually(() => fixture.count("begun") === 1, "the run to begin");
  await first.stop("SIGKILL");
  fixture.unblockAgent();
  await fixture.startProcess("src/workers/main.ts");
  return ids;
}

/** After each fault every accepted run completes once, with one summary. */
describe("accepted hooks survive", () => {
  let redis: TestServer;
  let mongod: TestServer;
  let fixture: HookFixture;
  /** The fixture of the test that waits for a real lease, while the other tests run. */
  let slowFixture: HookFixture;
  let takenOver: Promise<string[]>;
  /** A worker of several tests, with leases that are longer than each of them. */
  let worker: Service | undefined;
  before(async () => {
    [redis, mongod] = await Promise.all([startRedis(), startMongod()]);
    slowFixture = await HookFixture.start(`slow-${randomUUID().slice(0, 8)}`);
    takenOver = killInTheMiddle(slowFixture);
    takenOver.catch(() => {}); // Its test awaits it.
    fixture = await HookFixture.start("faults", { mongo: `${mongod.url}/x`, redis: redis.url });
  });
  afterEach(async function () {
    if (this.currentTest?.isFailed()) await stopWorker();
    await fixture.reset();
  });
  after(async () => {
    await takenOver?.catch(() => {});
    await Promise.all([fixture, slowFixture].map((one) => one?.close()));
    await Promise.all([redis, mongod].map((server) => server?.remove()));
  });

  async function startSharedWorker(): Promise<Service> {
    worker ??= await fixture.startProcess(WORKER, "long-leases");
    return worker;
  }
  async function stopWorker(): Promise<void> {
    worker = undefined;
    await fixture.stopProcesses();
  }

  it("a web process that is killed right after its response", async () => {
    await stopWorker();
    const web = await fixture.startProcess(WEB);

    const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => fixture.post({ message: `m${i}` }, web.url)));
    await web.stop("SIGKILL");
    await fixture.startLocalWorker();

    await fixture.expectCompletedOnce(ids);
  });

  it("a Redis that is killed with 50 runs waiting, and is empty after its restart", async () => {
    await stopWorker();
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        fixture.post({ message: `m${i}`, ...(i % 2 && { sessionKey: `s${i % 5}` }) }),
      ),
    );

    await redis.stop("SIGKILL");
    await redis.start();
    await startSharedWorker();

    await fixture.expectCompletedOnce(ids);
  });

  it("a Redis that is down while they are accepted", async () => {
    await startSharedWorker();
    await redis.stop("SIGKILL");
    const ids = await Promise.all(Array.from({ length: 5 }, (_, i) => fixture.post({ message: `m${i}` })));

    await redis.start();

    await fixture.expectCompletedOnce(ids);
  });

  it("a MongoDB that is down from the middle of a run until after its end, with one turn of the agent", async () => {
    fixture.blockAgent();
    await startSharedWorker();
    const id = await fixture.post({ message: "a" });
    await eventually(() => fixture.count("begun") === 1, "the run to begin");

    await mongod.stop("SIGKILL");
    fixture.unblockAgent();
    await eventually(() => fixture.count("ended") === 1, "the agent to answer");
    await mongod.start();

    const [run] = await fixture.expectCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
    expect(fixture.count("begun")).to.equal(1);
  });

  it("a worker that receives SIGTERM and releases the runs that it cannot finish", async () => {
    fixture.blockAgent();
    const first = await startSharedWorker();
    const id = await fixture.post({ message: "a" });
    await eventually(() => fixture.count("begun") === 1, "the run to begin");

    const code = await first.stop();
    await stopWorker();
    const handedBack = await fixture.app.stores.runs.find(id);
    fixture.unblockAgent();
    await fixture.startLocalWorker();

    expect(code).to.equal(0);
    expect(handedBack).to.include({ status: "queued", attempts: 0 });
    const [run] = await fixture.expectCompletedOnce([id]);
    expect(run?.attempts).to.equal(1);
  });

  it("a worker that is killed in the middle of the main session's turn, whose events the next turn receives", async () => {
    await stopWorker();
    fixture.blockAgent();
    const first = await fixture.startProcess(WORKER);
    await fixture.wake("up");
    await eventually(() => fixture.count("begun") === 1, "the turn to begin");

    await first.stop("SIGKILL");
    fixture.unblockAgent();
    await fixture.startLocalWorker();

    await eventually(
      async () => (await fixture.app.stores.mainEvents.countWaiting()) === 0,
      "the event's turn",
      60_000,
    );
    expect(fixture.count("begun")).to.equal(2);
  });

  it("a worker that is killed in the middle of a run, which another worker takes over after the real lease of 15 s", async () => {
    const ids = await takenOver;

    const ended = await slowFixture.expectCompletedOnce(ids);
    expect(ended.find(({ _id }) => _id === ids[0])?.attempts).to.equal(2);
    expect(slowFixture.count("begun")).to.equal(3);
  });
});
