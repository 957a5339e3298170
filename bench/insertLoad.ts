import { randomUUID } from "node:crypto";
import { mongo } from "mongoose";
import { agentHookBody } from "./hooks.ts";
import type { LoadTask, Timed } from "./load.ts";

/**
 * Inserts documents like the record of a run one by one on several connections. This is the least that an accepted hook costs
 * MongoDB where each is written by itself.
 */
export async function loadWithInserts({ url, connections, seconds }: LoadTask): Promise<Timed> {
  const client = await mongo.MongoClient.connect(url, {
    writeConcern: { w: "majority", journal: true },
    maxPoolSize: connections,
  });
  const inserts = client.db().collection<{ _id: string }>("inserts");
  const each = Array.from({ length: connections });
  await Promise.all(each.map(() => inserts.findOne())); // opens the connections

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
  await Promise.all(each.map(insert));
  const lastedMs = performance.now() - started;
  await inserts.drop();
  await client.close();
  return { latencies, lastedMs };
}
