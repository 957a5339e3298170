import { expect } from "chai";
import { mongo } from "mongoose";
import { type Answer, bearer } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { type GmailFixture, startGmailFixture } from "../support/gmail/gmailFixture.ts";
import { googleError } from "../support/gmail/googleServer.ts";
import { HookFixture } from "../support/hooks/hookFixture.ts";
import { answers, type Behaviour, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { mongoUri } from "../support/servers/servers.ts";
import { startWorker } from "../support/worker.ts";
import { addFieldTypes, type FieldTypes } from "./fieldTypes.ts";

/** The result of a fixed sequence of requests. */
export interface Played {
  readonly documents: FieldTypes;
  /** In Prometheus' text format. */
  readonly webMetrics: string;
  readonly workerMetrics: string;
}

const API_TOKEN = "an-api-token-of-length";
const HOOK_TOKEN = "a-hook-token-of-length";

const SETTINGS = {
  hooks: {
    enabled: true,
    token: HOOK_TOKEN,
    allowRequestSessionKey: true,
    mappings: [
      {
        match: { path: "ci" },
        messageTemplate: "Build {{build}}",
        name: "CI",
        sessionKey: "hook:ci",
        instructions: "Be brief.",
        trackAsJob: true,
        channel: "log",
        to: "ops",
      },
      { match: { path: "items" }, forEach: "items", messageTemplate: "Item {{item.id}}", deliver: false },
      { match: { path: "told" }, action: "wake", textTemplate: "It is {{state}}." },
      { match: { path: "blank" }, messageTemplate: "{{missing}}" },
    ],
  },
  rest: (telegramUrl: string) => ({
    server: { apiToken: API_TOKEN },
    agents: { defaults: { runner: "echo", model: "small", models: ["small", "large"], heartbeat: { every: "1d" } } },
    channels: { log: {}, telegram: { apiUrl: telegramUrl, botToken: "1:t" } },
    session: { main: { channel: "log", to: "ops" }, maxChars: 1_000 },
  }),
};

/** More than a record keeps in itself. */
const LARGE = { text: "x".repeat(40_000) };

/** Plays the scenario on real servers. No value in the result depends on time or chance. */
export async function playScenario(): Promise<Played> {
  const documents: FieldTypes = {};
  const metrics = await withDatabase("frozen-scenario", (uri, db) => playRequests(uri, db, documents));
  await withDatabase("frozen-turn", (uri, db) => playHeldTurn(uri, db, documents));
  return { documents, ...metrics };
}

async function withDatabase<T>(name: string, act: (uri: string, db: mongo.Db) => Promise<T>): Promise<T> {
  const uri = await mongoUri(`${name}-${process.pid}`);
  const client = await mongo.MongoClient.connect(uri);
  try {
    return await act(uri, client.db());
  } finally {
    await client.db().dropDatabase();
    await client.close();
  }
}

/** Jobs, hooks, deliveries and mails, first without a worker and then with one. */
async function playRequests(uri: string, db: mongo.Db, documents: FieldTypes): Promise<Omit<Played, "documents">> {
  const telegram = await startChannelServer();
  const fixture = await startGmailFixture({ mongo: uri, hooks: SETTINGS.hooks, rest: SETTINGS.rest(telegram.url) });
  try {
    await send(fixture, ["PUT", "/api/sessions/main/reply-target", { channel: "log", to: "ops" }], 200);
    await reportJobs(fixture);
    await logInAndOut(fixture);
    await sendHooks(fixture);
    await addFieldTypes(documents, db);
    const worker = await startWorker(fixture.app);
    try {
      await areAtRest(db);
      await receiveMail(fixture, db, documents);
      await areAtRest(db);
      const figures = { name: { $ne: null }, durations: { $exists: true } };
      await eventually(() => db.collection("jobFigures").countDocuments(figures), "the figures of jobs");
      await addFieldTypes(documents, db);
      await deliver(fixture, db, telegram, documents);
      await addFieldTypes(documents, db);
      const { body: webMetrics } = await fixture.app.call("GET", "/metrics", undefined, bearer(API_TOKEN));
      return { webMetrics, workerMetrics: await worker.metrics.registry.metrics() };
    } finally {
      await worker.close();
    }
  } finally {
    await fixture.close();
    await telegram.close();
  }
}

async function send(
  { app }: Pick<GmailFixture, "app">,
  [method, path, body]: readonly [method: string, path: string, body?: object],
  status: number,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const token = path.startsWith("/hooks/") ? HOOK_TOKEN : API_TOKEN;
  const answer = await app.call(method, path, body, { ...bearer(token), ...headers });
  expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
  return answer;
}

/** A job that steps complete, one that is under way, one without a report and one that failed. */
async function reportJobs(fixture: GmailFixture): Promise<void> {
  const job = {
    name: "Import",
    description: "All of it",
    staleAfterSeconds: 60,
    input: { source: "a" },
    metadata: { team: "data", nested: { tags: ["a", 1, true, null] } },
  };
  await send(fixture, ["PUT", "/api/jobs/done", job], 201);
  const step = { stepName: "Load", jobProgressStart: 0, jobProgressEnd: 50 };
  await send(fixture, ["PUT", "/api/jobs/done/steps/load.1", { ...step, progress: 25, message: "Begun" }], 201);
  await send(fixture, ["PUT", "/api/jobs/done/steps/load.1", { progress: 100, output: { rows: 3 } }], 200);
  const last = { stepName: "Store", jobProgressStart: 50, jobProgressEnd: 100, progress: 100, output: LARGE };
  await send(fixture, ["PUT", "/api/jobs/done/steps/store", last], 201);
  await send(
    fixture,
    ["PUT", "/api/jobs/running", { input: LARGE, metadata: LARGE, progress: 10, message: "On it" }],
    201,
  );
  await send(fixture, ["PUT", "/api/jobs/running/steps/try", { ...step, progress: 10, output: { try: 1 } }], 201);
  await send(fixture, ["PUT", "/api/jobs/running/steps/try", { progress: 20, output: { try: 2 } }], 200);
  await send(
    fixture,
    ["PUT", "/api/jobs/running/steps/last", { stepName: "Last", progress: 30, message: "Soon" }],
    201,
  );
  const schema = { type: "object", properties: { rows: { type: "integer" } }, required: ["rows"] };
  const question = { title: "Go on?", message: "12 rows", requestedSchema: schema, expiresAt: "2099-01-01T00:00:00Z" };
  await send(fixture, ["PUT", "/api/jobs/running/gates/answered", question], 201);
  const answer = { action: "accept", content: { rows: 1 }, answeredBy: "Ann" };
  await send(fixture, ["POST", "/api/jobs/running/gates/answered/answer", answer], 200);
  await send(fixture, ["PUT", "/api/jobs/running/gates/open", { title: "Go on?" }], 201);
  await send(fixture, ["PUT", "/api/jobs/new", {}], 201);
  await send(fixture, ["PUT", "/api/jobs/failed", {}], 201);
  await send(fixture, ["PUT", "/api/jobs/failed", { status: "failed", message: "Broken", output: { why: "x" } }], 200);
  await send(fixture, ["PUT", "/api/jobs/cancelled", {}], 201);
  await send(fixture, ["POST", "/api/jobs/cancelled/cancel", { reason: "Not needed" }], 202);
  await send(fixture, ["POST", "/api/jobs/cancelled/cancel", { force: true }], 202);
  await send(fixture, ["GET", "/api/jobs/missing"], 404);
}

async function logInAndOut(fixture: GmailFixture): Promise<void> {
  const { headers } = await send(fixture, ["POST", "/session", { token: API_TOKEN }], 204);
  const cookie = headers.get("Set-Cookie")?.split(";")[0] ?? "";
  await send(fixture, ["DELETE", "/session"], 204, { Cookie: cookie });
}

async function sendHooks(fixture: GmailFixture): Promise<void> {
  const asked = { message: "How is it?", name: "Check", model: "large", thinking: "low", timeoutSeconds: 90.5 };
  const key = { "Idempotency-Key": "first" };
  const first = { ...asked, sessionKey: "hook:check", channel: "log", to: "ops" };
  const { body } = await send(fixture, ["POST", "/hooks/agent", first], 202, key);
  const again = await send(fixture, ["POST", "/hooks/agent", first], 202, key);
  expect(again.body.runId).to.equal(body.runId);
  await send(fixture, ["POST", "/hooks/agent", { message: "Once", channel: "discord", to: "100000000000000001" }], 202);
  await send(fixture, ["POST", "/hooks/wake", { text: "y".repeat(3_000), mode: "now" }], 200, key);
  await send(fixture, ["POST", "/hooks/wake", { text: "Later", mode: "next-heartbeat" }], 200);
  await send(fixture, ["POST", "/hooks/ci", { build: 7 }], 202, key);
  await send(fixture, ["POST", "/hooks/items", { items: [{ id: 1 }, { id: 2 }] }], 202, key);
  await send(fixture, ["POST", "/hooks/told", { state: "so" }], 202);
  await send(fixture, ["POST", "/hooks/blank", {}], 202);
}

/** A mailbox that no request has read yet, then a mail that becomes a run, then notices that cannot be pulled. */
async function receiveMail(fixture: GmailFixture, db: mongo.Db, documents: FieldTypes): Promise<void> {
  fixture.google.mailbox.add({ internalDate: Date.now() - 3_600_000 });
  fixture.google.isFrozen = true;
  const listener = fixture.listen();
  await eventually(() => db.collection("gmailMailboxes").countDocuments(), "the mailbox");
  await addFieldTypes(documents, db);
  await listener.close();
  fixture.google.isFrozen = false;
  await fixture.listening();
  await eventually(async () => (await fixture.mailbox()).watch, "the watch");
  fixture.google.mailbox.add();
  fixture.google.pubsub.publish();
  await eventually(async () => (await fixture.mailbox()).lastMailAt, "the mail");
  await fixture.isCaughtUp();
  fixture.google.fail(/:pull/, ...Array(5).fill(googleError(403, "PERMISSION_DENIED", "forbidden")));
  fixture.google.pubsub.publish();
  await eventually(async () => (await fixture.mailbox()).faults.notices?.toldAs, "the fault");
}

/** A delivery that is under way, then one that has to wait long, and one whose credentials are refused. */
async function deliver(
  fixture: GmailFixture,
  db: mongo.Db,
  telegram: ChannelServer,
  documents: FieldTypes,
): Promise<void> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const sent = answers(200, { ok: true, result: { message_id: 1 } });
  const holds: Behaviour = async (response, request) => {
    await released;
    await sent(response, request);
  };
  const limits = answers(429, { ok: false, description: "Later", parameters: { retry_after: 3_600 } });
  const refuses = answers(401, { ok: false, description: "Unauthorized" });
  const ask = (to: string) => {
    const request = { message: "Say it", channel: "telegram", to, wakeMode: "next-heartbeat" };
    return send(fixture, ["POST", "/hooks/agent", request], 202);
  };
  const hasWaiting = (count: number) =>
    eventually(async () => {
      const waiting = { open: true, lease: null, reason: { $ne: null } };
      return (await db.collection("deliveries").countDocuments(waiting)) === count;
    }, `${count} deliveries that wait`);

  telegram.script(holds, limits, refuses, refuses, refuses);
  await ask("5");
  await eventually(() => telegram.requests.length === 1, "the message to be handed over");
  await eventually(() => areRunsAtRest(db), "the run to end");
  await addFieldTypes(documents, db);
  release();
  await eventually(async () => (await countOpenDeliveries(db)) === 0, "the message to be sent");
  await ask("-6");
  await hasWaiting(1);
  await ask("7");
  await hasWaiting(2);
  await eventually(() => areRunsAtRest(db), "the runs to end");
}

/** An agent that is at work, and a turn of the main session whose reply nobody is known to receive. */
async function playHeldTurn(uri: string, db: mongo.Db, documents: FieldTypes): Promise<void> {
  const fixture = await HookFixture.start(`frozen-${process.pid}`, { mongo: uri });
  try {
    fixture.blockAgent();
    await fixture.startLocalWorker();
    const runId = await fixture.post({ message: "Wait" });
    await eventually(() => fixture.count("begun") === 1, "the agent to begin");
    await eventually(() => db.collection("leases").countDocuments(), "the sweep");
    await addFieldTypes(documents, db);
    fixture.unblockAgent();
    await fixture.expectCompletedOnce([runId]);
    await fixture.wake("Look");
    await eventually(() => db.collection("deliveries").countDocuments({ runId: null, open: false }), "the reply");
    await eventually(() => hasNoTurn(db), "the turn to end");
    await addFieldTypes(documents, db);
  } finally {
    await fixture.close();
  }
}

/** Nothing is left to do for a worker, so that nothing changes any more. */
function areAtRest(db: mongo.Db): Promise<unknown> {
  const isAtRest = async () => {
    const open = await Promise.all([
      db.collection("events").countDocuments({ waiting: true }),
      countOpenDeliveries(db),
    ]);
    return open.every((count) => count === 0) && (await hasNoTurn(db)) && (await areRunsAtRest(db));
  };
  return eventually(isAtRest, "everything to be carried out");
}

const countOpenDeliveries = (db: mongo.Db): Promise<number> =>
  db.collection("deliveries").countDocuments({ open: true });

const hasNoTurn = async (db: mongo.Db): Promise<boolean> =>
  (await db.collection("sessions").countDocuments({ active: { $ne: null } })) === 0;

const areRunsAtRest = async (db: mongo.Db): Promise<boolean> =>
  (await db.collection("runs").countDocuments({ finalized: { $ne: true } })) === 0;
