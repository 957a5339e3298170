import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { invalidField } from "../../shared/errors.ts";
import { type AuditLog, gateTarget } from "../audit.ts";
import type { Documents } from "../db/documents.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { GateDoc } from "./gate.ts";
import { askedAfterEnd, gateClosed, MAX_OPEN_GATES, tooManyGates } from "./gateErrors.ts";
import { type GateHead, OpenGates } from "./openGates.ts";
import {
  type Asker,
  changesOf,
  checkChange,
  checkExpiry,
  checkOpening,
  NO_QUESTION,
  type Question,
} from "./question.ts";
import { answered, expired, type GateAnswer, opened, withdrawn } from "./transitions.ts";

/** The job of a gate. */
export type GateJob = Pick<JobDoc, "_id" | "jobId" | "openGates" | "status" | "cancel">;

/** How long the open gates of an ended job stay, so that they are asked again if the job is started again: one day. */
const KEEP_AFTER_END_MS = 86_400_000;

/** The caller in the audit log of a gate that expires, since no request causes it. */
const BY_EXPIRY = { actor: "expiry", address: "", requestId: "", serviceRequestId: "" };

/**
 * The gates of all jobs. A gate is the record; `openGates` of its job follows it. Every method writes the gate first and the job
 * second, and `repairGates` corrects a job that a process left behind when it died between the two writes. A gate is closed only
 * after its job has it, so that both events of the gate are noted; closing adds it there first if it is missing. The states are
 * drawn in transitions.ts.
 */
export class Gates {
  readonly collection: Documents<GateDoc>;
  /** The gates that each job waits for. */
  readonly openGates: OpenGates;
  readonly #jobs: Jobs;
  readonly #clock: Clock;
  readonly #audit: Pick<AuditLog, "add">;

  constructor(
    collection: Documents<GateDoc>,
    jobs: Jobs,
    { clock, audit }: { readonly clock: Clock; readonly audit: Pick<AuditLog, "add"> },
  ) {
    this.collection = collection;
    this.openGates = new OpenGates(collection, jobs, clock);
    this.#jobs = jobs;
    this.#clock = clock;
    this.#audit = audit;
  }

  /** Finds a gate of a job; null if there is none. A gate whose time has passed expires first. */
  find({ _id: job, jobId }: Pick<GateJob, "_id" | "jobId">, key: string): Promise<GateDoc | null> {
    return this.#findCurrent({ jobId, job, key });
  }

  /** Finds a gate by its gateId. @returns null if there is none, or its job was deleted */
  async findById(gateId: string): Promise<GateDoc | null> {
    const gate = await this.#findCurrent({ _id: gateId });
    return (gate && (await this.withJobs([gate]))[0]) ?? null;
  }

  async #findCurrent(query: mongo.Filter<GateDoc>): Promise<GateDoc | null> {
    const gate = await this.collection.findOne(query);
    return gate && this.expireIfDue(gate);
  }

  /** Returns the gates whose job exists, as readers see them. The others await their deletion after a crash. */
  async withJobs(gates: readonly GateDoc[]): Promise<(GateDoc & { readonly jobName: string | null })[]> {
    const ids = { _id: { $in: gates.map(({ job }) => job) } };
    const found = await this.#jobs.collection.find(ids, { projection: { status: 1, name: 1 } });
    const byId = new Map(found.map((job) => [job._id.toHexString(), job]));
    return gates.flatMap((gate) => {
      const job = byId.get(gate.job.toHexString());
      return job ? [{ ...asReadersSee(job, gate), jobName: job.name }] : [];
    });
  }

  /**
   * Opens a gate, or changes the question of an open one.
   * @throws AppError gate_answered, gate_closed, job_ended, invalid_body, forbidden for a change that only a person may make,
   * too_many_gates, job_not_found if the job is deleted meanwhile, unavailable
   */
  async put(job: GateJob, key: string, question: Question, asker: Asker): Promise<{ created: boolean; gate: GateDoc }> {
    for (;;) {
      const existing = await this.find(job, key);
      if (existing && existing.status !== "open") throw gateClosed(existing);
      if (job.status !== "running") throw askedAfterEnd(job.jobId);
      if (question.expiresAt && question.expiresAt <= this.#clock.now())
        throw invalidField("expiresAt", "must be in the future");
      const gate = existing
        ? await this.#change(existing, question, asker)
        : await this.#insert(job, key, question, asker);
      if (!gate) continue; // a concurrent request was faster
      await this.#addToJob(job, gate);
      return { created: !existing, gate };
    }
  }

  /** Inserts a gate. @returns null if a concurrent request has inserted it */
  async #insert(job: GateJob, key: string, question: Question, asker: Asker): Promise<GateDoc | null> {
    const asked = { ...NO_QUESTION, ...question };
    checkOpening(asked, asker);
    checkExpiry(asked);
    if ((job.openGates?.length ?? 0) >= MAX_OPEN_GATES) throw tooManyGates();
    const identity = { _id: randomUUID(), jobId: job.jobId, job: job._id, key };
    const gate = opened({ ...identity, ...asked, openedBy: asker.actor }, this.#clock.now());
    try {
      await this.collection.insertOne(gate);
      return gate;
    } catch (error) {
      if (isDuplicateKey(error)) return null;
      throw error;
    }
  }

  /** Changes the question of an open gate. @returns null if the gate has changed or closed since it was read */
  async #change(gate: GateDoc, question: Question, asker: Asker): Promise<GateDoc | null> {
    const changes = changesOf(question, gate);
    if (Object.keys(changes).length === 0) return gate;
    checkChange(gate, changes, asker);
    checkExpiry({ ...gate, ...changes });
    const query = { _id: gate._id, status: "open" as const, revision: gate.revision };
    const update = { $set: { ...changes, revision: gate.revision + 1 } };
    return this.collection.findOneAndUpdate(query, update, { returnDocument: "after" });
  }

  /** Adds a new gate to its job. @throws AppError job_not_found or too_many_gates, after the gate was deleted again */
  async #addToJob(job: GateJob, gate: GateDoc): Promise<void> {
    const isLinked = (job.openGates ?? []).some(({ gateId }) => gateId === gate._id);
    if (isLinked) this.#jobs.notifyChange(job.jobId);
    else if (!(await this.openGates.add(gate))) {
      await this.delete([gate]);
      await this.#jobs.findId(job.jobId); // throws if the job was deleted
      throw tooManyGates();
    }
  }

  /**
   * Answers an open gate. Exactly one of several concurrent answers is recorded.
   * @param gate the gate whose question was answered
   * @returns the answered gate; null if the gate has closed, or its question has changed, since it was read
   */
  answer(gate: GateDoc, answer: GateAnswer): Promise<GateDoc | null> {
    const now = this.#clock.now();
    const inTime = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
    return this.#close(gate, answered(answer, now), { revision: gate.revision, ...inTime });
  }

  /** Withdraws an open gate. @returns null if it has closed since it was read */
  withdraw(gate: GateHead): Promise<GateDoc | null> {
    return this.#close(gate, withdrawn());
  }

  /** Lets a gate expire if its time has passed. @returns the gate as it is then */
  async expireIfDue(gate: GateDoc): Promise<GateDoc> {
    const now = this.#clock.now();
    if (gate.status !== "open" || gate.expiresAt === null || gate.expiresAt > now) return gate;
    const closed = await this.#close(gate, expired(gate), { expiresAt: { $lte: now }, revision: gate.revision });
    if (closed) await this.#audit.add(BY_EXPIRY, "gate.expire", gateTarget(gate.jobId, gate.key));
    return closed ?? (await this.#findCurrent({ _id: gate._id })) ?? gate;
  }

  /** Returns whether a job ended so long ago that its open gates are withdrawn. */
  isLongOver({ endedAt }: Pick<JobDoc, "endedAt">): boolean {
    const endedMs = endedAt?.getTime() ?? Number.POSITIVE_INFINITY;
    return endedMs + KEEP_AFTER_END_MS < this.#clock.now().getTime();
  }

  /** Lists open gates whose time has passed, the longest due first. */
  listDue(limit: number): Promise<GateDoc[]> {
    const due = { status: "open" as const, expiresAt: { $lte: this.#clock.now() } };
    return this.collection.find(due, { sort: { expiresAt: 1 }, limit });
  }

  /** Closes an open gate, after its job has it: see the class. @returns null if it has closed since it was read */
  async #close(gate: GateHead, set: Partial<GateDoc>, condition: mongo.Filter<GateDoc> = {}): Promise<GateDoc | null> {
    await this.openGates.complete(gate);
    const query = { ...condition, _id: gate._id, status: "open" as const };
    const closed = await this.collection.findOneAndUpdate(query, { $set: set }, { returnDocument: "after" });
    // The gate is closed whether its job can be updated now or only by the repair.
    if (closed) await this.openGates.remove(closed).catch(() => this.#jobs.notifyChange(closed.jobId));
    return closed;
  }

  /** Deletes gates. */
  async delete(gates: readonly Pick<GateDoc, "_id">[]): Promise<void> {
    if (gates.length === 0) return;
    await this.collection.deleteMany({ _id: { $in: gates.map(({ _id }) => _id) } });
  }

  /** Deletes all gates of deleted jobs. */
  async deleteOf(jobs: readonly Pick<JobDoc, "_id" | "jobId">[]): Promise<void> {
    if (jobs.length === 0) return;
    const query = { jobId: { $in: jobs.map(({ jobId }) => jobId) }, job: { $in: jobs.map(({ _id }) => _id) } };
    await this.collection.deleteMany(query);
  }
}

/**
 * Returns a gate as readers see it. Nobody waits for the answer to an open gate once its job has ended, so that it counts as
 * withdrawn. It is open again when the job is started again. The end of a job costs no further write this way.
 */
export const asReadersSee = ({ status }: Pick<JobDoc, "status">, gate: GateDoc): GateDoc =>
  gate.status === "open" && status !== "running" ? { ...gate, ...withdrawn() } : gate;
