import { expect } from "chai";
import { JobTokens } from "../../../src/models/jobs/tokens/jobTokens.ts";
import { reportingEnv } from "../../../src/workers/runs/reportingEnv.ts";
import { agentRequest } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";

describe("reportingEnv", () => {
  const app = useSharedApp({ apiToken: API });
  before(async () => {
    await app.stores.jobs.put("run-1", {});
  });

  const envOf = (_id: string, trackAsJob: boolean) =>
    reportingEnv(
      { _id, sessionKey: "s", request: { ...agentRequest, trackAsJob, timeoutSeconds: 60 } },
      new JobTokens(app.stores, app.clock, app.config.server),
      app.url,
    );

  it("has a token with which the program reports on its own job, and on jobs that outlive the run", async () => {
    const { SIGNALBOX_TOKEN, ...env } = await envOf("run-1", true);
    const report = () =>
      app.call("PUT", "/api/jobs/run-1/steps/own", { stepName: "Own" }, { Authorization: `Bearer ${SIGNALBOX_TOKEN}` });

    expect(env).to.deep.equal({
      SIGNALBOX_JOB_ID: "run-1",
      SIGNALBOX_SESSION: "s",
      SIGNALBOX_URL: app.url,
      SIGNALBOX_MCP_URL: `${app.url}/mcp`,
    });
    expect((await report()).status).to.equal(201);
    app.clock.advance(7 * 86_400_000);
    expect((await report()).status).to.equal(200);
    app.clock.advance(61_000);
    expect((await report()).status).to.equal(401);
  });

  it("is empty for a run without a job, and for one whose job was deleted", async () => {
    expect(await envOf("run-1", false)).to.deep.equal({});
    expect(await envOf("deleted", true)).to.deep.equal({});
  });
});
