import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type Service, startProcess } from "../../support/process.ts";
import {
  answers,
  type Behaviour,
  type ChannelServer,
  hangs,
  startChannelServer,
} from "../../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const DELIVERIES = 240;
const RECIPIENTS = 15;

/** Returns a channel id in Mattermost's format. */
const idOf = (name: string) => name.padEnd(26, "0");

/** Real worker processes, and servers that behave like Mattermost and Telegram. */
describe("deliveries", () => {
  let dir: string;
  let mattermost: ChannelServer;
  let telegram: ChannelServer;
  let app: TestApp;
  let env: Record<string, string>;
  /** The posts in Mattermost, which deduplicates them by their keys. */
  let posts: Map<string, { channel: string; message: string }>;
  const running: Service[] = [];
  let localWorker: TestWorker | undefined;

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
    app = await startApp({ config, prefix });
    env = { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((service) => service.stop("SIGKILL")));
    await localWorker?.close();
    localWorker = undefined;
    await app.close();
    await mattermost.close();
    await telegram.close();
    rmSync(dir, { recursive: true });
  });
  const startWorkerProcess = async (...args: string[]) => {
    const service = startProcess("test/support/processes/worker.ts", env, args);
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
  const allSent = (ids: readonly string[]) =>
    eventually(async () => {
      const sent = { _id: { $in: [...ids] }, state: "sent" as const };
      return (await app.stores.deliveries.collection.native.countDocuments(sent)) === ids.length;
    }, "all of them to be sent");

  it("continue with part 3 of 5 after their worker was killed, and no part arrives twice", async () => {
    const parts = [1, 2, 3, 4, 5].map((n) => `${n}: ${"words ".repeat(14).trim()}.`);
    mattermost.script(keeps, keeps, hangs);
    const worker = await startWorkerProcess();

    const id = await deliver("mattermost", idOf("town"), parts.join("\n\n"));
    await eventually(() => mattermost.requests.length === 3, "the third part to be handed over");
    await worker.stop("SIGKILL");
    localWorker = await startWorker(app);
    await allSent([id]);

    expect([...posts.values()].map(({ message }) => message.trim())).to.deep.equal(parts);
    const keys = mattermost.requests.map(({ body }) => body.pending_post_id);
    expect(keys).to.have.length(6);
    expect(keys[2]).to.equal(keys[3]);
    expect((await app.stores.deliveries.find(id)).maybeTwice).to.equal(false);
  });

  it("obey the rate limit of a service with two workers, in order for each recipient, and do not delay other channels", async () => {
    const limited = paced(keeps, { count: 30, restMs: 200 });
    mattermost.script(...Array<Behaviour>(3_000).fill(limited));
    let left = 0;
    telegram.script((response, request) => {
      left = DELIVERIES - posts.size;
      return answers(200, { ok: true, result: { message_id: 1, chat: { id: 1 } } })(response, request);
    });
    const lanes = Array.from({ length: RECIPIENTS }, async (_, lane) => {
      const ids: string[] = [];
      for (let i = lane; i < DELIVERIES; i += RECIPIENTS) {
        ids.push(await deliver("mattermost", idOf(`c${String.fromCharCode(97 + lane)}`), `message ${i}`));
      }
      return ids;
    });
    const ids = (await Promise.all(lanes)).flat();
    const other = await deliver("telegram", "5", "Hello.");

    await startWorkerProcess("long-leases");
    localWorker = await startWorker(app);
    await allSent([other, ...ids]);

    expect(left).to.be.greaterThan(0);
    const refused = mattermost.requests.length - ids.length;
    expect(refused, "requests beyond the pace").to.be.within(1, ids.length / 2);
    const seen = Map.groupBy(posts.values(), ({ channel }) => channel);
    expect(seen.size).to.equal(RECIPIENTS);
    for (const messages of seen.values()) {
      const numbers = messages.map(({ message }) => Number(message.split(" ")[1]));
      expect(numbers).to.deep.equal(numbers.toSorted((a, b) => a - b));
      expect(numbers.length).to.equal(DELIVERIES / RECIPIENTS);
    }
  });
});

/** A service with a rate limit: after some requests it refuses others for a time that it names. */
function paced(usual: Behaviour, { count, restMs }: { count: number; restMs: number }): Behaviour {
  const refuses = answers(429, "limit exceeded", { "Retry-After": String(restMs / 1_000) });
  let accepted = 0;
  let restsUntil = 0;
  return (response, request) => {
    const now = performance.now();
    if (accepted === count) {
      accepted = 0;
      restsUntil = now + restMs;
    }
    if (now < restsUntil) return refuses(response, request);
    accepted++;
    return usual(response, request);
  };
}
