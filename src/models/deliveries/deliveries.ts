import type { mongo } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import type { Documents } from "../db/documents.ts";
import { BatchInserter } from "../db/insertAll.ts";
import { isHeld, RecordLease } from "../db/lease.ts";
import { Store } from "../db/store.ts";
import type { NoteNotifier } from "../notes/note.ts";
import type { NoteOptions } from "../notes/wantedNotifications.ts";
import {
  AS_READ,
  type AttemptCounts,
  type DeliveryChange,
  type DeliveryDoc,
  type DueDelivery,
  type NewDelivery,
  type PartChange,
  type ReadDelivery,
  type SentRefs,
} from "./delivery.ts";
import { listDue } from "./dueDeliveries.ts";
import { failureNote } from "./failureNote.ts";
import { laneOf, newDeliveryDoc } from "./newDelivery.ts";

export class Deliveries extends Store<DeliveryDoc> {
  readonly #inserter = new BatchInserter(
    this.collection,
    ({ text, webhook }) => 1_000 + text.length + (webhook?.body.length ?? 0),
  );
  readonly #lease = new RecordLease(this.collection, "lease", { open: true });
  readonly #changes: ChangeNotifier;
  readonly #notes: NoteNotifier;
  /** Whether failures are noted. */
  readonly #notesFailures: boolean;

  constructor(collection: Documents<DeliveryDoc>, clock: Clock, { changes, notes, wanted }: NoteOptions) {
    super(collection, clock);
    this.#notes = notes;
    this.#notesFailures = wanted.types.has("delivery.failed");
    this.#changes = changes;
  }

  #notify(id: string): void {
    this.#changes.notify({ kind: "delivery", id });
  }

  /**
   * Creates a delivery. One that exists already stays unchanged.
   * @returns whether it is new
   * @throws AppError unavailable, body_too_large
   */
  async add(delivery: NewDelivery): Promise<boolean> {
    const doc = newDeliveryDoc(delivery, this.clock.now(), { notesFailure: this.#notesFailures });
    const inserted = await this.#inserter.add([doc]);
    this.#notify(doc._id);
    if (doc.notes && inserted > 0) this.#notes.noted();
    return inserted > 0;
  }

  /** Reads a delivery. @throws AppError delivery_not_found, unavailable */
  async find(deliveryId: string): Promise<DeliveryDoc> {
    const found = await this.collection.findOne({ _id: deliveryId });
    if (found) return found;
    throw new AppError("delivery_not_found", { detail: `There is no delivery ${JSON.stringify(deliveryId)}.` });
  }

  /** Reads the deliveries of runs for clients, the oldest first. */
  findOfRuns(runIds: readonly string[]): Promise<ReadDelivery[]> {
    const ofRuns = { runId: { $in: [...runIds] } };
    return this.collection.find<ReadDelivery>(ofRuns, { projection: AS_READ, sort: { createdAt: 1 } });
  }

  /** Reads the newest deliveries of a rule for clients. */
  findLatestOfRule(rule: string, limit: number): Promise<ReadDelivery[]> {
    const newest = { projection: AS_READ, sort: { createdAt: -1, _id: -1 }, limit } as const;
    return this.collection.find<ReadDelivery>({ "event.rule": rule }, newest);
  }

  /** Reads deliveries for clients. */
  findMany(deliveryIds: readonly string[]): Promise<ReadDelivery[]> {
    const query = { _id: { $in: [...deliveryIds] } };
    return this.collection.find<ReadDelivery>(query, { projection: AS_READ });
  }

  /** Returns the first pending delivery of a lane. */
  findNext(lane: string): Promise<Pick<DeliveryDoc, "_id" | "channel"> | null> {
    const options = { sort: { order: 1 }, projection: { _id: 1, channel: 1 } } as const;
    return this.collection.findOne({ open: true, lane }, options);
  }

  /**
   * Acquires a delivery that no worker holds. If the lease of a worker has expired, that counts as a failed attempt. Unlike other
   * leases, it is not acquired again under the same token after a lost response, because the attempt would count twice.
   * @returns null if the delivery has ended, is held, or is to be retried later
   */
  acquire(deliveryId: string, token: string, until: Date): Promise<DeliveryDoc | null> {
    const now = this.clock.now();
    const free = {
      $and: [this.#lease.free(now), { $or: [{ notBefore: null }, { notBefore: { $lte: now } }] }],
    };
    const isTakenOver = { $gt: ["$lease", null] };
    const change = {
      lease: { token, until, isTakenOver },
      notBefore: null,
      failures: { $add: ["$failures", { $cond: [isTakenOver, 1, 0] }] },
    };
    return this.collection.findOneAndUpdate({ _id: deliveryId, open: true, ...free }, [{ $set: change }], {
      returnDocument: "after",
    });
  }

  /** Renews the lease. @returns false if the worker no longer holds the delivery */
  renew(deliveryId: string, token: string, until: Date): Promise<boolean> {
    return this.#lease.renew(deliveryId, { token, until });
  }

  /** Updates a delivery. @returns false if the worker no longer holds it */
  update(deliveryId: string, token: string, change: DeliveryChange): Promise<boolean> {
    return this.#changeAndNotify(deliveryId, token, change);
  }

  /**
   * Updates a delivery and one of its parts, without rewriting the others.
   * @param refs names that answers use for the message that was sent
   * @returns false if the worker no longer holds it
   */
  updatePart(
    deliveryId: string,
    token: string,
    index: number,
    part: PartChange,
    change: DeliveryChange,
    refs: SentRefs = {},
  ): Promise<boolean> {
    const ofPart = Object.entries(part).map(([field, value]) => [`parts.${index}.${field}`, value]);
    const added = Object.entries(refs).map(([field, names]) => [field, { $each: [...names] }]);
    const more = added.length > 0 ? { $addToSet: Object.fromEntries(added) } : {};
    return this.#changeAndNotify(deliveryId, token, { ...change, ...Object.fromEntries(ofPart) }, more);
  }

  /** Releases a delivery for another attempt at a time. @returns false if the worker no longer holds it */
  retryLater(deliveryId: string, token: string, notBefore: Date | null, change: DeliveryChange = {}): Promise<boolean> {
    return this.#changeAndNotify(deliveryId, token, { ...change, lease: null, notBefore });
  }

  /**
   * Ends a delivery. The texts of sent parts are deleted, since the whole text stays.
   * @param counted the counts of a webhook's last attempt
   * @returns false if the worker no longer holds the delivery
   */
  async end(
    deliveryId: string,
    token: string,
    state: "sent" | "failed",
    reason: string | null,
    counted: AttemptCounts = {},
  ): Promise<boolean> {
    const endedAt = this.clock.now();
    const texts = { "parts.$[].text": "", "parts.$[].plain": "" };
    const sent = { state, reason, endedAt, open: false, lease: null, sentAt: endedAt, ...texts, ...counted };
    const isOurs =
      state === "sent"
        ? await this.#lease.updateHeld(deliveryId, token, sent)
        : (await this.#failAndNote(this.#lease.heldUnder(deliveryId, token), reason ?? "", counted)) > 0;
    if (isOurs) this.#notify(deliveryId);
    if (isOurs && state === "failed" && this.#notesFailures) this.#notes.noted();
    if (isOurs) return true;
    // An earlier attempt of this update may have ended it so, and its response was lost.
    return this.collection.exists({ _id: deliveryId, state, reason, open: false });
  }

  async #changeAndNotify(deliveryId: string, token: string, set: object, more?: object): Promise<boolean> {
    const changed = await this.#lease.updateHeld(deliveryId, token, set, more);
    if (changed) this.#notify(deliveryId);
    return changed;
  }

  /**
   * Queues a failed delivery again, or makes a waiting one due at once. Parts that were sent are not sent again. If no part
   * can have been sent, a failed delivery is split again, because the configuration of the channel may have changed.
   * @param to the recipient of a delivery that had none
   * @throws AppError delivery_not_found, delivery_state_conflict, unavailable
   */
  async retry(deliveryId: string, to: string | null): Promise<DeliveryDoc> {
    for (;;) {
      const { channel, sessionKey, kind, event, parts, state, lease, since, order } = await this.find(deliveryId);
      const now = this.clock.now();
      if (state === "sent") throw conflict("The delivery was already sent.");
      if (isHeld(lease, now)) throw conflict("The delivery is being sent right now. Try again in a few seconds.");
      const isUntouched = parts.every((part) => part.state !== "sent" && part.handedAt === null);
      const restarted = {
        state: "pending" as const,
        open: true,
        reason: null,
        endedAt: null,
        to,
        lane: laneOf({ _id: deliveryId, sessionKey, kind, channel, to, event }),
        ...(isUntouched && { parts: [] }),
      };
      // A failed delivery goes behind those that wait for the recipient by now.
      const change = {
        $set: {
          failures: 0,
          limits: 0,
          notBefore: null,
          lease: null,
          since: now,
          ...(state === "failed" && restarted),
        },
        $unset: { channelStop: "" as const },
        ...(state === "failed" && { $currentDate: { order: { $type: "timestamp" as const } } }),
      };
      // Matches the state that was read: another caller may retry the delivery meanwhile, and a worker send some of it.
      const asRead = { _id: deliveryId, state, since, order, ...this.#lease.free(now) };
      const found = await this.collection.findOneAndUpdate(asRead, change, { returnDocument: "after" });
      if (found) this.#notify(deliveryId);
      if (found) return found;
    }
  }

  /**
   * Cancels a delivery that was not sent completely. A part that is being sent at that moment may still arrive.
   * @throws AppError delivery_not_found, delivery_state_conflict, unavailable
   */
  async cancel(deliveryId: string): Promise<DeliveryDoc> {
    const change = { $set: this.#failedWith("It was cancelled.") };
    const found = await this.collection.findOneAndUpdate({ _id: deliveryId, open: true }, change, {
      returnDocument: "after",
    });
    if (found) this.#notify(deliveryId);
    if (found) return found;
    const { state } = await this.find(deliveryId);
    throw conflict(`The delivery has already ended: its state is ${state}.`);
  }

  /** Fails all waiting deliveries to a recipient. @returns their number */
  async failAllTo({ channel, to }: Pick<DeliveryDoc, "channel" | "to">, reason: string): Promise<number> {
    return this.#failAll({ open: true, state: "pending", channel, to, ...this.#lease.free(this.clock.now()) }, reason);
  }

  /**
   * Fails all deliveries on channels without a worker that have waited since before a time, also those to be retried later.
   * @returns their number for each such channel
   */
  async failUnserved(
    served: ReadonlySet<string>,
    before: Date,
    reasonOf: (channel: string) => string,
  ): Promise<{ channel: string; count: number }[]> {
    const waiting = { open: true, since: { $lt: before }, ...this.#lease.free(this.clock.now()) };
    const unserved = { ...waiting, channel: { $nin: [...served] } };
    const channels = await this.collection.distinct("channel", unserved);
    const fail = (channel: string) => this.#failAll({ ...waiting, channel }, reasonOf(channel));
    return Promise.all(channels.map(async (channel) => ({ channel, count: await fail(channel) })));
  }

  async #failAll(waiting: mongo.Filter<DeliveryDoc>, reason: string): Promise<number> {
    const modifiedCount = await this.#failAndNote(waiting, reason);
    if (modifiedCount > 0) this.#changes.notify({ kind: "many" });
    return modifiedCount;
  }

  /** Fails deliveries, and notes it if somebody wants it. The scan dispatches the notes of many. @returns their number */
  async #failAndNote(waiting: mongo.Filter<DeliveryDoc>, reason: string, counted: AttemptCounts = {}): Promise<number> {
    const failed = this.#failedWith(reason);
    const note = this.#notesFailures ? { notes: failureNote(reason, failed.endedAt) } : {};
    const change = [{ $set: { ...failed, reason: { $literal: reason }, ...counted, ...note } }];
    return (await this.collection.updateMany(waiting, change)).modifiedCount;
  }

  /** Deletes the deliveries that match a query. @returns their number */
  async delete(query: mongo.Filter<DeliveryDoc>): Promise<number> {
    const { deletedCount } = await this.collection.deleteMany(query);
    if (deletedCount > 0) this.#changes.notify({ kind: "many" });
    return deletedCount;
  }

  #failedWith(reason: string) {
    const endedAt = this.clock.now();
    return { state: "failed" as const, open: false, lease: null, notBefore: null, reason, endedAt };
  }

  /** Lists the next delivery of each lane that has waited since before a time, or whose worker's lease has expired. */
  listDue(now: Date, before: Date): AsyncIterable<DueDelivery> {
    return listDue(this.collection, this.#lease.free(now), now, before);
  }
}

const conflict = (detail: string) => new AppError("delivery_state_conflict", { detail });
