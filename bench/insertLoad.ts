import { randomUUID } from "node:crypto";
import { mongo } from "mongoose";
import { agentHookBody } from "./hooks.ts";
import type { LoadTask, Timed } from "./loadTask.ts";

/** Shared by all turns, because a pool opens its connections slowly. */
let client: mongo.MongoClient | undefined;

/**
 * Inserts single documents like the record of a run, as many concurrently as there are connections. This is MongoDB's
 * minimum cost of an accepted hook without batching.
 */
export async function loadWithInserts({ url, connections, seconds }: LoadTask): Promise<Timed> {
  client ??= await mongo.MongoClient.connect(url, { writeConcern: { w: "majority", journal: true } });
  const inserts = client.db().collection<{ _id: string }>("inserts");
  const request = JSON.parse(agentHookBody("now"));
  const latencies: number[] = [];
  const started = performance.now();
  const isOver = () => performance.now() - started >= seconds * 1_000;
  const insert = async () => {
    do {
      const sentAt = performance.now();
      const run = { ...request, status: "queued", attempts: 0, reply: null, error: null, createdAt: new Date() };
      await inserts.insertOne({ _id: randomUUID(), ...run });
      latencies.push(performance.now() - sentAt);
    } while (!isOver());
  };
  await Promise.all(Array.from({ length: connections }, insert));
  const lastedMs = performance.now() - started;
  await inserts.deleteMany({});
  return { latencies, lastedMs };
}
