import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { waitForAddress } from "../../support/browser.ts";
import { agentRequest } from "../../support/factories.ts";

const SESSION = "agent:build";
const JOB = "run-1/build & test";
const SENTENCE = "A job that this session started has completed.";

describe("dashboard pages of a return", () => {
  const { app, openLive } = useDashboard();

  /** Stores a job that has woken its session, with the run and the turn that came of it. */
  async function returned(): Promise<string> {
    const _id = randomUUID();
    const to = { sessionKey: SESSION, on: ["completed" as const], deliver: false, channel: "last", to: null };
    const of = [{ id: "note", jobId: JOB, event: "completed" as const }];
    await app.stores.jobs.put(JOB, { name: "Build", returnTo: to, status: "completed", output: { image: "app:7" } });
    const { _id: internalId } = (await app.stores.jobs.put(JOB, {})).job;
    const request = { ...agentRequest, message: "Job: Build", instructions: SENTENCE };
    const run = { _id, name: "Return of Build", sessionKey: SESSION, singleUse: false, request, mapped: null };
    await app.stores.runs.accept([{ ...run, kind: "return", returnOf: of, chain: 1 }]);
    const job = { jobId: JOB, internalId: internalId.toHexString() };
    await app.stores.jobs.addReturn(job, { id: "note", event: "completed", runId: _id, at: app.clock.now() });
    await app.stores.messages.addTurn(`${_id}-1`, {
      ...{ sessionKey: SESSION, prompt: "Job: Build", outside: true, reply: "The build is ready." },
      endedAt: app.clock.now(),
      returned: { sentence: SENTENCE, of: [{ jobId: JOB, event: "completed" }] },
    });
    return _id;
  }

  it("link the job, the run and the session to each other", async () => {
    const runId = await returned();
    const job = `/jobs/${encodeURIComponent(JOB)}`;
    const page = await openLive(job);

    await page.getByRole("link", { name: "completed", exact: true }).click();
    await waitForAddress(page, "pathname", `/runs/${runId}`);
    await page.getByRole("heading", { name: "Return of Build" }).waitFor();
    await page.getByRole("link", { name: JOB }).click();
    await waitForAddress(page, "pathname", job);
    await page.getByRole("link", { name: "the session that it wakes" }).click();
    await waitForAddress(page, "pathname", `/sessions/${encodeURIComponent(SESSION)}`);
    await page.getByText("The build is ready.").waitFor();
    const turn = page.getByRole("listitem").filter({ hasText: "Return of a job" });
    await turn.getByText("Job: Build").waitFor();
    expect(await page.getByText("Prompt", { exact: true }).count()).to.equal(0);
    await turn.getByRole("link", { name: "Job completed" }).click();
    await waitForAddress(page, "pathname", job);
    await page.getByRole("heading", { name: "Build" }).first().waitFor();
  });

  it("say that the session of a return no longer existed", async () => {
    await app.stores.jobs.put("a", { name: "A" });
    const { _id } = (await app.stores.jobs.put("a", {})).job;
    const page = await openLive("/jobs/a");
    const dropped = { id: "note", event: "failed" as const, runId: null, at: app.clock.now() };
    await app.stores.jobs.addReturn({ jobId: "a", internalId: _id.toHexString() }, dropped);
    await page.reload();

    await page.getByText("failed: the session no longer existed").waitFor();
  });
});
