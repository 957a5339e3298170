import { expect } from "chai";
import { repairGates } from "../../../src/models/gates/repairGates.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";

const ON = ["gate.opened", "gate.answered", "gate.expired"];

describe("notify: gates", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start(
      [
        { id: "all", on: ON, to: toWebhook() },
        { id: "people", on: ["gate.opened"], to: toLog },
        { id: "agent", on: ["gate.opened"], to: { wake: "next-heartbeat" } },
      ],
      { server: { publicUrl: "https://jobs.example.com" } },
    );
  });
  after(() => fixture.close());

  const open = async (key: string, body: object = {}) => {
    const { jobId, path } = await createJob(fixture.app);
    const answer = await fixture.app.call("PUT", `${path}/gates/${key}`, { title: `Publish ${key}?`, ...body });
    expect(answer.status).to.equal(201);
    return { jobId, path: `${path}/gates/${key}`, gateId: answer.body.gateId as string };
  };
  const eventsOf = async (gateId: string) =>
    (await fixture.bodies("all"))
      .filter(({ data }) => data.gate.gateId === gateId)
      .map(({ type, data }) => [type, data.gate.status, data.gate.action]);

  it("have one event when they open and one when they are answered, with job and gate", async () => {
    const { path, gateId, jobId } = await open("answered");
    await fixture.app.call("PUT", path, { title: "Publish it now?" });
    await fixture.app.call("POST", `${path}/answer`, { action: "accept", answeredBy: "Ann" });
    await fixture.app.call("POST", `${path}/answer`, { action: "decline" });
    await fixture.dispatched();

    expect(await eventsOf(gateId)).to.deep.equal([
      ["gate.opened", "open", null],
      ["gate.answered", "answered", "accept"],
    ]);
    const bodies = await fixture.bodies("all");
    expect(bodies.at(-1).data.gate).to.include({ key: "answered", answeredBy: "Ann" });
    expect(bodies.at(-1).data.job).to.include({ jobId, status: "running" });
    expect(bodies.at(-1).data.url).to.equal(`https://jobs.example.com/jobs/${encodeURIComponent(jobId)}`);
  });

  it("have an event when they expire, and none when they are withdrawn", async () => {
    const soon = new Date(Date.now() + 60_000).toISOString();
    const expiring = await open("expiring", { expiresAt: soon });
    const withdrawn = await open("withdrawn");

    await fixture.app.call("DELETE", withdrawn.path);
    fixture.app.clock.advance(61_000);
    await fixture.app.call("GET", expiring.path);
    await fixture.dispatched();

    expect(await eventsOf(expiring.gateId)).to.deep.equal([
      ["gate.opened", "open", null],
      ["gate.expired", "expired", "decline"],
    ]);
    expect(await eventsOf(withdrawn.gateId)).to.deep.equal([["gate.opened", "open", null]]);
  });

  it("say what happens without an answer, and by when", async () => {
    const expiresAt = "2099-01-31T18:00:00.000Z";
    const expiring = await Promise.all([
      open("silent-yes", { expiresAt, onExpiry: "accept" }),
      open("silent-no", { expiresAt }),
      open("endless"),
    ]);
    await fixture.dispatched();

    const deliveries = await fixture.deliveries("people");
    const [yes, no, endless] = expiring.map(
      ({ gateId }) => deliveries.find(({ event }) => event?.id.startsWith(gateId))?.text,
    );
    const by = "Answer before 2099-01-31 18:00 UTC. Without an answer by then, it counts as";
    expect(yes).to.include(`${by} accepted.`);
    expect(no).to.include(`${by} declined.`);
    expect(endless).to.include("Publish endless").and.not.include("Without an answer");
  });

  it("send people the link with which they answer, and the agent another one", async () => {
    const { gateId } = await open("linked");
    await fixture.dispatched();

    const [toPeople, toAgent] = await Promise.all([fixture.deliveries("people"), fixture.deliveries("agent")]);
    const find = (deliveries: typeof toPeople) =>
      deliveries.find(({ event }) => event?.id.startsWith(gateId))?.text ?? "";
    const [, token] = /https:\/\/jobs\.example\.com\/answer\/([\w-]+)/.exec(find(toPeople)) ?? [];
    const page = await fixture.app.call("GET", `/answer/${token}`);

    expect(page.status).to.equal(200);
    expect(page.body).to.include("Publish linked?");
    expect(find(toAgent)).to.include("Publish linked").and.not.include("/answer/");
  });

  it("have their events also if a process dies between the writes of gate and job", async () => {
    const { stores, database } = fixture.app;
    const { jobId } = await createJob(fixture.app);
    const job = await stores.jobs.find(jobId);
    const { gate } = await stores.gates.put(
      job,
      "crashed",
      { title: "Publish it?" },
      { actor: "worker", mayAnswer: false },
    );
    await fixture.dispatched();
    // as if the job had not been written, neither when the gate opened nor when it was answered
    await database.collections.jobs.updateOne({ jobId }, { $set: { openGates: [] } });
    await repairGates(stores);
    await fixture.dispatched();
    const { openGates } = (await database.collections.jobs.findOne({ jobId })) ?? {};
    await database.collections.gates.updateOne({ _id: gate._id }, { $set: { status: "answered", action: "accept" } });
    expect(openGates).to.have.length(1);

    await repairGates(stores);
    await repairGates(stores);

    await eventually(async () => (await eventsOf(gate._id)).length === 2, "the event of the answer");
    expect((await eventsOf(gate._id)).map(([type]) => type)).to.deep.equal(["gate.opened", "gate.answered"]);
  });

  it("leave out a form and an answer that are too long, and keep their job's document small", async () => {
    const field = { type: "string", description: "x".repeat(500) };
    const properties = {
      text: { type: "string" },
      ...Object.fromEntries("abcdefghij".split("").map((key) => [key, field])),
    };
    const { gateId, path } = await open("long", { requestedSchema: { type: "object", properties } });
    await fixture.app.call("POST", `${path}/answer`, { action: "accept", content: { text: "y".repeat(6_000) } });
    await fixture.dispatched();

    const gates = (await fixture.bodies("all")).map(({ data }) => data.gate).filter((gate) => gate.gateId === gateId);
    expect(gates.map(({ requestedSchema, content }) => [requestedSchema, content])).to.deep.equal([
      [null, null],
      [null, null],
    ]);
  });
});
