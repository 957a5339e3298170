import { mongo } from "mongoose";
import type { Stored, StoredJob, StoredSilence } from "../checks/history.ts";
import type { Client } from "../load/client.ts";

/** Reads the stores directly, without the service. The caller closes it. */
export class Stores {
  readonly #client: mongo.MongoClient;

  /** Connects with the first query. */
  constructor(uri: string) {
    this.#client = new mongo.MongoClient(uri, { serverSelectionTimeoutMS: 5_000, socketTimeoutMS: 15_000 });
  }

  /** Returns a description of unfinished work, or "" if there is none. */
  async unfinished(): Promise<string> {
    const count = (name: string, query: object) => this.#client.db().collection(name).countDocuments(query);
    // In sequence and causes first: the effects of a run or an event are stored before it ends.
    const runs = await count("runs", { finalized: { $ne: true } });
    const noted = { "notes.at": { $exists: true } };
    const counts = await Promise.all(["jobs", "runs", "deliveries"].map((name) => count(name, noted)));
    const notes = counts.reduce((sum, one) => sum + one, 0);
    const events = await count("events", { waiting: true });
    const deliveries = await count("deliveries", { open: true });
    if (runs + notes + events + deliveries === 0) return "";
    const next = await this.#client
      .db()
      .collection("deliveries")
      .findOne({ open: true }, { sort: { notBefore: 1 } });
    const first = next ? `, the next at ${next.notBefore?.toISOString()} after ${next.failures} failures` : "";
    return `${runs} runs, ${notes} records with notes, ${events} events, ${deliveries} deliveries${first}`;
  }

  /** @param jobIds the jobs to read, as in the API */
  async readAll(jobIds: readonly string[], client: Client): Promise<Stored> {
    const jobs: StoredJob[] = [];
    for (const jobId of jobIds) {
      const answer = await client.requestUntilAccepted("GET", `/api/jobs/${jobId}?include=steps`);
      if (!answer) continue;
      const { status, progress, message, output, steps } = answer.body;
      jobs.push({ jobId, status, progress, message, output: output && JSON.stringify(output), steps });
    }
    return {
      jobs,
      runs: await this.#inOrder("runs", (run) => ({
        id: run._id,
        message: run.request?.message ?? "",
        sessionKey: run.sessionKey,
        status: run.status,
        finalized: run.finalized === true,
        attempts: run.attempts,
        reply: run.reply,
        error: run.error && `${run.error.code}: ${run.error.message}`,
      })),
      events: await this.#inOrder("events", (event) => ({
        id: event._id,
        text: event.text,
        source: event.source,
        waiting: event.waiting,
      })),
      messages: await this.#inOrder("messages", (message) => ({
        sessionKey: message.sessionKey,
        role: message.role,
        content: message.content,
      })),
      deliveries: await this.#inOrder("deliveries", (delivery) => ({
        id: delivery._id,
        runId: delivery.runId,
        channel: delivery.channel,
        to: delivery.to,
        text: delivery.text,
        state: delivery.state,
        maybeTwice: delivery.maybeTwice,
        reason: delivery.reason,
        eventType: delivery.event?.type ?? null,
      })),
      silences: await this.#silences(),
    };
  }

  async #inOrder<T>(name: string, read: (document: mongo.Document) => T): Promise<T[]> {
    const found = this.#client.db().collection(name).find().sort({ order: 1 });
    return (await found.toArray()).map(read);
  }

  async #silences(): Promise<StoredSilence[]> {
    const found = this.#client
      .db()
      .collection("jobs")
      .find({ silence: { $exists: true } });
    return (await found.toArray()).map(({ jobId, silence }) => ({ jobId, id: silence.id }));
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
