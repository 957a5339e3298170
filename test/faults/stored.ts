import { mongo } from "mongoose";
import type { Client } from "./client.ts";
import type { Stored, StoredJob } from "./history.ts";

/** What the stores hold, read beside the service. Closed by whoever opened it. */
export class Stores {
  readonly #client: mongo.MongoClient;

  /** Connects with the first question. */
  constructor(uri: string) {
    this.#client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 5_000, socketTimeoutMS: 15_000 });
  }

  /** What has not come to its end yet, in words; "" when everything has. */
  async unfinished(): Promise<string> {
    const count = (name: string, query: object) => this.#client.db().collection(name).countDocuments(query);
    // One after the other, causes first: what follows from a run or an event is stored before that one is over.
    const runs = await count("runs", { settled: { $ne: true } });
    const events = await count("events", { waiting: true });
    const deliveries = await count("deliveries", { open: true });
    return runs + events + deliveries === 0 ? "" : `${runs} runs, ${events} events, ${deliveries} deliveries`;
  }

  /** @param jobIds which jobs to read, as clients see them */
  async readAll(jobIds: readonly string[], client: Client): Promise<Stored> {
    const jobs: StoredJob[] = [];
    for (const jobId of jobIds) {
      const answer = await client.insist("GET", `/api/jobs/${jobId}?include=steps`);
      if (!answer) continue;
      const { status, progress, message, output, steps } = answer.body;
      jobs.push({ jobId, status, progress, message, output: output && JSON.stringify(output), steps });
    }
    return {
      jobs,
      runs: await this.#inOrder("runs", (run) => ({
        ...{ id: run._id, message: run.request?.message ?? "", sessionKey: run.sessionKey, status: run.status },
        ...{ settled: run.settled === true, attempts: run.attempts, reply: run.reply },
        error: run.error && `${run.error.code}: ${run.error.message}`,
      })),
      events: await this.#inOrder("events", (event) => ({
        ...{ id: event._id, text: event.text, source: event.source, waiting: event.waiting },
      })),
      messages: await this.#inOrder("messages", (message) => ({
        ...{ sessionKey: message.sessionKey, role: message.role, content: message.content },
      })),
      deliveries: await this.#inOrder("deliveries", (delivery) => ({
        ...{ id: delivery._id, runId: delivery.runId, channel: delivery.channel, to: delivery.to, text: delivery.text },
        ...{ state: delivery.state, maybeTwice: delivery.maybeTwice, reason: delivery.reason },
      })),
    };
  }

  async #inOrder<T>(name: string, read: (document: mongo.Document) => T): Promise<T[]> {
    const found = this.#client.db().collection(name).find().sort({ order: 1 });
    return (await found.toArray()).map(read);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
