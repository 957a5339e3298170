import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { newNoteId } from "../../../src/models/notes/note.ts";
import {
  ANY_NOTIFICATION_TYPES,
  NOTIFICATION_TYPES,
  NOTIFICATIONS,
} from "../../../src/shared/notifications/catalogue.ts";
import { eventually } from "../../support/eventually.ts";
import { agentRequest, createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toWebhook } from "../../support/notifyFixture.ts";

/** Returns the fields of a value as dotted paths with their types. Null fits any type. */
function shapeOf(value: unknown, path = ""): string[] {
  if (value === null) return [`${path} null`];
  if (typeof value !== "object") return [`${path} ${typeof value}`];
  return Object.entries(value).flatMap(([key, item]) => shapeOf(item, `${path}.${key}`));
}

/** Returns the fields that one of two values has and the other has not, or has with another type. */
function differences(example: unknown, real: unknown): string[] {
  const [ours, theirs] = [shapeOf(example), shapeOf(real)];
  const pathOf = (field: string) => field.slice(0, field.lastIndexOf(" "));
  const isNull = (fields: readonly string[], field: string) => {
    const path = pathOf(field);
    return fields.some((one) => one.endsWith(" null") && `${path}.`.startsWith(`${pathOf(one)}.`));
  };
  const lacks = (fields: readonly string[], field: string) => {
    if (field.endsWith(" null")) return !fields.some((one) => `${pathOf(one)}.`.startsWith(`${pathOf(field)}.`));
    return !fields.includes(field) && !isNull(fields, field);
  };
  return [...ours.filter((field) => lacks(theirs, field)), ...theirs.filter((field) => lacks(ours, field))];
}

describe("the examples of notifications", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start(
      [{ id: "all", on: [...NOTIFICATION_TYPES], to: toWebhook(), slow: { longerThan: "10s" } }],
      {
        expect: [{ id: "backup", name: "Nightly backup", every: "1s" }],
      },
    );
  });
  after(() => fixture.close());

  it("have the fields of real notifications, with the same types", async () => {
    await causeEveryEvent();

    const bodies = await fixture.bodies("all");
    for (const type of ANY_NOTIFICATION_TYPES) {
      const found = bodies.filter((body) => body.type === type);
      expect(found, type).to.not.be.empty;
      const differing = found.map(({ data }) => differences(NOTIFICATIONS[type].example, data));
      expect(differing.sort((a, b) => a.length - b.length)[0], type).to.deep.equal([]);
    }
  });

  it("are compared by fields and types", () => {
    expect(differences({ a: { b: 1 }, c: null }, { a: { b: 2 }, c: { d: 1 } })).to.deep.equal([]);
    expect(differences({ a: { b: 1 } }, { a: { b: "1" } })).to.deep.equal([".a.b number", ".a.b string"]);
    expect(differences({ a: 1 }, { a: 1, b: null })).to.deep.equal([".b null"]);
    expect(differences({ a: 1, b: "x" }, { a: 1 })).to.deep.equal([".b string"]);
  });

  async function causeEveryEvent(): Promise<void> {
    const { app } = fixture;
    const { runs, deliveries } = app.stores;
    const completed = await createJob(app, { name: "Nightly" });
    await app.call("PUT", completed.path, { status: "completed" });
    const failed = await createJob(app, { name: "Nightly" });
    await report(app, failed.path, "a", { status: "failed", message: "disk full", failJob: true, log: "1\n2" });
    const silent = await createJob(app, { name: "Silent", staleAfterSeconds: 10 });
    await report(app, silent.path, "a", { progress: 40, message: "120 of 300" });
    const cancelled = randomUUID();
    const dropped = randomUUID();
    const run = { name: "triage", singleUse: true, kind: "agent" as const };
    await runs.accept([{ ...run, _id: randomUUID(), sessionKey: "s", mapped: null, request: agentRequest }]);
    const mapped = { mapping: "ci", call: "{}", wakeMode: "now" as const };
    await fixture.stopWorker();
    for (const _id of [cancelled, dropped]) {
      await runs.accept([{ ...run, _id, sessionKey: `hook:${_id}`, mapped, request: null }]);
    }
    await runs.cancel(cancelled);
    await runs.applyMapping(dropped, 0, { kind: "dropped" });
    const budget = { id: "daily", per: "day", used: "$5.12 of $5" };
    await runs.note(dropped, { id: newNoteId(), type: "budget.reached", at: app.clock.now(), budget });
    await fixture.startWorker();
    const reply = { _id: randomUUID(), runId: null, channel: "telegram", to: "anna", text: "x" };
    await deliveries.add({ ...reply, fault: "The channel telegram is not configured." });
    const asking = await createJob(app, { name: "Nightly" });
    const question = { title: "Publish the report?", message: "It has 3 warnings." };
    const expiresAt = new Date(app.clock.now().getTime() + 10_000).toISOString();
    await app.call("PUT", `${asking.path}/gates/publish`, question);
    await app.call("POST", `${asking.path}/gates/publish/answer`, { action: "accept", answeredBy: "ada" });
    const waiting = await createJob(app, { name: "Nightly" });
    await app.call("PUT", `${waiting.path}/gates/late`, { ...question, expiresAt });
    await app.call("POST", "/api/notify/all/test");
    // A job waits only until its question has expired.
    const opened = async () => (await fixture.bodies("all")).filter(({ type }) => type === "gate.opened");
    await eventually(async () => (await opened()).length === 2, "both questions to be announced");
    app.clock.advance(11_000);
    const has = (type: string) => async () => (await fixture.bodies("all")).some((body) => body.type === type);
    for (const type of ["job.stale", "job.slow", "job.missing", "run.completed", "gate.expired", "test"])
      await eventually(has(type), type);
    await report(app, silent.path, "a", { progress: 50 });
    await eventually(has("job.recovered"), "job.recovered");
    await fixture.dispatched();
  }
});
