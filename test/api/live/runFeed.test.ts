import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import type { EndingAccess } from "../../../src/api/auth/stillValid.ts";
import { RunFeed } from "../../../src/api/live/runFeed.ts";
import { RedisChangeStream } from "../../../src/shared/queue/changeStream.ts";
import type { RedisConnection } from "../../../src/shared/queue/redis.ts";
import { RunEventWriter } from "../../../src/shared/queue/runEvents.ts";
import { eventually } from "../../support/eventually.ts";
import { useSharedApp } from "../../support/useApp.ts";

const bearer = { Authorization: "Bearer a-hook-token-of-length" };
const ACCESS: EndingAccess = { grants: [] };

describe("RunFeed", () => {
  const app = useSharedApp({ config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }' });
  let feed: RunFeed;
  afterEach(() => feed.close());

  const log = pino({ level: "silent" });
  /** Starts a feed to which nobody passes changes, as while Redis is unavailable. */
  const startFeed = (redis: RedisConnection, { pollMs = 20, heartbeatMs = 20 } = {}) => {
    feed = new RunFeed(app.stores, { clock: app.clock, log, prefix: app.prefix, redis, heartbeatMs, pollMs });
  };
  const away = new Proxy(
    {},
    {
      get: () => async () => {
        throw new Error("Redis is away");
      },
    },
  ) as RedisConnection;
  const accept = async (): Promise<string> =>
    (await app.call("POST", "/hooks/agent", { message: "x", deliver: false }, bearer)).body.runId;
  const open = (runId: string, access: EndingAccess = ACCESS) => {
    const received = { text: "" };
    const stream = feed.open(runId, undefined, access).on("data", (some) => {
      received.text += some;
    });
    const closed = once(stream, "close");
    return { received, closed, names: () => [...received.text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name) };
  };

  it("ends a stream with its run while Redis is unavailable", async () => {
    startFeed(away);
    const runId = await accept();
    const stream = open(runId);
    await eventually(() => stream.received.text.includes("\n:\n"), "a heartbeat of the open stream");

    await app.call("POST", `/api/runs/${runId}/cancel`);
    await stream.closed;

    expect(stream.names()).to.deep.equal(["run.failed"]);
  });

  it("ends a stream with the run's deletion, and with the right of its caller", async () => {
    startFeed(away);
    const runId = await accept();
    const deleted = open(runId);
    const expiring = open(await accept(), { ...ACCESS, expiresAt: new Date(app.clock.now().getTime() + 60_000) });
    await eventually(() => expiring.received.text.includes("\n:\n"), "a heartbeat of the open stream");

    await app.stores.runs.collection.native.deleteOne({ _id: runId });
    await deleted.closed;
    const left = feed.size;
    app.clock.advance(60_001);
    await expiring.closed;

    expect([deleted.names(), expiring.names(), left]).to.deep.equal([[], [], 1]);
  });

  it("sends what is new after a change, and each event once", async () => {
    startFeed(app.redis, { pollMs: 1_000_000, heartbeatMs: 1_000_000 });
    const runId = await accept();
    const changes = new RedisChangeStream(app.redis, app.prefix);
    const stream = open(runId);
    const writer = new RunEventWriter({ redis: app.redis, prefix: app.prefix, changes }, runId, 1_000);
    writer.addText("message.delta", "delta", "a");
    writer.addText("message.delta", "delta", "b");
    writer.add("tool.started", { tool: "Bash", preview: null });
    await writer.close();
    const turn = () => feed.onChanges(() => [{ kind: "turn", id: runId }]);

    turn();
    turn();
    await eventually(() => stream.names().includes("tool.started"), "the events");
    feed.onChanges(() => [{ kind: "many" }]);
    feed.onChanges(() => [{ kind: "turn", id: "another run" }]);
    await app.call("POST", `/api/runs/${runId}/cancel`);
    feed.onChanges(() => [{ kind: "run", id: runId }]);
    await stream.closed;
    await changes.flush();

    expect(stream.names()).to.deep.equal(["message.delta", "tool.started", "run.failed"]);
    expect(stream.received.text).to.include('data: {"delta":"ab"}');
  });

  /** The app's Redis with another `xrange`. */
  const withXrange = (xrange: () => unknown) =>
    new Proxy(app.redis, {
      get: (redis, name) => {
        if (name === "xrange") return xrange;
        const value = Reflect.get(redis, name);
        return typeof value === "function" ? value.bind(redis) : value;
      },
    });

  it("ends a stream with a run that ends during a read that fails", async () => {
    const held = Promise.withResolvers<never>();
    const isRead = Promise.withResolvers<void>();
    const xrange = () => {
      isRead.resolve();
      return held.promise;
    };
    startFeed(withXrange(xrange), { pollMs: 1_000_000, heartbeatMs: 1_000_000 });
    const runId = await accept();
    const stream = open(runId);
    await isRead.promise;

    await app.call("POST", `/api/runs/${runId}/cancel`);
    feed.onChanges(() => [{ kind: "run", id: runId }]);
    held.reject(new Error("Redis is away"));
    await stream.closed;

    expect(stream.names()).to.deep.equal(["run.failed"]);
  });

  it("reads again at the next heartbeat after a read that failed", async () => {
    const results: (() => Promise<unknown>)[] = [
      () => Promise.reject(new Error("Redis is away")),
      async () => [["1-0", ["e", "log", "d", "{}"]]],
    ];
    startFeed(
      withXrange(() => results.shift()?.() ?? Promise.resolve([])),
      { pollMs: 1_000_000 },
    );
    const stream = open(await accept());

    await eventually(() => stream.names().length > 0, "the events");

    expect(stream.names()).to.deep.equal(["log"]);
  });

  it("ends all streams with the service, and opens no more", async () => {
    startFeed(away);
    const stream = open(await accept());

    feed.end();
    await stream.closed;

    expect(() => feed.open("x", undefined, ACCESS)).to.throw("The service is stopping.");
  });

  it("lets a turn end while Redis hangs", async () => {
    startFeed(away);
    const never = new Promise(() => {});
    const hanging = { xtrim: () => never } as unknown as RedisConnection;
    const changes = { notify: () => {} };
    const writer = new RunEventWriter({ redis: hanging, prefix: "p", changes }, "r", 1_000);

    writer.addText("message.delta", "delta", "a");
    await writer.close();
  });
});
