/**
 * Carries out one action on a gate, and dies by SIGKILL right before its n-th write.
 * Arguments: the database's URI, the action, the jobId, the number of the write.
 */
import { connectDatabase } from "../../../src/models/db/database.ts";
import type { GateDoc } from "../../../src/models/gates/gate.ts";
import { findGate, findGateJob } from "../../../src/models/gates/readGates.ts";
import { deleteJob } from "../../../src/models/jobs/deleteJobs.ts";
import { openStores } from "../../../src/models/stores.ts";

const [uri = "", action = "", jobId = "", last = ""] = process.argv.slice(2);
let left = Number(last);

/** Counts the writes of a collection, and dies before the last one. */
const counted = <T extends object>(collection: T): T =>
  new Proxy(collection, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const isWrite = ["updateOne", "findOneAndUpdate", "deleteMany", "insertOne"].includes(String(name));
        if (isWrite && --left === 0) process.kill(process.pid, "SIGKILL");
        return value.apply(target, args);
      };
    },
  });

const database = await connectDatabase(uri);
const collections = { ...database.collections };
collections.jobs = counted(collections.jobs);
collections.gates = counted(collections.gates);
const clock = { now: () => new Date() };
const wanted = { types: new Set(["gate.opened", "gate.answered", "gate.expired"] as const), callbacks: false };
const stores = openStores({ collections } as unknown as typeof database, clock, { staleAfterSeconds: 60, wanted });

const gate = (): Promise<GateDoc> => findGate(stores, jobId, "publish");
const ACTIONS: Record<string, () => Promise<unknown>> = {
  open: async () => stores.gates.put(await findGateJob(stores, jobId), "publish", { title: "Publish?" }),
  change: async () => stores.gates.put(await findGateJob(stores, jobId), "publish", { title: "Publish all?" }),
  answer: async () => stores.gates.answer(await gate(), { action: "accept", content: null, answeredBy: "Ann" }),
  withdraw: async () => stores.gates.withdraw(await gate()),
  expire: gate,
  delete: () => deleteJob(stores, jobId),
};
await ACTIONS[action]?.();
await database.close();
