import { expect } from "chai";
import { acquireRun } from "../../../../src/models/runs/acquireRun.ts";
import type { AgentRun } from "../../../../src/models/runs/run.ts";
import { bearer } from "../../../support/app.ts";
import { acceptRun } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";
const API = "an-api-token-of-length";
const CONFIG = `{ server: { apiToken: "${API}" }, hooks: { enabled: true, token: "${TOKEN}",
  mappings: [{ match: { path: "ci" }, sessionKey: "hook:ci", messageTemplate: "m" }] } }`;
const LEASE_MS = 15_000;

describe("waitsFor of GET /api/runs/:runId", () => {
  const app = useSharedApp({ config: CONFIG });

  const read = async (runId: string, token = API) =>
    (await app.call("GET", `/api/runs/${runId}`, undefined, bearer(token))).body;
  const waitsFor = async (runId: string) => (await read(runId)).waitsFor;
  const nothing = { runId: null, notBefore: null };
  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);

  it("names the earliest run of the session that has not ended, and a worker for that run itself", async () => {
    const [first, second, third] = [await acceptRun(app, "a"), await acceptRun(app, "a"), await acceptRun(app, "a")];
    const before = [await waitsFor(first), await waitsFor(second), await waitsFor(third)];
    await app.stores.runs.cancel(first);

    const worker = { ...nothing, kind: "worker" };
    expect(before).to.deep.equal([worker, ...[1, 2].map(() => ({ ...nothing, kind: "run", runId: first }))]);
    expect([await waitsFor(second), await waitsFor(third)]).to.deep.equal([
      worker,
      { ...nothing, kind: "run", runId: second },
    ]);
  });

  it("is the time of the next attempt after a failed one, until that time", async () => {
    const runId = await acceptRun(app, "b");
    const run = (await acquireRun(app.stores, runId, app.clock, LEASE_MS)) as AgentRun;
    const whileRunning = await read(runId);
    const notBefore = inAMinute();
    await app.stores.runs.retryLater(run, notBefore, { code: "agent_unavailable", message: "away" });
    await app.stores.sessions.release("b", run.lease.token);

    expect(whileRunning).to.not.have.property("waitsFor");
    expect(await waitsFor(runId)).to.deep.equal({ ...nothing, kind: "time", notBefore: notBefore.toISOString() });
    app.clock.advance(60_001);
    expect(await waitsFor(runId)).to.deep.equal({ ...nothing, kind: "worker" });
  });

  it("is the session while another turn holds it, and a worker while the mapping is not applied", async () => {
    const runId = await acceptRun(app, "c");
    await app.stores.sessions.acquire({ key: "c", holder: "heartbeat" }, { token: "t", until: inAMinute() });
    const { body: mapped } = await app.call("POST", "/hooks/ci", {}, bearer(TOKEN));

    expect(await waitsFor(runId)).to.deep.equal({ ...nothing, kind: "session" });
    expect(await waitsFor(mapped.runId)).to.deep.equal({ ...nothing, kind: "worker" });
  });

  it("is missing for the hook token, in lists and after the end", async () => {
    const [ended, ahead, queued] = [await acceptRun(app, "d"), await acceptRun(app, "e"), await acceptRun(app, "e")];
    await app.stores.runs.cancel(ended);

    const { runs } = (await app.call("GET", "/api/runs?sessionKey=e", undefined, bearer(API))).body;

    for (const run of [await read(queued, TOKEN), await read(ended), ...runs]) {
      expect(run).to.not.have.property("waitsFor");
    }
    expect(await waitsFor(queued)).to.include({ runId: ahead });
  });
});
