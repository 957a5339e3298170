import type { Database } from "../../src/models/database.ts";
import type { GateDoc } from "../../src/models/gates/gate.ts";
import { findGate, findGateJob } from "../../src/models/gates/readGates.ts";
import { deleteJob } from "../../src/models/retention/deleteJobs.ts";
import { openStores } from "../../src/models/stores.ts";

const WRITES = ["updateOne", "findOneAndUpdate", "deleteMany", "insertOne"];

/**
 * Carries out one action on the gate `publish` of a job, and calls `die` in place of its n-th write, after which nothing of
 * the action goes on. 0 is no write.
 */
export async function actOnGate(
  database: Database,
  action: string,
  jobId: string,
  lastWrite: number,
  die: () => void,
): Promise<void> {
  let left = lastWrite;
  const counted = <T extends object>(collection: T): T =>
    new Proxy(collection, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (!WRITES.includes(String(name)) || --left !== 0) return value.apply(target, args);
          die();
          return new Promise(() => {});
        };
      },
    });
  const { jobs, gates } = database.documents;
  const documents = { ...database.documents, jobs: counted(jobs), gates: counted(gates) };
  const wanted = {
    types: new Set(["gate.opened", "gate.answered", "gate.expired"] as const),
    callbacks: false,
    traces: false,
  };
  const settings = { staleAfterSeconds: 60, wanted };
  const stores = openStores({ documents } as unknown as Database, { now: () => new Date() }, settings);

  const gate = (): Promise<GateDoc> => findGate(stores, jobId, "publish");
  const put = async (title: string) =>
    stores.gates.put(await findGateJob(stores, jobId), "publish", { title }, { actor: "worker", mayAnswer: false });
  const actions: Record<string, () => Promise<unknown>> = {
    open: () => put("Publish?"),
    change: () => put("Publish all?"),
    answer: async () => stores.gates.answer(await gate(), { action: "accept", content: null, answeredBy: "Ann" }),
    withdraw: async () => stores.gates.withdraw(await gate()),
    expire: gate,
    delete: () => deleteJob(stores, jobId),
  };
  await actions[action]?.();
}
