import { expect } from "chai";
import { acquireRun } from "../../../../src/models/runs/acquireRun.ts";
import type { AgentRun } from "../../../../src/models/runs/run.ts";
import { bearer } from "../../../support/app.ts";
import { acceptRun } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";
const API = "an-api-token-of-length";
const CONFIG = `{ server: { apiToken: "${API}" }, hooks: { enabled: true, token: "${TOKEN}" } }`;
const LEASE_MS = 15_000;

describe("What went wrong in a run", () => {
  const app = useSharedApp({ config: CONFIG });

  const read = async (runId: string, token = API) =>
    (await app.call("GET", `/api/runs/${runId}`, undefined, bearer(token))).body;

  it("is read with the words of the server and of the program, but not with the hook token or in lists", async () => {
    const runId = await acceptRun(app, "a");
    const first = (await acquireRun(app.stores, runId, app.clock, LEASE_MS)) as AgentRun;
    const error = { code: "agent_unavailable", message: "The model server answered 500.\nCUDA out of memory" } as const;
    await app.stores.runs.retryLater(first, app.clock.now(), error, { stderr: "first" });
    await app.stores.sessions.release("a", first.lease.token);
    const second = (await acquireRun(app.stores, runId, app.clock, LEASE_MS)) as AgentRun;
    await app.stores.runs.end(second, { kind: "failed", error }, { stderr: "second" });
    const missingValues = [{ path: "build.idd", didYouMean: "build.id" }];
    await app.stores.runs.collection.native.updateOne({ _id: runId }, { $set: { missingValues } });

    const run = await read(runId);
    const ofSender = await read(runId, TOKEN);
    const [row] = (await app.call("GET", "/api/runs?sessionKey=a", undefined, bearer(API))).body.runs;

    expect(run).to.deep.include({ error, stderr: "second", missingValues });
    expect(run.failedAttempts.map(({ stderr }: { stderr: string }) => stderr)).to.deep.equal(["first", "second"]);
    expect(run.failedAttempts[0].error).to.deep.equal(error);
    expect(ofSender.error).to.deep.equal({ ...error, message: "The model server answered 500." });
    expect(JSON.stringify(ofSender)).to.not.match(/CUDA|stderr|second|build/);
    expect(row).to.include.keys("error").and.not.include.keys("stderr", "failedAttempts", "missingValues");
  });

  it("is not the standard error of an earlier attempt once a later one wrote nothing", async () => {
    const runId = await acceptRun(app, "b");
    const first = (await acquireRun(app.stores, runId, app.clock, LEASE_MS)) as AgentRun;
    const error = { code: "agent_unavailable", message: "away" } as const;
    await app.stores.runs.retryLater(first, app.clock.now(), error, { stderr: "first" });
    await app.stores.sessions.release("b", first.lease.token);
    const second = (await acquireRun(app.stores, runId, app.clock, LEASE_MS)) as AgentRun;
    await app.stores.runs.end(second, { kind: "completed", reply: "Done." });

    expect(await read(runId)).to.not.have.property("stderr");
  });
});
