import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type Behaviour, type ModelServer, saysPlain, startModelServer } from "../../support/servers/modelServer.ts";
import { lateApp } from "../../support/useApp.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

export const MALLORY = { Authorization: "Bearer a-hook-token-of-length" };
const ALICE = { Authorization: "Bearer the-token-of-alice-alone" };

/** Starts workers with few turns, and sends them runs of two senders. Ends them after each test. */
export function useTurnShares() {
  const [app, set] = lateApp();
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
    const started = await startApp({
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
    set(started);
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
  const alice = (text: string) => send("alice", ALICE, { text });
  const find = (id: string) => app.stores.runs.find(id);
  const ended = (id: string) => eventually(async () => (await find(id)).status === "completed", "the run's end");
  return { app, start, go: () => go(), send, alice, find, ended };
}
