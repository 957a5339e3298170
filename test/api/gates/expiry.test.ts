import { expect } from "chai";
import { expireGates } from "../../../src/models/gates/repairGates.ts";
import { useSharedApp } from "../../support/useApp.ts";

const MINUTE_MS = 60_000;
const API_TOKEN = "an-api-token-of-length";

describe("the expiry of gates", () => {
  const app = useSharedApp({ apiToken: API_TOKEN });
  let number = 0;
  let path: string;
  let jobToken: string;
  beforeEach(async () => {
    path = `/api/jobs/j${number++}`;
    await asAdmin("PUT", path, {});
    jobToken = (await asAdmin("POST", `${path}/token`, { scope: "report" })).body.token;
  });

  const as = (token: string) => (method: string, at: string, body?: object) =>
    app.call(method, at, body, { Authorization: `Bearer ${token}` });
  const asAdmin = as(API_TOKEN);
  const put = (token: string, question: object) =>
    as(token)("PUT", `${path}/gates/go`, { title: "Publish 3 prices?", ...question });
  const get = async () => (await asAdmin("GET", `${path}/gates/go`)).body;
  const inMinutes = (count: number) => new Date(app.clock.now().getTime() + count * MINUTE_MS).toISOString();

  it("happens when the time has passed, whoever reads the gate first, with an entry in the audit log", async () => {
    await put(API_TOKEN, { expiresAt: inMinutes(60), onExpiry: "accept" });
    await asAdmin("PUT", `${path}/gates/swept`, { title: "Publish?", expiresAt: inMinutes(60) });
    app.clock.advance(60 * MINUTE_MS - 1_000);
    expect((await get()).status).to.equal("open");
    app.clock.advance(1_000);

    expect(await get()).to.include({ status: "expired", action: "accept", answeredBy: "expiry", answeredAt: null });
    await expireGates(app.stores);

    expect((await asAdmin("GET", path)).body.waitingFor).to.deep.equal([]);
    const swept = (await asAdmin("GET", `${path}/gates/swept`)).body;
    expect(swept).to.include({ status: "expired", action: "decline", content: null, answeredBy: "expiry" });
    const late = await asAdmin("POST", `${path}/gates/swept/answer`, { action: "accept" });
    expect(late.body.code).to.equal("gate_closed");
    const { entries } = (await asAdmin("GET", "/api/audit?action=gate.expire")).body;
    expect(entries.map(({ actor, target }: { actor: string; target: string }) => [actor, target])).to.have.deep.members(
      ["go", "swept"].map((key) => ["expiry", `${path.slice("/api/jobs/".length)}/${key}`]),
    );
  });

  it("accepts for nobody without the scope gates:answer", async () => {
    const opened = await put(jobToken, { onExpiry: "accept", expiresAt: inMinutes(1) });
    await put(jobToken, { expiresAt: inMinutes(1) });
    const changed = await put(jobToken, { onExpiry: "accept" });

    for (const { status, body } of [opened, changed]) {
      expect([status, body.code]).to.deep.equal([403, "forbidden"]);
      expect(body.detail).to.include("`onExpiry: accept`").and.include("gates:answer");
    }
    expect(await get()).to.include({ onExpiry: "decline", revision: 1 });
  });

  for (const onExpiry of ["accept", "decline", "cancel"]) {
    it(`cannot be decided or hastened in a gate of another caller that is to ${onExpiry}`, async () => {
      await put(API_TOKEN, { onExpiry, expiresAt: inMinutes(60) });
      const before = await get();

      for (const question of [
        { expiresAt: inMinutes(1) },
        { onExpiry: onExpiry === "decline" ? "cancel" : "decline" },
        { onExpiry: "accept", expiresAt: inMinutes(1) },
      ]) {
        const { status, body } = await put(jobToken, question);
        expect([status, body.code], JSON.stringify(question)).to.deep.equal([403, "forbidden"]);
      }
      expect(await get()).to.deep.equal(before);
      expect((await put(jobToken, { onExpiry, expiresAt: before.expiresAt })).body).to.deep.equal(before);
      expect((await put(jobToken, { expiresAt: inMinutes(90) })).status).to.equal(200);
    });
  }

  it("cannot be given to a gate of another caller that has none", async () => {
    await put(API_TOKEN, {});
    expect((await put(jobToken, { expiresAt: inMinutes(1) })).status).to.equal(403);
    expect((await put(jobToken, { title: "Publish 4 prices?" })).status).to.equal(200);
  });

  it("can be hastened in a gate of one's own, until it is to accept", async () => {
    await put(jobToken, { expiresAt: inMinutes(60) });
    expect((await put(jobToken, { expiresAt: inMinutes(30), onExpiry: "cancel" })).status).to.equal(200);
    await put(API_TOKEN, { onExpiry: "accept" });
    expect((await put(jobToken, { expiresAt: inMinutes(1) })).status).to.equal(403);
  });

  it("accepts no other question than the one that was approved by who may answer", async () => {
    await put(API_TOKEN, { onExpiry: "accept", expiresAt: inMinutes(60) });
    for (const change of [{ title: "Delete everything?" }, { message: "All of it." }, { requestedSchema: null }]) {
      const { status } = await put(jobToken, { title: "Publish 3 prices?", ...change });
      expect(status, JSON.stringify(change)).to.equal("requestedSchema" in change ? 200 : 403);
    }
    expect(await get()).to.include({ title: "Publish 3 prices?", message: null, revision: 1 });
  });

  it("holds also when the gate is opened while the change is under way", async () => {
    const results = await Promise.all([
      put(API_TOKEN, { onExpiry: "accept", expiresAt: inMinutes(60) }),
      ...Array.from({ length: 5 }, (_, i) => put(jobToken, { title: `Delete ${i}?`, expiresAt: inMinutes(1) })),
    ]);

    const { title, onExpiry, expiresAt, status } = await get();
    expect(results.some((one) => one.status === 201)).to.equal(true);
    // The admin's change, if it came last, has set all three.
    expect([status, title, onExpiry]).to.deep.equal(["open", "Publish 3 prices?", "accept"]);
    expect(Date.parse(expiresAt)).to.be.greaterThan(app.clock.now().getTime() + 59 * MINUTE_MS);
  });

  it("fills the form from its defaults, and is refused at the opening when they do not suffice", async () => {
    const form = (field: object) => ({
      type: "object",
      properties: { rows: { type: "integer", default: 500 }, note: { type: "string" }, ...field },
      required: ["rows", ...Object.keys(field)],
    });
    const question = { onExpiry: "accept", expiresAt: inMinutes(60) };

    const refused = await put(API_TOKEN, { ...question, requestedSchema: form({ region: { type: "string" } }) });
    await put(API_TOKEN, { ...question, requestedSchema: form({ sure: { type: "boolean", default: false } }) });
    const changed = await put(API_TOKEN, { requestedSchema: form({ region: { type: "string" } }) });
    app.clock.advance(60 * MINUTE_MS);

    for (const { status, body } of [refused, changed]) {
      expect([status, body.errors[0].pointer]).to.deep.equal([400, "/onExpiry"]);
      expect(body.detail).to.include('"region"');
    }
    expect(await get()).to.deep.include({ action: "accept", content: { rows: 500, sure: false } });
  });
});
