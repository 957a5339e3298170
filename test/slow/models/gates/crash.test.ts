import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "chai";
import { deleteUnusedGates, repairGates } from "../../../../src/models/gates/repairGates.ts";
import { createJob } from "../../../support/factories.ts";
import { actOnGate } from "../../../support/gateActions.ts";
import { toWebhook } from "../../../support/notifyFixture.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const PROCESS = join(import.meta.dirname, "..", "..", "..", "support", "processes", "gates.ts");

const CONFIG = JSON.stringify({
  notify: [{ id: "all", on: ["gate.opened", "gate.answered", "gate.expired"], to: toWebhook() }],
});

/** The greatest number of writes that an action makes, and one more. */
const WRITES = 4;

describe("gates after kill -9", function () {
  this.timeout(300_000); // It kills a process at each write.
  const app = useSharedApp({ config: CONFIG });

  /** Acts in a process of its own. Returns the signal that ended it, or null if it carried out the action. */
  async function actInProcess(action: string, jobId: string, write: number): Promise<string | null> {
    const { PATH = "", NODE_COMPILE_CACHE = "" } = process.env;
    const child = spawn(process.execPath, [PROCESS, app.mongoUri, action, jobId, String(write)], {
      env: { PATH, NODE_COMPILE_CACHE },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [code, signal] = await once(child, "exit");
    if (signal === null) expect(code).to.equal(0);
    return signal;
  }

  /** Acts in this process, without anything after the given write, as if the process was killed there. */
  async function act(action: string, jobId: string, write = 0): Promise<void> {
    const died = Promise.withResolvers<void>();
    await Promise.race([actOnGate(app.database, action, jobId, write, died.resolve), died.promise]);
  }

  /** Repairs, and checks that a second repair finds nothing and that job and gates agree. */
  async function expectRepaired(jobId: string): Promise<void> {
    await repairGates(app.stores);
    for await (const _ of deleteUnusedGates(app.stores));
    expect(await repairGates(app.stores)).to.equal(0);
    const job = await app.stores.jobs.collection.native.findOne({ jobId });
    const gates = await app.stores.gates.collection.native.find({ jobId }).toArray();
    if (!job) expect(gates).to.deep.equal([]);
    const open = gates.filter(({ status }) => status === "open").map(({ _id }) => _id);
    expect((job?.openGates ?? []).map(({ gateId }) => gateId)).to.deep.equal(open);
    if (job) expect(job.staleAt === null).to.equal(open.length > 0);
  }

  for (const action of ["open", "change", "answer", "withdraw", "expire", "delete"]) {
    it(`leaves nothing that the repair does not put right: ${action}`, async () => {
      let isComplete = false;
      for (let write = 1; !isComplete; write++) {
        expect(write, "the action makes more writes than this test expects").to.be.at.most(WRITES);
        const { jobId, path } = await createJob(app);
        if (action !== "open") await app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });
        if (action === "expire")
          await app.stores.gates.collection.native.updateOne({ jobId }, { $set: { expiresAt: new Date(0) } });
        isComplete = (await actInProcess(action, jobId, write)) === null;
        await expectRepaired(jobId);

        // The same action, sent again, has the effect that it would have had.
        if (action !== "delete" || !isComplete) await act(action, jobId).catch(() => {});
        await expectRepaired(jobId);
        const { body } = await app.call("GET", `${path}/gates/publish`);
        expect(body.code ?? body.status).to.equal(OUTCOMES[action]);
      }
    });
  }

  for (const action of ["answer", "withdraw", "expire"]) {
    it(`has each event once, whichever write was the last of its opening and of its closing: ${action}`, async () => {
      for (let openWrite = 2; openWrite <= WRITES; openWrite++) {
        for (let write = 1; write <= WRITES; write++) {
          const { jobId } = await createJob(app);
          await act("open", jobId, openWrite);
          const due = action === "expire" && { expiresAt: new Date(0) };
          await app.stores.gates.collection.native.updateOne({ jobId }, { $set: { title: "Publish?", ...due } });

          await act(action, jobId, write);
          await expectRepaired(jobId);
          const { status } = (await app.stores.gates.collection.native.findOne({ jobId })) ?? {};
          if (status === "open") await act(action, jobId);

          const job = await app.stores.jobs.collection.native.findOne({ jobId });
          expect(
            (job?.notes ?? []).map(({ type }) => type),
            `${openWrite} ${write}`,
          ).to.deep.equal(EVENTS[action]);
        }
      }
    });
  }
});

const EVENTS: Readonly<Record<string, readonly string[]>> = {
  answer: ["gate.opened", "gate.answered"],
  withdraw: ["gate.opened"],
  expire: ["gate.opened", "gate.expired"],
};

const OUTCOMES: Readonly<Record<string, string>> = {
  open: "open",
  change: "open",
  answer: "answered",
  withdraw: "withdrawn",
  expire: "expired",
  delete: "job_not_found",
};
