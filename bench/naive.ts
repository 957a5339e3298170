/**
 * A naive service: job tracking and hooks with Koa, the raw driver and BullMQ, as one would write them in an afternoon.
 * It has the same write guarantees (majority, journaled) and the indexes that its queries need. It validates and
 * authenticates nothing.
 */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import Koa from "koa";
import bodyParser from "koa-bodyparser";
import { mongo } from "mongoose";

interface StepBody {
  stepName?: string;
  status?: string;
  progress?: number;
  message?: string;
  output?: object;
  jobProgressStart?: number;
  jobProgressEnd?: number;
}

const client = new mongo.MongoClient(process.env.MONGODB_URI ?? "", {
  writeConcern: { w: "majority", journal: true },
  readConcern: { level: "majority" },
});
const jobs = client.db().collection("jobs");
const steps = client.db().collection("steps");
const lines = client.db().collection("lines");
const runs = client.db().collection<{ _id: string }>("runs");
const events = client.db().collection<{ _id: string }>("events");
await jobs.createIndex({ jobId: 1 }, { unique: true });
await steps.createIndex({ jobId: 1, stepKey: 1 }, { unique: true });
await steps.createIndex({ jobId: 1, status: 1, updatedAt: -1 });
await lines.createIndex({ jobId: 1, stepKey: 1, _id: 1 });
await runs.createIndex({ createdAt: -1 });
await events.createIndex({ waiting: 1, createdAt: 1 });

const connection = new Redis(process.env.REDIS_URL ?? "");
const runQueue = new Queue("runs", { connection, prefix: "naive" });
const eventQueue = new Queue("events", { connection, prefix: "naive" });

const router = new Router();

router.put("/api/jobs/:jobId", async (ctx) => {
  const now = new Date();
  const made = { status: "running", progress: 0, message: null, output: null, createdAt: now };
  ctx.body = await jobs.findOneAndUpdate(
    { jobId: ctx.params.jobId },
    { $set: { ...(ctx.request.body as object), updatedAt: now }, $setOnInsert: made },
    { upsert: true, returnDocument: "after" },
  );
});

router.put("/api/jobs/:jobId/steps/:stepKey", async (ctx) => {
  const { jobId, stepKey } = ctx.params;
  const { jobProgressStart, jobProgressEnd, ...fields } = ctx.request.body as StepBody;
  const now = new Date();
  const step = await steps.findOneAndUpdate(
    { jobId, stepKey },
    {
      $set: { ...fields, updatedAt: now },
      $setOnInsert: { stepId: randomUUID(), createdAt: now, startedAt: now, attempts: 1 },
    },
    { upsert: true, returnDocument: "after", projection: { output: 0 } },
  );
  const { progress = 0, message, output } = fields;
  const calculated = (jobProgressStart ?? 0) + (progress / 100) * ((jobProgressEnd ?? 0) - (jobProgressStart ?? 0));
  const { matchedCount } = await jobs.updateOne(
    { jobId },
    {
      $set: { message, updatedAt: now, ...(calculated >= 100 && { status: "completed", output }) },
      $max: { progress: calculated },
    },
  );
  if (matchedCount === 0) ctx.throw(404);
  ctx.body = step;
});

router.post("/api/jobs/:jobId/steps/:stepKey/log", async (ctx) => {
  const { jobId, stepKey } = ctx.params;
  const at = new Date();
  const texts = (ctx.request.body as string).trimEnd().split("\n");
  await lines.insertMany(texts.map((text) => ({ jobId, stepKey, at, text })));
  ctx.status = 204;
});

router.get("/api/jobs/:jobId", async (ctx) => {
  const { jobId } = ctx.params;
  const [job, currentStep] = await Promise.all([
    jobs.findOne({ jobId }),
    steps.findOne({ jobId, status: "running" }, { sort: { updatedAt: -1 }, projection: { output: 0 } }),
  ]);
  if (!job) ctx.throw(404);
  ctx.body = { ...job, currentStep };
});

router.delete("/api/jobs/:jobId", async (ctx) => {
  const { jobId } = ctx.params;
  await steps.deleteMany({ jobId });
  await jobs.deleteOne({ jobId });
  ctx.body = { ok: true };
});

router.post("/hooks/agent", async (ctx) => {
  const body = ctx.request.body as { sessionKey?: string };
  const runId = randomUUID();
  const { sessionKey = `hook:${randomUUID()}` } = body;
  const run = { ...body, sessionKey, status: "queued", attempts: 0, reply: null, error: null, createdAt: new Date() };
  await runs.insertOne({ _id: runId, ...run });
  await runQueue.add("run", { runId }, { jobId: runId });
  ctx.status = 202;
  ctx.body = { ok: true, runId, sessionKey };
});

router.post("/hooks/wake", async (ctx) => {
  const { text, mode } = ctx.request.body as { text: string; mode: string };
  const eventId = randomUUID();
  await events.insertOne({ _id: eventId, text, mode, waiting: true, createdAt: new Date() } as { _id: string });
  await eventQueue.add("event", { eventId }, { jobId: eventId });
  ctx.body = { ok: true, mode, eventId };
});

const app = new Koa().use(bodyParser({ enableTypes: ["json", "text"] })).use(router.routes());
const server = app.listen(0, "127.0.0.1", () => {
  process.send?.({ ready: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` } });
});
process.on("disconnect", () => process.exit());
