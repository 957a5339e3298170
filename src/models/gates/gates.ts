import { randomUUID } from "node:crypto";
import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { AuditLog } from "../audit.ts";
import type { Documents } from "../db/documents.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { type Action, type GateDoc, viewGate } from "./gate.ts";
import { gateNote } from "./gateNotes.ts";
import { answered, expired, type GateAnswer, opened, withdrawn } from "./transitions.ts";

/** The question of a gate. A missing field stays as it is when an open gate is changed. */
export interface Question {
  readonly title: string;
  readonly message?: string | null;
  /** JSON text. */
  readonly requestedSchema?: string | null;
  readonly expiresAt?: Date | null;
  readonly onExpiry?: Action;
}

/** The job of a gate. */
export type GateJob = Pick<JobDoc, "_id" | "jobId" | "openGates" | "status" | "cancel">;

/** What names a gate and its job. */
export type GateHead = Pick<GateDoc, "_id" | "job" | "jobId">;

/** How long the open gates of an ended job stay, so that they are asked again if the job is started again: one day. */
const KEEP_AFTER_END_MS = 86_400_000;

/** Maximum open gates of one job: nobody reads more questions, and the job's document names them. */
export const MAX_OPEN_GATES = 100;

/** Who lets a gate expire: no request does. */
const BY_EXPIRY = { actor: "expiry", address: "", requestId: "" };

const literal = (value: unknown) => ({ $literal: value });

/**
 * The gates of all jobs. A gate is the record; `openGates` of its job follows it. Every method writes the gate first and the job
 * second, and `repairGates` corrects a job that a process left behind when it died between the two writes. A gate is closed only
 * after its job has it, so that both events of the gate are noted.
 */
export class Gates {
  readonly collection: Documents<GateDoc>;
  readonly #jobs: Jobs;
  readonly #clock: Clock;
  readonly #audit: Pick<AuditLog, "add">;

  constructor(
    collection: Documents<GateDoc>,
    jobs: Jobs,
    { clock, audit }: { readonly clock: Clock; readonly audit: Pick<AuditLog, "add"> },
  ) {
    this.collection = collection;
    this.#jobs = jobs;
    this.#clock = clock;
    this.#audit = audit;
  }

  /** Finds a gate of a job; null if there is none. A gate whose time has passed expires first. @throws AppError unavailable */
  find({ _id: job, jobId }: Pick<GateJob, "_id" | "jobId">, key: string): Promise<GateDoc | null> {
    return this.#findCurrent({ jobId, job, key });
  }

  /** Finds a gate by its gateId. @returns null if there is none, or its job was deleted @throws AppError unavailable */
  async findById(gateId: string): Promise<GateDoc | null> {
    const gate = await this.#findCurrent({ _id: gateId });
    return (gate && (await this.withJobs([gate]))[0]) ?? null;
  }

  async #findCurrent(query: mongo.Filter<GateDoc>): Promise<GateDoc | null> {
    const gate = await this.collection.findOne(query);
    return gate && this.expireIfDue(gate);
  }

  /**
   * Returns the gates whose job exists, as readers see them. The others await their deletion after a crash.
   * @throws AppError unavailable
   */
  async withJobs(gates: readonly GateDoc[]): Promise<GateDoc[]> {
    const ids = { _id: { $in: gates.map(({ job }) => job) } };
    const found = await this.#jobs.collection.find(ids, { projection: { status: 1 } });
    const byId = new Map(found.map((job) => [job._id.toHexString(), job]));
    return gates.flatMap((gate) => {
      const job = byId.get(gate.job.toHexString());
      return job ? [seenWith(job, gate)] : [];
    });
  }

  /**
   * Opens a gate, or changes the question of an open one.
   * @throws AppError gate_answered, gate_closed, too_many_gates, job_not_found if the job is deleted meanwhile, unavailable
   */
  async put(job: GateJob, key: string, question: Question): Promise<{ created: boolean; gate: GateDoc }> {
    const { created, gate } = await this.#write(job, key, question);
    const isLinked = (job.openGates ?? []).some(({ gateId }) => gateId === gate._id);
    if (isLinked) this.#jobs.notifyChange(job.jobId);
    else if (!(await this.addToJob(gate))) {
      await this.delete([gate]);
      await this.#jobs.findId(job.jobId); // throws if the job was deleted
      throw tooManyGates();
    }
    return { created, gate };
  }

  async #write(job: GateJob, key: string, question: Question): Promise<{ created: boolean; gate: GateDoc }> {
    const query = { jobId: job.jobId, job: job._id, key, status: "open" } as const;
    const fresh = opened({ _id: randomUUID(), jobId: job.jobId, job: job._id, key }, this.#clock.now());
    const given = Object.entries(question).filter(([, value]) => value !== undefined);
    const set = {
      ...Object.fromEntries(Object.entries(NO_QUESTION).map(([field, value]) => [field, or(field, value)])),
      ...Object.fromEntries(given.map(([field, value]) => [field, literal(value)])),
      ...Object.fromEntries(Object.entries(fresh).map(([field, value]) => [field, or(field, value)])),
      revision: { $add: [{ $ifNull: ["$revision", 0] }, { $cond: [isOtherQuestion(question), 1, 0] }] },
    };
    const options = { upsert: true, returnDocument: "after" } as const;
    for (;;) {
      try {
        const gate = await this.collection.findOneAndUpdate(query, [{ $set: set }], options);
        if (!gate) throw new Error("an upsert returned no document");
        return { created: gate._id === fresh._id, gate };
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
      // The gate exists and is closed, or a concurrent request has just opened it.
      const existing = await this.find(job, key);
      if (existing && existing.status !== "open") throw gateClosed(existing);
    }
  }

  /**
   * Answers an open gate. Of concurrent answers exactly one is recorded.
   * @param gate the gate whose question was answered
   * @returns the answered gate; null if the gate has closed, or its question has changed, since it was read
   * @throws AppError unavailable
   */
  answer(gate: GateDoc, answer: GateAnswer): Promise<GateDoc | null> {
    const now = this.#clock.now();
    const isInTime = { $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
    return this.#close(gate, answered(answer, now), { revision: gate.revision, ...isInTime });
  }

  /** Withdraws an open gate. @returns null if it has closed since it was read @throws AppError unavailable */
  withdraw(gate: GateHead): Promise<GateDoc | null> {
    return this.#close(gate, withdrawn());
  }

  /** Lets a gate expire if its time has passed. @returns the gate as it is then @throws AppError unavailable */
  async expireIfDue(gate: GateDoc): Promise<GateDoc> {
    const now = this.#clock.now();
    if (gate.status !== "open" || gate.expiresAt === null || gate.expiresAt > now) return gate;
    const closed = await this.#close(gate, expired(gate), { expiresAt: { $lte: now }, onExpiry: gate.onExpiry });
    if (closed) await this.#audit.add(BY_EXPIRY, "gate.expire", `${gate.jobId}/${gate.key}`);
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

  async #close(gate: GateHead, set: Partial<GateDoc>, condition: mongo.Filter<GateDoc> = {}): Promise<GateDoc | null> {
    await this.completeOpening(gate);
    const query = { ...condition, _id: gate._id, status: "open" as const };
    const closed = await this.collection.findOneAndUpdate(query, { $set: set }, { returnDocument: "after" });
    // The gate is closed whether its job can be updated now or only by the repair.
    if (closed) await this.removeFromJob(closed).catch(() => this.#jobs.notifyChange(closed.jobId));
    return closed;
  }

  /**
   * Adds an open gate to its job if the process that opened it died before it did. Once the gate is closed, nothing shows
   * that its events are missing. The gate is read after the job: one that is open then was never removed from the job.
   * @throws AppError unavailable
   */
  async completeOpening({ _id, job, jobId }: GateHead): Promise<"added" | "no job" | "unchanged"> {
    const projection = { "openGates.gateId": 1 };
    const found = await this.#jobs.collection.findOne<Pick<JobDoc, "openGates">>({ _id: job, jobId }, { projection });
    if (!found) return "no job";
    if (found.openGates?.some(({ gateId }) => gateId === _id)) return "unchanged";
    const gate = await this.collection.findOne({ _id });
    if (gate?.status !== "open") return "unchanged";
    return (await this.addToJob(gate)) ? "added" : "no job";
  }

  /**
   * Adds an open gate to those that its job waits for, and notes the event in the same update.
   * @returns false if the job was deleted, or has `MAX_OPEN_GATES` others
   * @throws AppError unavailable
   */
  async addToJob(gate: GateDoc): Promise<boolean> {
    const { _id: gateId, job, jobId, key } = gate;
    const current = { $ifNull: ["$openGates", []] };
    const added = { $concatArrays: [current, [literal({ gateId, key })]] };
    const isThere = { $in: [gateId, { $ifNull: ["$openGates.gateId", []] }] };
    const { notes } = gateNote(gate, this.#jobs.wanted, this.#clock.now());
    const set = {
      openGates: { $cond: [isThere, current, added] },
      ...(notes && { notes: { $cond: [isThere, "$notes", notes] } }),
    };
    const hasRoom = [{ "openGates.gateId": gateId }, { [`openGates.${MAX_OPEN_GATES - 1}`]: { $exists: false } }];
    const isAdded = await this.#jobs.updateGates({ _id: job, jobId, $or: hasRoom }, set);
    this.#jobs.notifyChange(jobId);
    if (notes && isAdded) this.#jobs.noted();
    return isAdded;
  }

  /**
   * Removes a closed gate from those that its job waits for, and notes the event in the same update.
   * @throws AppError unavailable
   */
  async removeFromJob(gate: GateDoc): Promise<void> {
    const { _id: gateId, job, jobId } = gate;
    const note = gateNote(gate, this.#jobs.wanted, this.#clock.now());
    await this.#remove(gateId, { _id: job, jobId }, note);
    if (note.notes) this.#jobs.noted();
  }

  /** Removes a gate that no longer exists from those that its job waits for. @throws AppError unavailable */
  forgetInJob(gateId: string, job: Pick<GateJob, "_id" | "jobId">): Promise<void> {
    return this.#remove(gateId, job, {});
  }

  async #remove(gateId: string, { _id, jobId }: Pick<GateJob, "_id" | "jobId">, note: object): Promise<void> {
    const rest = { $filter: { input: "$openGates", cond: { $ne: ["$$this.gateId", gateId] } } };
    await this.#jobs.updateGates(
      { _id, jobId, "openGates.gateId": gateId },
      { openGates: rest, resumedAt: this.#clock.now(), ...note },
    );
    this.#jobs.notifyChange(jobId);
  }

  /** Deletes gates of deleted jobs. @throws AppError unavailable */
  async delete(gates: readonly Pick<GateDoc, "_id">[]): Promise<void> {
    if (gates.length === 0) return;
    await this.collection.deleteMany({ _id: { $in: gates.map(({ _id }) => _id) } });
  }

  /** Deletes all gates of deleted jobs. @throws AppError unavailable */
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
export const seenWith = ({ status }: Pick<JobDoc, "status">, gate: GateDoc): GateDoc =>
  gate.status === "open" && status !== "running" ? { ...gate, ...withdrawn() } : gate;

/** The question of a new gate without optional fields. */
const NO_QUESTION = { message: null, requestedSchema: null, expiresAt: null, onExpiry: "decline" } as const;

const or = (field: string, fallback: unknown) => ({ $ifNull: [`$${field}`, literal(fallback)] });

/** The expression for whether a question differs from the stored one in what a person answers, or what silence means. */
function isOtherQuestion(question: Question): mongo.Document {
  const fields = (["title", "message", "requestedSchema", "expiresAt", "onExpiry"] as const).filter(
    (field) => question[field] !== undefined,
  );
  return { $or: fields.map((field) => ({ $ne: [`$${field}`, literal(question[field])] })) };
}

/** Returns the error of an action that needs an open gate. Its body has the gate. */
export function gateClosed(gate: GateDoc): AppError {
  const name = `The gate ${JSON.stringify(gate.key)}`;
  const body = { gate: viewGate(gate) };
  if (gate.status === "answered") {
    const detail = `${name} was answered by ${JSON.stringify(gate.answeredBy)}. The first answer counts.`;
    return new AppError("gate_answered", { detail, body });
  }
  return new AppError("gate_closed", { detail: `${name} is ${gate.status} and can no longer be used.`, body });
}

/** Returns the error of an answer to a question that has changed since it was shown. */
export const gateChanged = (gate: GateDoc) =>
  new AppError("gate_changed", {
    detail: `The question of the gate ${JSON.stringify(gate.key)} has changed since it was shown. Read it again.`,
    body: { gate: viewGate(gate) },
  });

/** Returns the error of a gate that a job has no room for. */
export const tooManyGates = () =>
  new AppError("too_many_gates", {
    detail: `The job has ${MAX_OPEN_GATES} open gates, which is the maximum. Wait for answers, or withdraw some.`,
  });

/** Returns the error of a gate that does not exist. */
export function gateNotFound(jobId: string, key: string): AppError {
  const detail = `The job ${JSON.stringify(jobId)} has no gate ${JSON.stringify(key)}.`;
  return new AppError("gate_not_found", { detail });
}
