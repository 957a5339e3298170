import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { TestApp } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { endRun, startFollowingApp, startWait } from "../../support/waiting.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const Authorization = `Bearer ${HOOK_TOKEN}`;

describe("waiting for the end of a run", () => {
  let app: TestApp;
  before(async () => {
    app = await startFollowingApp({
      config: `{ server: { apiToken: "a-token-of-the-API" }, hooks: { enabled: true, token: "${HOOK_TOKEN}" } }`,
    });
  });
  after(() => app.close());

  const asApi = { Authorization: "Bearer a-token-of-the-API" };
  const post = (headers: Record<string, string>, body: object = { message: "How is it?", deliver: false }) => ({
    method: "POST",
    body,
    headers: { Authorization, ...headers },
  });

  describe("with GET /api/runs/:runId", () => {
    it("answers when the run has ended, and not when it starts", async () => {
      const runId = await acceptRun(app, "s");
      const { answer } = await startWait(app, `/api/runs/${runId}`, { headers: asApi });

      await endRun(app, runId, "Three incidents are open.");
      const { status, body, headers } = await answer;

      expect(status).to.equal(200);
      expect(body).to.include({ status: "completed", reply: "Three incidents are open.", sessionKey: "s" });
      expect(headers.get("Preference-Applied")).to.equal("wait=30");
    });

    it("lets a sender with the hook token wait", async () => {
      const runId = await acceptRun(app, "t");
      const { answer } = await startWait(app, `/api/runs/${runId}`, { headers: { Authorization } });

      await app.stores.runs.cancel(runId);
      const { body } = await answer;

      expect(body).to.include({ status: "failed", sessionKey: null });
      expect(body.error.code).to.equal("cancelled");
    });

    it("answers with the run as it is when the time is up", async () => {
      const runId = await acceptRun(app, "u");

      const { status, body } = await app.call("GET", `/api/runs/${runId}`, undefined, { ...asApi, Prefer: "wait=1" });

      expect([status, body.status]).to.deep.equal([200, "queued"]);
    });

    it("answers 404 at once for a run that does not exist", async () => {
      const path = `/api/runs/${randomUUID()}`;
      expect((await app.call("GET", path, undefined, { ...asApi, Prefer: "wait=30" })).status).to.equal(404);
    });
  });

  describe("with POST /hooks/agent", () => {
    const runOf = async (key: string): Promise<string> => {
      const request = post({ "Idempotency-Key": key });
      return (await app.call("POST", "/hooks/agent", request.body, request.headers)).body.runId;
    };

    it("answers 200 with the run when it has ended", async () => {
      const key = randomUUID();
      const { answer } = await startWait(app, "/hooks/agent", post({ "Idempotency-Key": key }));
      const runId = await runOf(key);

      await endRun(app, runId, "All is well.");
      const { status, body, headers } = await answer;

      expect(status).to.equal(200);
      expect(Object.keys(body)).to.deep.equal(["ok", "runId", "sessionKey", "run"]);
      expect(body.run).to.include({ runId, status: "completed", reply: "All is well.", sessionKey: null });
      expect(headers.get("Preference-Applied")).to.equal("wait=30");
      expect(headers.get("Location")).to.equal(`/api/runs/${runId}`);
    });

    it("answers 200 with a run that has failed", async () => {
      const key = randomUUID();
      const { answer } = await startWait(app, "/hooks/agent", post({ "Idempotency-Key": key }));

      await app.stores.runs.cancel(await runOf(key));
      const { status, body } = await answer;

      expect([status, body.run.status, body.run.error.code]).to.deep.equal([200, "failed", "cancelled"]);
    });

    it("answers 202 as usual when the run takes longer", async () => {
      const { body: request, headers: sent } = post({ Prefer: "wait=1" });

      const { status, body, headers } = await app.call("POST", "/hooks/agent", request, sent);

      expect(status).to.equal(202);
      expect(Object.keys(body)).to.deep.equal(["ok", "runId", "sessionKey"]);
      expect(headers.get("Preference-Applied")).to.equal("wait=1");
    });

    it("lets a second request with the same Idempotency-Key join the run of the first and wait for it too", async () => {
      const key = randomUUID();
      const first = await startWait(app, "/hooks/agent", post({ "Idempotency-Key": key }));
      const second = await startWait(app, "/hooks/agent", post({ "Idempotency-Key": key }));
      const runId = await runOf(key);

      await endRun(app, runId, "Once.");
      const answers = await Promise.all([first.answer, second.answer]);
      const late = await app.call("POST", "/hooks/agent", post({}).body, {
        Authorization,
        "Idempotency-Key": key,
        Prefer: "wait=30",
      });

      for (const { status, body } of [...answers, late]) {
        expect([status, body.runId, body.run.reply]).to.deep.equal([200, runId, "Once."]);
      }
    });

    it("refuses a second request with the same Idempotency-Key and another body at once", async () => {
      const key = randomUUID();
      const { answer } = await startWait(app, "/hooks/agent", post({ "Idempotency-Key": key }));

      const other = post({ "Idempotency-Key": key, Prefer: "wait=30" }, { message: "Something else", deliver: false });
      const { status, body } = await app.call("POST", "/hooks/agent", other.body, other.headers);

      expect([status, body.code]).to.deep.equal([409, "idempotency_conflict"]);
      await endRun(app, await runOf(key), "done");
      await answer;
    });
  });
});
