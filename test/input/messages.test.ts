import { expect } from "chai";
import fc from "fast-check";
import { Redis } from "ioredis";
import { createRunner } from "../../src/agents/runners/createRunner.ts";
import { openChannels } from "../../src/channels/channels.ts";
import { parseConfig } from "../../src/config/load.ts";
import { AppError } from "../../src/shared/errors.ts";
import { createLogger } from "../../src/shared/logger.ts";
import { changesKey } from "../../src/shared/queue/changeStream.ts";
import { agentHook, QUEUES, queuePrefix } from "../../src/shared/queue/definitions.ts";
import { turn } from "../agents/runners/turn.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { openEvents } from "../support/eventSource.ts";
import { eventually } from "../support/eventually.ts";
import { cases, runs, SEED, TIMES } from "../support/random.ts";
import { type Behaviour as ChannelBehaviour, startChannelServer } from "../support/servers/channelServer.ts";
import { type Behaviour, startModelServer } from "../support/servers/modelServer.ts";
import { redisUrl } from "../support/servers/servers.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { tell } from "./given.ts";

const TOKEN = "a-hook-token-of-length";
const SECRET = "secret-of-a-service-0001";
const PROMPT = "the secret prompt";

const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    0,
    -1,
    1e308,
    "",
    "x",
    true,
    [],
    {},
    [null],
    { $ne: null },
    "\ud800",
    "x".repeat(10_000),
    "__proto__",
  ),
  fc.jsonValue(),
);
const record = (keys: readonly string[]) =>
  fc.dictionary(fc.constantFrom(...keys, "__proto__", "x"), odd, { maxKeys: 5 });

describe("foreign messages in Redis", function () {
  this.timeout(60_000 * (1 + TIMES));
  let app: TestApp;
  let worker: TestWorker;
  let redis: Redis;
  beforeEach(async () => {
    app = await startApp({ config: `{ hooks: { enabled: true, token: "${TOKEN}" } }` });
    worker = await startWorker(app);
    redis = new Redis(await redisUrl());
  });
  afterEach(async () => {
    redis.disconnect();
    await worker.close();
    await app.close();
  });

  it("in the change stream do not prevent the delivery of other changes", async () => {
    const change = fc.oneof(odd, record(["kind", "jobId", "stepKey", "id", "moved"]), kinds);
    const entry = fc.oneof(
      fc.array(change, { maxLength: 5 }).map((list) => JSON.stringify(list)),
      fc.string(),
      odd.map((one) => JSON.stringify(one)),
    );
    const fields = fc.tuple(fc.constantFrom("c", "c", "c", "x", ""), entry);
    const [all, one] = [
      await openEvents(`${app.url}/api/events`),
      await openEvents(`${app.url}/api/jobs/mine/events`).catch(() => undefined),
    ];
    expect(one?.status).to.equal(404);

    for (const [i, given] of fc.sample(fc.array(fields, { minLength: 1, maxLength: 20 }), runs(5)).entries()) {
      for (const [name, text] of given) await redis.xadd(changesKey(app.prefix), "*", name, text);
      await app.call("PUT", `/api/jobs/mine-${i}`, {});
      await all.next("job", ({ jobId }) => jobId === `mine-${i}`);
    }

    const resumed = await openEvents(`${app.url}/api/events`, { "Last-Event-ID": "0-1" });
    await app.call("PUT", "/api/jobs/last", {});
    await resumed.next("job", ({ jobId }) => jobId === "last");
    for (const events of [all, resumed]) events.close();
    expect(app.log.filter(({ msg }) => String(msg).includes("is retried"))).to.deep.equal([]);
  });

  it("on the queues do not block other jobs", async () => {
    const payload = fc.oneof(odd, record(["runId", "deliveryId", "scheduled"]));
    let count = 0;
    for (const [n, { name }] of QUEUES.entries()) {
      const queue = app.queues.all.find((one) => one.name === name);
      for (const data of fc.sample(payload, { ...runs(6), seed: SEED + n })) {
        await queue?.add(name, data, { removeOnFail: true, removeOnComplete: true });
        count++;
      }
      // The service never writes this.
      const key = `${queuePrefix(app.prefix, name)}:${name}`;
      await redis.hset(`${key}:foreign`, { data: "{no json", opts: "[", name: "", timestamp: "x" });
      await redis.hset(`${key}:bare`, { a: "b" });
      await redis.lpush(`${key}:wait`, "foreign", "bare", "gone");
    }

    const headers = { Authorization: `Bearer ${TOKEN}` };
    const { body } = await app.call("POST", "/hooks/agent", { message: "a", deliver: false }, headers);
    const isDone = async () =>
      (await app.call("GET", `/api/runs/${body.runId}`, undefined, headers)).body.status === "completed";

    await eventually(isDone, "the run to be carried out");
    const left = async () => {
      const depths = await app.queues.depths();
      return (
        depths.filter(({ queue, state, count }) => queue === agentHook.name && state === "waiting" && count > 0)
          .length === 0
      );
    };
    await eventually(left, "the queue to be empty");
    tell(
      `entries of queues, seed ${SEED}: ${count}, of which ${worker.log.filter(({ msg }) => msg === "the queue job failed").length} failed`,
    );
    expect(app.log.filter(({ code }) => code === "internal")).to.deep.equal([]);
  });
});

/** Messages that are close to those of the service. */
const kinds = fc.record({
  kind: fc.constantFrom<unknown>("job", "step", "run", "delivery", "many", "other", 1),
  jobId: odd,
  stepKey: odd,
  id: odd,
  moved: odd,
});

const mostly = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** Bytes of a response: one of this kind of service, changed or truncated, or random ones. */
const answer = (usual: readonly unknown[], keys: readonly string[]) =>
  fc.record({
    status: mostly(200, 201, 204, 301, 400, 401, 403, 404, 409, 413, 418, 429, 500, 502, 503, 599),
    type: mostly("application/json", "text/event-stream", "text/html", "", "application/json; charset=x", ";"),
    retryAfter: fc.constantFrom(undefined, "1", "-1", "1e999", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "9".repeat(40)),
    body: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...usual).map((value) => JSON.stringify(value)) },
      record(keys).map((value) => JSON.stringify(value)),
      record(keys).map((value) => `data: ${JSON.stringify(value)}\n\ndata: [DONE]\n\n`),
      fc
        .array(record(keys), { maxLength: 3 })
        .map((list) => JSON.stringify({ choices: list, result: list, errors: list, messages: list })),
      odd.map((value) => JSON.stringify(value)),
      fc.constantFrom(
        "",
        "{",
        "null",
        "data: {",
        "data: [DONE]\n\n",
        ":\n\n",
        "\0".repeat(100),
        "<html>",
        "x".repeat(200_000),
        `${SECRET} ${PROMPT}`,
      ),
      fc.constantFrom(`{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, `[${"1,".repeat(100_000)}1]`),
    ),
    cut: mostly(1, 0, 0.5),
  });
type Given = ReturnType<typeof answer> extends fc.Arbitrary<infer T> ? T : never;

const gives =
  ({ status, type, retryAfter, body, cut }: Given): Behaviour & ChannelBehaviour =>
  (response) => {
    const bytes = Buffer.from(body);
    const head = { ...(type && { "Content-Type": type }), ...(retryAfter && { "Retry-After": retryAfter }) };
    if (cut === 1) return response.writeHead(status, head).end(status === 204 ? undefined : bytes);
    response.writeHead(status, { ...head, ...(status !== 204 && { "Content-Length": String(bytes.length + 1) }) });
    response.write(status === 204 ? "" : bytes.subarray(0, bytes.length * cut), () => response.destroy());
    if (status === 204) response.destroy();
  };

describe("invalid responses of services", function () {
  this.timeout(60_000 * (1 + TIMES));

  it("of a model server become a reply or an error that describes them without the key and the prompt", async () => {
    const server = await startModelServer();
    const runner = createRunner("openai", { openai: { baseUrl: server.url, apiKey: SECRET } }, {});
    const delta = { choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: "stop" }] };
    const usual = [delta, { choices: [{ message: { content: "Hello" } }] }, { error: { message: PROMPT, code: 429 } }];
    const keys = [
      "choices",
      "error",
      "message",
      "delta",
      "content",
      "index",
      "finish_reason",
      "code",
      "type",
      "refusal",
    ];
    const counts: Record<string, number> = {};

    for (const given of fc.sample(answer(usual, keys), runs(250))) {
      server.script(gives(given));
      const made = await runner
        .run(turn(PROMPT, { model: "m" }), AbortSignal.timeout(60_000))
        .catch((error: unknown) => error);
      const kind = made instanceof AppError ? made.code : "reply";
      counts[kind] = (counts[kind] ?? 0) + 1;
      if (!(made instanceof AppError))
        expect(made, JSON.stringify(given)).to.have.property("text").that.is.a("string").and.not.empty;
      else {
        expect(made.code, JSON.stringify(given)).to.be.oneOf(["agent_failed", "agent_unavailable"]);
        for (const word of [SECRET, PROMPT]) expect(made.message).to.not.include(word);
        if (made.retryAfterSeconds !== undefined) expect(made.retryAfterSeconds).to.be.at.least(0);
      }
    }
    await server.close();
    tell(`answers of a model server, seed ${SEED}: ${JSON.stringify(counts)}`);
    expect(counts.reply).to.be.at.least(cases(3));
  });

  it("of a channel become a result of a known kind whose reason contains neither the secret nor the message", async () => {
    const server = await startChannelServer();
    const at = { apiUrl: server.url, botToken: SECRET };
    const { channels } = parseConfig(
      JSON.stringify({
        channels: {
          telegram: at,
          slack: at,
          discord: at,
          mattermost: at,
          msteams: { apiUrl: server.url, loginUrl: server.url, appId: "a", appPassword: SECRET, tenantId: "t" },
          whatsapp: { apiUrl: server.url, accessToken: SECRET, phoneNumberId: "1" },
          signal: { apiUrl: server.url, account: "+4915100000000" },
          imessage: { apiUrl: server.url, password: SECRET },
          ntfy: { baseUrl: server.url, token: SECRET },
        },
      }),
      {},
    );
    const recipients: Record<string, string> = {
      telegram: "1",
      slack: "U012ABCDEF",
      discord: "user:123456789012345678",
      mattermost: "@ada",
      msteams: "19:abc@thread.v2",
      whatsapp: "+4915100000001",
      signal: "+4915100000001",
      imessage: "+4915100000001",
      ntfy: "ops",
    };
    const usual = [
      { ok: true, result: { message_id: 7 } },
      { ok: true, ts: "1.2", channel: { id: "D1" }, id: "123456789012345678", access_token: SECRET, expires_in: 3_600 },
      {
        messages: [{ id: "wamid.1" }],
        id: "x".repeat(26),
        timestamp: "1700000000000",
        status: 200,
        data: { guid: "g" },
      },
      {
        ok: false,
        error_code: 429,
        description: PROMPT,
        parameters: { retry_after: 1e300 },
        retry_after: -5,
        error: "ratelimited",
      },
      { error: { code: "x", message: `${SECRET} ${PROMPT}` }, errors: [{ message: PROMPT }], message: SECRET },
    ];
    const keys = [
      ...[
        "ok",
        "result",
        "description",
        "parameters",
        "error",
        "error_code",
        "code",
        "message",
        "messages",
        "retry_after",
        "id",
        "ts",
      ],
      ...[
        "channel",
        "errors",
        "data",
        "status",
        "timestamp",
        "access_token",
        "expires_in",
        "response_metadata",
        "jsonrpc",
      ],
    ];
    const kindsSeen: Record<string, number> = {};
    const open = openChannels(channels, {
      log: createLogger({ level: "silent", name: "test", pretty: false }),
      env: {},
    });
    expect([...open.keys()]).to.have.members(Object.keys(recipients));

    for (const [n, [name, channel]] of [...open].entries()) {
      for (const given of fc.sample(fc.array(answer(usual, keys), { minLength: 3, maxLength: 3 }), {
        ...runs(25),
        seed: SEED + n,
      })) {
        server.script(...given.map(gives));
        const message = { to: recipients[name] as string, text: PROMPT, plainText: PROMPT, plain: false, key: "a-0" };
        const result = await channel.send(message, AbortSignal.timeout(60_000));
        const shown = `${name}: ${JSON.stringify(given)} → ${JSON.stringify(result)}`.slice(0, 2_000);
        kindsSeen[result.kind] = (kindsSeen[result.kind] ?? 0) + 1;
        expect(KINDS, shown).to.include(result.kind);
        for (const word of [SECRET, PROMPT]) expect(JSON.stringify(result).includes(word), shown).to.equal(false);
        if ("reason" in result) expect(result.reason.length, shown).to.be.within(1, 2_000);
        if (result.kind === "rate-limited" && result.retryAfterMs !== null)
          expect(result.retryAfterMs, shown).to.be.at.least(0).and.finite;
        if (result.kind === "sent" && result.id !== null) expect(result.id, shown).to.be.a("string");
      }
    }
    await server.close();
    tell(`answers of channels, seed ${SEED}: ${JSON.stringify(kindsSeen)}`);
  });
});

const KINDS = ["sent", "rate-limited", "transient", "authentication", "gone", "content", "refused", "ambiguous"];
