import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { answers, type Behaviour, type ChannelServer, hangs, startChannelServer } from "../support/channelServer.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { mongoUri, redisUrl } from "../support/servers.ts";

/** A channel's id as Mattermost makes them. */
const idOf = (name: string) => name.padEnd(26, "0");

/** Real worker processes, and services that behave as Mattermost and Telegram. */
describe("deliveries", () => {
  let dir: string;
  let mattermost: ChannelServer;
  let telegram: ChannelServer;
  let app: TestApp;
  let env: Record<string, string>;
  /** What people have seen in Mattermost: a post whose key it knows is not there twice. */
  let posts: Map<string, { channel: string; message: string }>;
  const running: Service[] = [];

  const keeps: Behaviour = (response, request) => {
    const { pending_post_id: key, channel_id: channel, message } = request.body;
    posts.set(key, posts.get(key) ?? { channel, message });
    return answers(201, { id: idOf("post"), channel_id: channel, message, pending_post_id: key })(response, request);
  };

  beforeEach(async () => {
    posts = new Map();
    dir = mkdtempSync(join(tmpdir(), "signalbox-deliveries-"));
    mattermost = await startChannelServer(keeps);
    telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 1 } } }));
    const prefix = `deliveries-${randomUUID().slice(0, 8)}`;
    const config = `{
      redis: { prefix: "${prefix}" },
      channels: {
        mattermost: { apiUrl: "${mattermost.url}", botToken: "t", maxPostLength: 100 },
        telegram: { apiUrl: "${telegram.url}", botToken: "1:t" },
      },
    }`;
    writeFileSync(join(dir, "signalbox.json5"), config);
    const mongo = await mongoUri(`test-${randomUUID()}`);
    app = await startApp({ mongo, config, prefix });
    env = { MONGODB_URI: mongo, REDIS_URL: await redisUrl(), SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.stop("SIGKILL");
    await app.close();
    await mattermost.close();
    await telegram.close();
    rmSync(dir, { recursive: true });
  });
  const startWorker = async () => {
    const service = startProcess("src/workers/main.ts", env);
    running.push(service);
    await service.ready;
    return service;
  };
  async function deliver(channel: string, to: string, text: string): Promise<string> {
    const _id = randomUUID();
    await app.stores.deliveries.add({ _id, runId: null, channel, to, text, fault: null });
    await app.queues.deliver({ deliveryId: _id, channel });
    return _id;
  }
  const allSent = (ids: readonly string[], withinMs: number) =>
    eventually(
      async () => {
        const sent = { _id: { $in: [...ids] }, state: "sent" as const };
        return (await app.stores.deliveries.collection.countDocuments(sent)) === ids.length;
      },
      "all of them to be sent",
      withinMs,
    );

  it("go on where they were when the worker is killed between part 2 and 3 of 5; none is seen twice", async function () {
    this.timeout(90_000);
    const parts = [1, 2, 3, 4, 5].map((n) => `${n}: ${"words ".repeat(14).trim()}.`);
    mattermost.script(keeps, keeps, hangs);
    const worker = await startWorker();

    const id = await deliver("mattermost", idOf("town"), parts.join("\n\n"));
    await eventually(() => mattermost.requests.length === 3, "the third part to be handed over");
    await worker.stop("SIGKILL");
    await startWorker();
    await allSent([id], 60_000);

    expect([...posts.values()].map(({ message }) => message.trim())).to.deep.equal(parts);
    const keys = mattermost.requests.map(({ body }) => body.pending_post_id);
    expect(keys).to.have.length(6);
    expect(keys[2]).to.equal(keys[3]);
    expect((await app.stores.deliveries.find(id)).maybeTwice).to.equal(false);
  });

  it("keep the pace that a service allows, a thousand of them, in order for each recipient, and slow no other channel down", async function () {
    this.timeout(240_000);
    const limited = paced(keeps, 30);
    mattermost.script(...Array<Behaviour>(10_000).fill(limited));
    await startWorker();
    await startWorker();

    const ids: string[] = [];
    for (let i = 0; i < 1_000; i++)
      ids.push(await deliver("mattermost", idOf(`c${String.fromCharCode(97 + (i % 15))}`), `message ${i}`));
    const other = await deliver("telegram", "5", "Hello.");
    await allSent([other], 10_000);
    const left = await app.stores.deliveries.collection.countDocuments({ channel: "mattermost", state: "pending" });
    await allSent(ids, 150_000);

    expect(left).to.be.greaterThan(0);
    const refused = mattermost.requests.length - ids.length;
    expect(refused, "requests beyond the pace").to.be.within(1, ids.length / 2);
    const seen = Map.groupBy(posts.values(), ({ channel }) => channel);
    expect(seen.size).to.equal(15);
    for (const messages of seen.values()) {
      const numbers = messages.map(({ message }) => Number(message.split(" ")[1]));
      expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
      expect(numbers.length).to.be.within(66, 67);
    }
  });
});

/** A service that takes so many requests in each second of its clock, refuses those beyond, and says when to come again. */
function paced(usual: Behaviour, perSecond: number): Behaviour {
  const taken = new Map<number, number>();
  return (response, request) => {
    const second = Math.floor(Date.now() / 1_000);
    const count = taken.get(second) ?? 0;
    if (count >= perSecond) return answers(429, "limit exceeded", { "Retry-After": "1" })(response, request);
    taken.set(second, count + 1);
    return usual(response, request);
  };
}
