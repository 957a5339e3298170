import { randomUUID } from "node:crypto";
import { mongo } from "mongoose";
import { agentHookBody } from "./hooks.ts";
import type { LoadTask, Timed } from "./loadTask.ts";

/** Kept for all turns, since a pool opens only few connections at the same time. */
let client: mongo.MongoClient | undefined;

/**
 * Inserts documents like the record of a run one by one, as many at the same time as there are to be connections. This is the
 * least that an accepted hook costs MongoDB where each is written by itself.
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
