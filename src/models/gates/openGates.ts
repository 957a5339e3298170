import type { Clock } from "../../shared/clock.ts";
import type { Gate } from "../../wire/gate.ts";
import type { Documents } from "../db/documents.ts";
import type { JobDoc } from "../jobs/job.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { appendNotes, type Note } from "../notes/note.ts";
import { returnFields, wakesOn } from "../notes/returnTo.ts";
import type { WantedNotifications } from "../notes/wantedNotifications.ts";
import { BY_BUDGET, type GateDoc, viewGate } from "./gate.ts";
import { MAX_OPEN_GATES } from "./gateErrors.ts";

/** The fields that name a gate and its job. */
export type GateHead = Pick<GateDoc, "_id" | "job" | "jobId">;

type JobHead = Pick<JobDoc, "_id" | "jobId">;

/** The field `openGates` of jobs: the gates that a job waits for. The events of a gate are noted in the same updates. */
export class OpenGates {
  readonly #collection: Documents<GateDoc>;
  readonly #jobs: Jobs;
  readonly #clock: Clock;

  constructor(collection: Documents<GateDoc>, jobs: Jobs, clock: Clock) {
    this.#collection = collection;
    this.#jobs = jobs;
    this.#clock = clock;
  }

  /**
   * Adds an open gate to its job if the process that opened it died before it did. Once the gate is closed, nothing shows
   * that its events are missing. The gate is read after the job: one that is open then was never removed from the job.
   */
  async complete({ _id, job, jobId }: GateHead): Promise<"added" | "no job" | "unchanged"> {
    const projection = { "openGates.gateId": 1 };
    const found = await this.#jobs.collection.findOne<Pick<JobDoc, "openGates">>({ _id: job, jobId }, { projection });
    if (!found) return "no job";
    if (found.openGates?.some(({ gateId }) => gateId === _id)) return "unchanged";
    const gate = await this.#collection.findOne({ _id });
    if (gate?.status !== "open") return "unchanged";
    return (await this.add(gate)) ? "added" : "no job";
  }

  /**
   * Adds an open gate to those that its job waits for, and notes the event in the same update.
   * @returns false if the job was deleted, or has `MAX_OPEN_GATES` others
   */
  async add(gate: GateDoc): Promise<boolean> {
    const { _id: gateId, job, jobId, key } = gate;
    const current = { $ifNull: ["$openGates", []] };
    const added = { $concatArrays: [current, [{ $literal: { gateId, key } }]] };
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

  /** Removes a closed gate from those that its job waits for, and notes the event in the same update. */
  async remove(gate: GateDoc): Promise<void> {
    const { _id: gateId, job, jobId } = gate;
    const note = gateNote(gate, this.#jobs.wanted, this.#clock.now());
    await this.#remove(gateId, { _id: job, jobId }, note);
    if (note.notes) this.#jobs.noted();
  }

  /** Removes a gate that no longer exists from those that its job waits for. */
  forget(gateId: string, job: JobHead): Promise<void> {
    return this.#remove(gateId, job, {});
  }

  async #remove(gateId: string, { _id, jobId }: JobHead, note: object): Promise<void> {
    const rest = { $filter: { input: "$openGates", cond: { $ne: ["$$this.gateId", gateId] } } };
    await this.#jobs.updateGates(
      { _id, jobId, "openGates.gateId": gateId },
      { openGates: rest, resumedAt: this.#clock.now(), ...note },
    );
    this.#jobs.notifyChange(jobId);
  }
}

/** Maximum characters of a form or an answer in a note. Receivers read a longer one from the API. */
const MAX_FREE_CHARS = 4_000;
/** Maximum characters of a message in a note, so that all notes of a job take far less than a MiB. */
const MAX_MESSAGE_CHARS = 4_000;

/**
 * Returns the fields that note a transition of a gate in the job's update that follows it: for the rules, and for the session
 * that the job wakes or the runs that wait when the gate is decided. They are empty if nobody wants the notification. The update is made exactly once for each transition, after a crash by the repair, so that the notification is
 * neither lost nor repeated.
 * @param at when the job's update is made
 */
function gateNote(gate: GateDoc, { types }: WantedNotifications, at: Date): { readonly notes?: object } {
  const type = TYPES[gate.status];
  const mayWake = gate.status === "answered" || gate.status === "expired";
  if (type === undefined || !(types.has(type) || mayWake)) return {};
  // A gate opens once and closes once.
  const note: Note = { id: `${gate._id}-${gate.status}`, type, at, gate: { ...snapshot(gate) } };
  const added = appendNotes([{ $mergeObjects: [{ $literal: note }, mayWake ? returnFields("gate") : {}] }]);
  return {
    notes: types.has(type) || gate.openedBy === BY_BUDGET ? added : { $cond: [wakesOn("gate"), added, "$notes"] },
  };
}

const TYPES = {
  open: "gate.opened",
  answered: "gate.answered",
  expired: "gate.expired",
  withdrawn: undefined,
} as const;

/** Returns the gate as clients read it, without a form or an answer that is too long for a note. */
function snapshot(gate: GateDoc): Gate {
  const { requestedSchema, content, message } = gate;
  const short = (text: string | null) => (text !== null && text.length > MAX_FREE_CHARS ? null : text);
  return viewGate({
    ...gate,
    requestedSchema: short(requestedSchema),
    content: short(content),
    message: message?.slice(0, MAX_MESSAGE_CHARS).toWellFormed() ?? null,
  });
}
