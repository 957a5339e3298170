import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { type Behaviour, type ModelServer, saysPlain, startModelServer } from "../../../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../../../support/worker.ts";

const MALLORY = { Authorization: "Bearer a-hook-token-of-length" };
const ALICE = { Authorization: "Bearer the-token-of-alice-alone" };

describe("the agent turns of a worker", () => {
  let app: TestApp;
  let worker: TestWorker;
  let model: ModelServer;
  /** Lets the slow turns end. */
  let go: () => void;

  /** A worker whose model answers a prompt that contains "slow" only after `go`. */
  async function start(concurrency: number): Promise<void> {
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
          }, {
            match: { path: "each" }, forEach: "items", messageTemplate: "{{item}}", deliver: false, wakeMode: "next-heartbeat",
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
    worker = await startWorker(app);
  }
  afterEach(async () => {
    go();
    await worker.close();
    await app.close();
    await model.close();
  });

  const send = async (name: string, who: Record<string, string>, body: object): Promise<string> => {
    const { body: answer } = await app.call("POST", `/hooks/${name}`, body, who);
    return answer.runId;
  };
  const alice = (text: string) => send("alice", ALICE, { text });
  const find = (id: string) => app.stores.runs.find(id);
  const ended = (id: string) => eventually(async () => (await find(id)).status === "completed", "the run's end");

  it("start soon for a sender whose mapped run was accepted after thousands of another sender's", async () => {
    await start(3);
    const items = Array<string>(1_000).fill("slow");
    for (let i = 0; i < 3; i++) await send("each", MALLORY, { items });

    const id = await alice("quick");
    await ended(id);

    const unmapped = await app.stores.runs.collection.native.countDocuments({ stage: "mapping" });
    expect(unmapped).to.be.above(1_000);
  });
});
