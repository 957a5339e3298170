import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type Behaviour, type ModelServer, says, startModelServer } from "../../support/servers/modelServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
export const bearer = { Authorization: `Bearer ${TOKEN}` };
export const ACK = "HEARTBEAT_OK";
/** Content between two markers of one id. */
export const FENCED =
  /<<<BEGIN_UNTRUSTED_CONTENT id="([0-9a-f]{32})">>>\n([\s\S]*?)\n<<<END_UNTRUSTED_CONTENT id="\1">>>/g;

/** A turn that the model server received. */
interface Turn {
  readonly prompt: string;
  /** The texts between markers, in order. */
  readonly events: string[];
}

/** An app and a worker with a main session, whose model server acknowledges 50 turns. The hooks of the suite close them after each test. */
export class MainSessionFixture {
  model!: ModelServer;
  app!: TestApp;
  worker!: TestWorker;

  /** Declares the hooks of the current suite. A test calls `start`. */
  static use(): MainSessionFixture {
    const fixture = new MainSessionFixture();
    beforeEach(async () => {
      fixture.model = await startModelServer();
      fixture.model.script(...Array<Behaviour>(50).fill(says(ACK)));
    });
    afterEach(async () => {
      await fixture.worker.close();
      await fixture.app.close();
      await fixture.model.close();
    });
    return fixture;
  }

  /** @param retryMs how long the events of a failed turn wait for another event */
  async start({
    every = "1d",
    session = "",
    settings = "",
    prompt = 'prompt: "See to it."',
    retryMs = FAST_TIMINGS.retry.heartbeatMs,
  } = {}): Promise<void> {
    this.app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "${every}", ${prompt} } },
          runners: { openai: { baseUrl: "${this.model.url}" } },
        },
        session: { main: { channel: "log", to: "me" }, ${session} },
        channels: { log: {} }, ${settings}
      }`,
    });
    const retry = { ...FAST_TIMINGS.retry, heartbeatMs: retryMs };
    this.worker = await startWorker(this.app, {}, { ...FAST_TIMINGS, retry });
  }

  async wake(text: string, mode = "now"): Promise<void> {
    const { status } = await this.app.call("POST", "/hooks/wake", { text, mode }, bearer);
    expect(status).to.equal(200);
  }

  /** Triggers a turn as the schedule does. */
  async schedule(): Promise<void> {
    await this.app.queues.all.find(({ name }) => name === "heartbeat")?.add("heartbeat", { scheduled: true });
  }

  turns(): Turn[] {
    return this.model.requests.map(({ body }) => {
      const prompt: string = body.messages.at(-1).content;
      return { prompt, events: [...prompt.matchAll(FENCED)].map(([, , text = ""]) => text) };
    });
  }

  /** The events of each turn. */
  events(): string[][] {
    return this.turns().map((turn) => turn.events);
  }

  /** Waits until each event had its turn. */
  async allTaken(): Promise<void> {
    await eventually(async () => (await this.app.stores.mainEvents.countWaiting()) === 0, "every event's turn");
  }

  deliveries() {
    return this.app.stores.deliveries.collection.native.find({}).sort({ createdAt: 1 }).toArray();
  }
}
