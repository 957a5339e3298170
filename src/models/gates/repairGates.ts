import type { ScanBatch } from "../db/lease.ts";
import type { GateStores } from "./gateStores.ts";
import type { GateHead } from "./openGates.ts";

/** Maximum records that one command reads or deletes. */
const BATCH_SIZE = 500;

/**
 * Lets gates expire whose time has passed.
 * @returns the number of gates that were due
 */
export async function expireGates({ gates }: GateStores): Promise<number> {
  for (let total = 0; ; ) {
    const due = await gates.listDue(BATCH_SIZE);
    await Promise.all(due.map((gate) => gates.expireIfDue(gate)));
    total += due.length;
    if (due.length < BATCH_SIZE) return total;
  }
}

/**
 * Corrects what a process left behind that died between the writes of a gate and of its job: an open gate that its job does
 * not wait for, a closed one that it still waits for, and an open one whose job was deleted. Also withdraws the open gates
 * of jobs that ended a day ago. Gates that have changed since a time are left to the processes that change them.
 * @returns the number of corrections
 */
export async function repairGates(stores: GateStores, before?: Date): Promise<number> {
  return (await repairOpenGates(stores, before)) + (await repairWaitingJobs(stores));
}

async function repairOpenGates({ gates, jobs }: GateStores, before: Date | undefined): Promise<number> {
  let corrections = 0;
  const open = { status: "open" as const, ...(before && { createdAt: { $lt: before } }) };
  const options = { projection: { job: 1, jobId: 1 } };
  for await (const batch of gates.collection.inBatches<GateHead>(BATCH_SIZE, open, options)) {
    const ids = { _id: { $in: batch.map(({ job }) => job) } };
    const found = await jobs.collection.find(ids, { projection: { openGates: 1, endedAt: 1 } });
    const byId = new Map(found.map((job) => [job._id.toHexString(), job]));
    for (const gate of batch) {
      const job = byId.get(gate.job.toHexString());
      const isOver = job !== undefined && gates.isLongOver(job);
      if (!isOver && job?.openGates?.some(({ gateId }) => gateId === gate._id)) continue;
      if (isOver) corrections += (await gates.withdraw(gate)) ? 1 : 0;
      else {
        const outcome = await gates.openGates.complete(gate);
        if (outcome !== "unchanged") corrections++;
        if (outcome === "no job") await gates.delete([gate]);
      }
    }
  }
  return corrections;
}

async function repairWaitingJobs({ gates, jobs }: GateStores): Promise<number> {
  let corrections = 0;
  const waiting = { "openGates.gateId": { $exists: true } };
  const options = { projection: { jobId: 1, openGates: 1 } };
  for await (const batch of jobs.collection.inBatches(BATCH_SIZE, waiting, options)) {
    const entries = batch.flatMap(({ _id: job, jobId, openGates = [] }) =>
      openGates.map(({ gateId }) => ({ _id: gateId, job, jobId })),
    );
    const ids = { _id: { $in: entries.map(({ _id }) => _id) } };
    const open = await gates.collection.find({ ...ids, status: "open" }, { projection: { _id: 1 } });
    const isOpen = new Set(open.map(({ _id }) => _id));
    for (const { _id, job, jobId } of entries.filter((entry) => !isOpen.has(entry._id))) {
      const [gate] = await gates.collection.find({ _id });
      corrections++;
      await (gate ? gates.openGates.remove(gate) : gates.openGates.forget(_id, { _id: job, jobId }));
    }
  }
  return corrections;
}

/**
 * Deletes gates whose job no longer exists. A process that dies while it deletes a job leaves them.
 * @param from the gate at which an earlier scan stopped
 * @yields the number of deleted gates after each batch
 */
export async function* deleteUnusedGates({ gates }: GateStores, from = ""): AsyncGenerator<ScanBatch<string>, void> {
  for (let after = from; ; ) {
    const query = { _id: { $gt: after } };
    const batch = await gates.collection.find(query, { projection: { job: 1 }, sort: { _id: 1 }, limit: BATCH_SIZE });
    const last = batch.at(-1);
    if (!last) return;
    after = last._id;
    const used = new Set((await gates.withJobs(batch)).map(({ _id }) => _id));
    const unused = batch.filter(({ _id }) => !used.has(_id));
    await gates.delete(unused);
    yield { deleted: unused.length, after };
  }
}
