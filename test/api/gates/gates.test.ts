import { expect } from "chai";
import { expireGates } from "../../../src/models/gates/repairGates.ts";
import { createJob, report } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const MINUTE_MS = 60_000;

describe("gates", () => {
  const app = useSharedApp({ staleAfterSeconds: 60 });
  let path: string;
  let jobId: string;
  beforeEach(async () => {
    ({ jobId, path } = await createJob(app));
  });

  const put = (key: string, body: object = { title: "Publish?" }) => app.call("PUT", `${path}/gates/${key}`, body);
  const get = (key: string) => app.call("GET", `${path}/gates/${key}`);
  const answer = (key: string, body: object) => app.call("POST", `${path}/gates/${key}/answer`, body);
  const withdraw = (key: string) => app.call("DELETE", `${path}/gates/${key}`);
  const job = async () => (await app.call("GET", path)).body;
  const inAnHour = () => new Date(app.clock.now().getTime() + 60 * MINUTE_MS).toISOString();

  it("opens a gate, which its job waits for, and records the answer", async () => {
    const opened = await put("publish", { title: "Publish?", message: "12 prices differ." });
    expect(opened.status).to.equal(201);
    expect(opened.body).to.include({ jobId, key: "publish", title: "Publish?", message: "12 prices differ." });
    expect(opened.body).to.include({ status: "open", action: null, content: null, answeredBy: null, answeredAt: null });
    expect(await job()).to.deep.include({ waitingFor: ["publish"], stale: false, staleAt: null });

    const answered = await answer("publish", { action: "accept", answeredBy: "Ann" });
    expect(answered.status).to.equal(200);
    expect(answered.body).to.include({ status: "answered", action: "accept", answeredBy: "Ann" });
    expect(answered.body.answeredAt).to.be.a("string");
    expect((await get("publish")).body).to.deep.equal(answered.body);
    expect((await job()).waitingFor).to.deep.equal([]);
  });

  it("refuses an answer to what was not shown: another question, another time, another meaning of silence", async () => {
    const { body: first } = await put("publish", { title: "Publish 3 prices?", expiresAt: inAnHour() });
    for (const change of [{ title: "Delete everything?" }, { expiresAt: null }, { onExpiry: "cancel" }]) {
      const { body: changed } = await put("publish", { title: "Delete everything?", ...change });
      const refused = await answer("publish", { action: "accept", revision: changed.revision - 1 });
      expect([refused.status, refused.body.code]).to.deep.equal([409, "gate_changed"]);
      expect(refused.body.gate).to.deep.equal(changed);
    }

    const { body: last } = await get("publish");
    const answered = await answer("publish", {
      action: "accept",
      revision: last.revision,
      answeredBy: "An\u202en\u200b\u3164\u2800\ufe0f\u2066\ufeff\n",
    });

    expect([first.revision, last.revision]).to.deep.equal([1, 4]);
    expect(answered.body).to.include({ status: "answered", answeredBy: "Ann" });
  });

  it("changes the question of an open gate, and keeps the fields that are absent", async () => {
    const first = await put("publish", { title: "Publish?", message: "Soon", expiresAt: inAnHour() });
    const again = await put("publish", { title: "Publish all?" });
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal({ ...first.body, title: "Publish all?", revision: 2 });
    expect((await put("publish", again.body)).body).to.deep.equal(again.body);
    expect((await put("publish", { title: "Publish all?", message: null })).body.message).to.equal(null);
  });

  it("takes ten answers at once: the first counts, the others are refused with it", async () => {
    await put("publish");
    const names = Array.from({ length: 10 }, (_, i) => `Person ${i}`);
    const answers = await Promise.all(names.map((answeredBy) => answer("publish", { action: "decline", answeredBy })));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).to.have.length(1);
    for (const { status, body } of answers.filter((one) => one !== won[0])) {
      expect([status, body.code]).to.deep.equal([409, "gate_answered"]);
      expect(body.gate).to.deep.equal(won[0]?.body);
    }
    expect((await get("publish")).body).to.deep.equal(won[0]?.body);
  });

  it("opens one gate for ten requests at once", async () => {
    const opened = await Promise.all(Array.from({ length: 10 }, () => put("publish")));
    expect(opened.filter(({ status }) => status === 201)).to.have.length(1);
    expect(new Set(opened.map(({ body }) => body.gateId)).size).to.equal(1);
    expect((await job()).waitingFor).to.deep.equal(["publish"]);
  });

  it("refuses to open an answered, an expired and a withdrawn key again", async () => {
    await put("answered");
    await answer("answered", { action: "cancel" });
    await put("withdrawn");
    await withdraw("withdrawn");
    await put("expired", { title: "Publish?", expiresAt: inAnHour() });
    app.clock.advance(60 * MINUTE_MS);

    for (const [key, code, action] of [
      ["answered", "gate_answered", "cancel"],
      ["withdrawn", "gate_closed", null],
      ["expired", "gate_closed", "decline"],
    ] as const) {
      const refused = await put(key);
      expect([key, refused.status, refused.body.code]).to.deep.equal([key, 409, code]);
      expect(refused.body.gate).to.include({ key, action, status: key });
    }
    expect((await job()).waitingFor).to.deep.equal([]);
  });

  it("withdraws an open gate, again without a change, and not an answered one", async () => {
    await put("publish");
    expect((await withdraw("publish")).body.status).to.equal("withdrawn");
    expect((await withdraw("publish")).status).to.equal(200);
    expect((await answer("publish", { action: "accept" })).body.code).to.equal("gate_closed");
    await put("other");
    await answer("other", { action: "accept" });
    expect((await withdraw("other")).body.code).to.equal("gate_answered");
  });

  it("has exactly one end when an answer and the expiry come at the same time", async () => {
    for (let i = 0; i < 10; i++) {
      await put(`g${i}`, { title: "Publish?", expiresAt: inAnHour() });
    }
    app.clock.advance(60 * MINUTE_MS - 15);
    const ends = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => {
        const [given] = await Promise.all([answer(`g${i}`, { action: "accept" }), expireGates(app.stores)]);
        app.clock.advance(2);
        return given;
      }),
    );
    app.clock.advance(MINUTE_MS);
    for (const [i, { status }] of ends.entries()) {
      const { body } = await get(`g${i}`);
      expect(body).to.include(
        status === 200 ? { status: "answered", action: "accept" } : { status: "expired", action: "decline" },
      );
    }
    expect((await job()).waitingFor).to.deep.equal([]);
  });

  it("keeps a job and its running step from being stale while a gate is open, and starts the time again after it", async () => {
    await report(app, path, "load", {});
    await put("publish");
    app.clock.advance(10 * MINUTE_MS);
    const waiting = await job();
    expect([waiting.stale, waiting.staleAt, waiting.currentStep.stale]).to.deep.equal([false, null, false]);
    await report(app, path, "load", { message: "still waiting" });
    expect((await job()).staleAt).to.equal(null);

    app.clock.advance(10 * MINUTE_MS);
    await answer("publish", { action: "accept" });
    const resumed = await job();
    expect([resumed.stale, resumed.currentStep.stale]).to.deep.equal([false, false]);
    expect(Date.parse(resumed.staleAt) - app.clock.now().getTime()).to.be.within(55_000, 60_000);
    const stale = (await app.call("GET", `/api/jobs?stale=true&jobId=${jobId}`)).body.jobs;
    expect(stale).to.deep.equal([]);
    app.clock.advance(MINUTE_MS);
    const later = await job();
    expect([later.stale, later.currentStep.stale]).to.deep.equal([true, true]);
  });

  it("lists the gates of all jobs, newest first, by pages, by status and by job", async () => {
    const keys = ["a", "b", "c", "d", "e"];
    for (const key of keys) await put(key);
    await answer("c", { action: "accept" });
    const page = await app.call("GET", "/api/gates?status=open&limit=3");
    expect(page.body.gates.map(({ key }: { key: string }) => key)).to.deep.equal(["e", "d", "b"]);
    const next = await app.call("GET", `/api/gates?status=open&limit=1&cursor=${page.body.nextCursor}`);
    expect(next.body.gates.map(({ key }: { key: string }) => key)).to.deep.equal(["a"]);
    const closed = await app.call("GET", "/api/gates?status=answered&status=withdrawn&limit=1");
    expect(closed.body.gates[0]).to.include({ jobId, key: "c" });
    const other = await createJob(app);
    await app.call("PUT", `${other.path}/gates/f`, { title: "f?" });
    const ofJob = await app.call("GET", `/api/gates?jobId=${jobId}`);
    expect(ofJob.body.gates.map(({ key }: { key: string }) => key)).to.deep.equal(["e", "d", "c", "b", "a"]);
    const rows = await app.call("GET", `/api/jobs?jobId=${jobId}&fields=waitingFor`);
    expect(rows.body.jobs).to.deep.equal([{ jobId, waitingFor: ["a", "b", "d", "e"] }]);
  });

  it("opens no more than 100 gates of one job, also when they are opened at the same moment", async () => {
    const answers = await Promise.all(Array.from({ length: 130 }, (_, n) => put(`g${n}`)));

    const opened = answers.filter(({ status }) => status === 201);
    expect(opened).to.have.length(100);
    for (const { status, body } of answers.filter((one) => !opened.includes(one)))
      expect([status, body.code]).to.deep.equal([409, "too_many_gates"]);
    expect(await app.stores.gates.collection.native.countDocuments({ jobId: opened[0]?.body.jobId })).to.equal(100);
  });

  it("refuses more than 100 open gates of one job", async () => {
    for (let i = 0; i < 100; i += 20) await Promise.all(Array.from({ length: 20 }, (_, n) => put(`g${i + n}`)));
    const refused = await put("one-more");
    expect([refused.status, refused.body.code]).to.deep.equal([409, "too_many_gates"]);
    expect((await put("g0", { title: "Changed?" })).status).to.equal(200);
    await withdraw("g0");
    expect((await put("one-more")).status).to.equal(201);
  });

  it("deletes the gates with their job, and begins without any under the same jobId", async () => {
    await put("publish");
    await put("answered");
    await answer("answered", { action: "accept" });
    await app.call("DELETE", path);
    expect((await get("publish")).body.code).to.equal("job_not_found");
    expect(await app.stores.gates.collection.native.countDocuments({ jobId })).to.equal(0);
    await app.call("PUT", path, {});
    expect((await get("answered")).body.code).to.equal("gate_not_found");
    expect((await put("answered")).status).to.equal(201);
  });

  it("names what is wrong with a question", async () => {
    for (const [body, pointer] of [
      [{}, "/title"],
      [{ title: "" }, "/title"],
      [{ title: " " }, "/title"],
      [{ title: "x", expiresAt: "2020-01-01T00:00:00Z" }, "/expiresAt"],
      [{ title: "x", expiresAt: "tomorrow" }, "/expiresAt"],
      [{ title: "x", expiresAt: "2090-12-31T23:59:60Z" }, "/expiresAt"],
      [{ title: "x", expiresAt: "9999-12-31T23:59:59-10:00" }, "/expiresAt"],
      [{ title: "x", onExpiry: "publish" }, "/onExpiry"],
      [{ title: "x", expires: 5 }, "/expires"],
    ] as const) {
      const { status, body: problem } = await put("bad", body);
      expect([status, problem.code, problem.errors?.[0]?.pointer]).to.deep.equal([400, "invalid_body", pointer]);
    }
    expect((await app.call("PUT", "/api/jobs/none/gates/x", { title: "x" })).body.code).to.equal("job_not_found");
    expect((await answer("none", { action: "accept" })).body.code).to.equal("gate_not_found");
  });

  it("records that the API answered when the answer does not say who", async () => {
    await put("publish");
    expect((await answer("publish", { action: "decline" })).body.answeredBy).to.equal("api");
  });

  it("lets no caller answer under the name of a person in a chat, or of the expiry", async () => {
    await put("publish");
    const names = ["telegram:123456 (Ann)", "Slack:U0ABC", "discord:1", "nt\u200bfy:builds", "expiry", " Ex\u200bpiry"];
    const refused = await Promise.all(names.map((answeredBy) => answer("publish", { action: "accept", answeredBy })));
    const accepted = await answer("publish", { action: "accept", answeredBy: "Ann (telegram: @ann)" });

    for (const { status, body } of refused) expect([status, body.code]).to.deep.equal([400, "invalid_body"]);
    expect(accepted.body.answeredBy).to.equal("Ann (telegram: @ann)");
  });
});
