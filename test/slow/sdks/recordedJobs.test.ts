import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { expect } from "chai";
import { CloudEvent, HTTP } from "cloudevents";
import { MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";

const require = createRequire(import.meta.url);
const SECRET = "It's a Secret to Everybody";

interface Payload {
  readonly repository: { readonly full_name: string };
  readonly workflow_run?: Readonly<Record<string, unknown>>;
  readonly workflow_job?: Readonly<Record<string, unknown>>;
}

const RECORDED = (
  require("@octokit/webhooks-examples") as readonly { readonly name: string; readonly examples: readonly Payload[] }[]
).filter(({ name }) => name === "workflow_run" || name === "workflow_job");

/** The status that each conclusion means. A run that waits for an approval still runs. */
const STATUSES: Readonly<Record<string, string>> = {
  success: "completed",
  skipped: "completed",
  failure: "failed",
  action_required: "running",
};

describe("mappings that report jobs", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    fixture = await MappedHookFixture.start([
      { id: "ci", preset: "github-actions", auth: { secret: SECRET } },
      { id: "events", preset: "cloudevents" },
    ]);
  });
  after(() => fixture.close());

  const read = async (jobId: string) =>
    (await fixture.app.call("GET", `/api/jobs/${encodeURIComponent(jobId)}?include=steps`)).body;

  it("take every recorded payload of GitHub about runs and jobs of workflows", async () => {
    expect(RECORDED).to.have.length(2);
    for (const { name, examples } of RECORDED) {
      for (const payload of examples) {
        const { workflow_run: run, workflow_job: job, repository } = payload;
        const { run_attempt: attempt = "" } = (job ?? run) as { run_attempt?: number };
        const body = JSON.stringify(payload);
        const signature = createHmac("sha256", SECRET).update(body).digest("hex");
        const headers = { "X-GitHub-Event": name, "X-Hub-Signature-256": `sha256=${signature}`, Authorization: "" };
        const { status, error } = await fixture.run("github-actions", body, headers);

        expect(["completed", "dropped"], JSON.stringify(error)).to.include(status);
        const { conclusion, id } = (job ?? run) as { conclusion: string | null; id: number };
        if (conclusion === null) continue;
        const stored = await read(`ci/${repository.full_name}/${job?.run_id ?? id}/${attempt}`);
        const record = job ? stored.steps.find((one: { stepKey: string }) => one.stepKey === String(id)) : stored;
        expect(STATUSES, "the conclusions").to.have.property(conclusion);
        // the records of one run are of different days: an end that came before stays
        const ends = ["running", "completed", "failed"];
        expect(ends.indexOf(record.status)).to.be.at.least(ends.indexOf(STATUSES[conclusion] as string));
      }
    }
    expect(fixture.model.requests).to.deep.equal([]);
  });

  for (const [mode, toMessage] of [
    ["binary", HTTP.binary],
    ["structured", HTTP.structured],
  ] as const) {
    it(`take the events of the SDK of CloudEvents in the ${mode} mode`, async () => {
      const subject = `nightly/${mode}`;
      for (const type of ["com.example.backup.started", "com.example.backup.finished"]) {
        const event = new CloudEvent({ source: "/backups", type, subject, data: { files: 12 } });
        const { headers, body } = toMessage(event);
        const { "content-type": mediaType, ...others } = headers as Record<string, string>;
        await fixture.run("cloudevents", String(body), { ...others, "Content-Type": mediaType as string });
      }

      expect(await read(`events/${subject}`)).to.deep.include({ status: "completed", output: { files: 12 } });
    });
  }
});
