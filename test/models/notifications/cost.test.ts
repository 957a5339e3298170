import { expect } from "chai";
import { reportStep, type StepReport } from "../../../src/models/jobs/reports/reportStep.ts";
import { NO_NOTIFICATIONS, type WantedNotifications } from "../../../src/models/notes/wantedNotifications.ts";
import { openStores, type Stores } from "../../../src/models/stores.ts";
import { NOTIFICATION_TYPES } from "../../../src/shared/notifications/catalogue.ts";
import { commandsOf } from "../../support/commandsOf.ts";
import { useSharedApp } from "../../support/useApp.ts";

const STEP = { stepName: "S", jobProgressStart: 0, jobProgressEnd: 100 };
const REPORTS: Record<string, StepReport> = {
  "a plain one": { ...STEP, progress: 50, message: "half" },
  "one that completes the job": { ...STEP, status: "completed", progress: 100, output: { ok: true } },
  "one that fails the job": { ...STEP, status: "failed", failJob: true, message: "Broken" },
};
const WANTED: Record<string, WantedNotifications> = {
  "every rule": { types: new Set(NOTIFICATION_TYPES), callbacks: false, traces: false },
  "every rule, and callbacks": { types: new Set(NOTIFICATION_TYPES), callbacks: true, traces: false },
  callbacks: { types: new Set(), callbacks: true, traces: false },
};
const CALLBACK = "https://ci.example.com/done";

describe("the cost of a report", () => {
  const app = useSharedApp();

  let number = 0;
  /** Returns the commands of a report on a new job, whose first report has come, and the notes of the job then. */
  async function cost(wanted: WantedNotifications, report: StepReport, { together = 1, silent = false } = {}) {
    const stores = openStores(app.database, app.clock, { staleAfterSeconds: 60, wanted });
    const jobId = `job-${number++}`;
    await stores.jobs.put(jobId, { ...(wanted.callbacks && { callbackUrl: CALLBACK }) });
    await reportStep(stores, jobId, "s", { ...STEP, status: "running" });
    if (silent) await silence(stores);
    const keys = Array.from({ length: together }, (_, i) => (i === 0 ? "s" : `s${i}`));
    const send = () => Promise.all(keys.map((key) => reportStep(stores, jobId, key, report)));
    const commands = await commandsOf(app, send, "all");
    const { notes = [] } = (await stores.jobs.collection.native.findOne({ jobId })) ?? {};
    return { commands, events: notes.map(({ type }) => type) };
  }

  /** Announces the silent jobs as stale. */
  async function silence(stores: Stores): Promise<void> {
    app.clock.advance(61_000);
    await stores.jobs.noteSilent({ now: app.clock.now(), resumedAt: null }, 1_000);
  }

  for (const [what, report] of Object.entries(REPORTS))
    for (const together of [1, 20])
      it(`is the same with and without rules: ${what}${together > 1 ? `, ${together} at once` : ""}`, async () => {
        const without = await cost(NO_NOTIFICATIONS, report, { together });
        expect(without.commands).not.to.deep.equal([]);
        expect(without.events).to.deep.equal([]);
        for (const [name, wanted] of Object.entries(WANTED)) {
          const { commands, events } = await cost(wanted, report, { together });
          expect(commands, name).to.deep.equal(without.commands);
          expect(events.length, name).to.equal(what === "a plain one" ? 0 : 1);
        }
      });

  it("is the same when the report ends a silence that was announced", async () => {
    const without = await cost(NO_NOTIFICATIONS, REPORTS["a plain one"]!);
    const { commands, events } = await cost(WANTED["every rule"]!, REPORTS["a plain one"]!, { silent: true });
    expect(commands).to.deep.equal(without.commands);
    expect(events).to.deep.equal(["job.stale", "job.recovered"]);
  });
});
