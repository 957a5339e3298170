import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type Behaviour, type ModelServer, saysPlain, startModelServer } from "../../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const MALLORY = { Authorization: "Bearer a-hook-token-of-length" };
const ALICE = { Authorization: "Bearer the-token-of-alice-alone" };

describe("the agent turns of a worker", () => {
  let app: TestApp;
  let workers: TestWorker[];
  let model: ModelServer;
  /** Lets the slow turns end. */
  let go: () => void;

  /** Workers whose model answers a prompt that contains "slow" only after `go`. */
  async function start(concurrency: number, count = 1): Promise<void> {
    const { promise: mayEnd, resolve } = Promise.withResolvers<void>();
    go = resolve;
    const answer: Behaviour = async (response, request) => {
      if (request.text.includes("slow")) await mayEnd;
      saysPlain("ok")(response, request);
    };
    model = await startModelServer();
    model.script(...Array<Behaviour>(100).fill(answer));
    app = await startApp({
      config: `{
        hooks: {
          enabled: true, token: "a-hook-token-of-length",
          mappings: [{
            match: { path: "alice" }, messageTemplate: "{{text}}", deliver: false, wakeMode: "next-heartbeat",
            auth: { type: "token", token: "the-token-of-alice-alone" },
          }],
        },
        agents: {
          defaults: { runner: "openai", model: "small" },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        channels: { log: {} },
        worker: { concurrency: ${concurrency} },
      }`,
    });
    workers = await Promise.all(Array.from({ length: count }, () => startWorker(app)));
  }
  afterEach(async () => {
    go();
    await Promise.all(workers.map((worker) => worker.close()));
    await app.close();
    await model.close();
  });

  const send = async (name: string, who: Record<string, string>, body: object): Promise<string> => {
    const { body: answer } = await app.call("POST", `/hooks/${name}`, body, who);
    return answer.runId;
  };
  const mallory = (message: string) =>
    send("agent", MALLORY, { message, deliver: false, wakeMode: "next-heartbeat", timeoutSeconds: 3_600 });
  const alice = (text: string) => send("alice", ALICE, { text });
  const find = (id: string) => app.stores.runs.find(id);
  const count = (status: "running" | "completed") =>
    app.stores.runs.collection.native.countDocuments({ status, mapped: null });
  const ended = (id: string) => eventually(async () => (await find(id)).status === "completed", "the run's end");

  for (const concurrency of [2, 10]) {
    it(`leave one of ${concurrency} to another sender, however many slow turns the first has requested`, async () => {
      await start(concurrency);
      await Promise.all(Array.from({ length: 40 }, () => mallory("slow")));
      await eventually(async () => (await count("running")) > 0, "the slow turns");

      await ended(await alice("quick"));
      await ended(await alice("quick"));
      const [running, over] = [await count("running"), await count("completed")];

      expect(over).to.equal(0);
      expect(running).to.be.within(1, concurrency - 1);
    });
  }

  it("alternate between senders when only one runs at a time", async () => {
    await start(1);
    await mallory("slow");
    await eventually(async () => (await count("running")) === 1, "the slow turn");
    const ids = await Promise.all(Array.from({ length: 29 }, () => mallory("quick")));
    const id = await alice("quick");
    const queue = app.queues.all.find(({ name }) => name === "agent-hook");
    await eventually(async () => (await queue?.getWaitingCount()) === 0, "every run to be looked at");

    go();
    await ended(id);
    const runs = await Promise.all(ids.map(find));

    expect(runs.filter(({ status }) => status === "completed").length).to.be.below(15);
  });

  it("are all used by one sender with two workers, and every run gets one", async () => {
    await start(2, 2);
    const ids = await Promise.all(Array.from({ length: 20 }, () => mallory("quick")));

    await Promise.all(ids.map(ended));

    expect((await Promise.all(ids.map(find))).every(({ attempts }) => attempts === 1)).to.equal(true);
  });
});
