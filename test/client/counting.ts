import { randomUUID } from "node:crypto";
import { type Client, createClient } from "../../src/client/client.ts";

const RANGE = { name: "A step", from: 10, to: 60 };

/** Returns a client, with the numbers of its requests and of those without a response. */
export const counting = (url: string) => {
  const count = { sent: 0, lost: 0 };
  const fetch: typeof globalThis.fetch = async (input, init) => {
    count.sent++;
    try {
      return await globalThis.fetch(input, init);
    } catch (error) {
      count.lost++;
      throw error;
    }
  };
  return { count, client: createClient({ url, fetch }) };
};
export const newStep = async (client: Client) => {
  const job = client.job(randomUUID());
  await job.create();
  return job.step("step", RANGE);
};
export const read = (client: Client, step: { toJSON(): { jobId: string } }) =>
  client.jobs.get(step.toJSON().jobId, { include: "steps" });
