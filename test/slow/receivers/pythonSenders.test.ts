import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { documentBlocks } from "../../support/documentBlocks.ts";

/** Packages that bootstrap installed: openlineage-python and borgmatic. */
const PACKAGES = resolve(".tools/python");
const API = "an-api-token-of-length";
const KEY = "the-token-of-a-sender-of-pings";
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [{ name: "sender", token: KEY, scopes: ["jobs:create"], jobs: { idPrefix: "s/" } }],
  },
});

const run = promisify(execFile);

/** A DAG run with two tasks, one of which fails, as the official client sends it. */
const LINEAGE = `
import sys
from datetime import datetime, timezone
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.facet_v2 import error_message_run, job_type_job, nominal_time_run, parent_run
from openlineage.client.uuid import generate_new_uuid

client = OpenLineageClient()
dag, first, second = (str(generate_new_uuid()) for _ in range(3))

def send(state, run_id, name, **facets):
    job_facets = {"jobType": job_type_job.JobTypeJobFacet(processingType="BATCH", integration="AIRFLOW", jobType="DAG")}
    time = datetime.now(timezone.utc).isoformat()
    client.emit(RunEvent(eventType=state, eventTime=time, producer="https://example.com/test", inputs=[], outputs=[],
        run=Run(runId=run_id, facets=facets), job=Job(namespace="production", name=name, facets=job_facets)))

of_dag = parent_run.ParentRunFacet(run=parent_run.Run(runId=dag), job=parent_run.Job(namespace="production", name="orders"))
send(RunState.START, dag, "orders", nominalTime=nominal_time_run.NominalTimeRunFacet(nominalStartTime="2026-01-31T00:00:00Z"))
send(RunState.START, first, "orders.load", parent=of_dag)
send(RunState.COMPLETE, first, "orders.load", parent=of_dag)
send(RunState.START, second, "orders.check", parent=of_dag)
send(RunState.FAIL, second, "orders.check", parent=of_dag,
    errorMessage=error_message_run.ErrorMessageRunFacet(message="3 rows are wrong", programmingLanguage="python"))
send(RunState.FAIL, dag, "orders")
client.close()
print(dag)
`;

describe("senders from PyPI", function () {
  this.timeout(120_000);
  let app: TestApp;
  let room: string;
  before(async () => {
    app = await startApp({ config: CONFIG });
    room = mkdtempSync(join(tmpdir(), "signalbox-senders-"));
  });
  after(async () => {
    rmSync(room, { recursive: true });
    await app.close();
  });

  const python = async (args: readonly string[], env: Record<string, string> = {}) => {
    const options = { env: { PATH: process.env.PATH, HOME: room, PYTHONPATH: PACKAGES, ...env }, cwd: room };
    return (await run("python3", [...args], options).catch((error) => error)).stdout as string;
  };
  const read = async (path: string) =>
    (await app.call("GET", path, undefined, { Authorization: `Bearer ${API}` })).body;
  /** Returns a block of a page with the address and the key of this test. */
  const pasted = (page: string, language: string) => {
    const block = documentBlocks(`docs/how-to/${page}.md`).find((one) => one.language === language);
    return (block?.code ?? "").replaceAll("http://127.0.0.1:3000", app.url).replace(/\b(AIRFLOW|BACKUP)_KEY\b/g, KEY);
  };

  it("openlineage-python reports a run with the transport of the page about Airflow", async () => {
    const [, transport = ""] = /^transport = (.*)$/m.exec(pasted("report-from-airflow", "ini")) ?? [];
    writeFileSync(join(room, "openlineage.yml"), `transport: ${transport}\n`);
    const dag = (await python(["-c", LINEAGE], { OPENLINEAGE_CONFIG: join(room, "openlineage.yml") })).trim();

    const job = await read(`/api/jobs/${encodeURIComponent(`s/${dag}`)}?include=steps`);
    expect(job).to.include({ name: "orders", status: "failed", message: "3 rows are wrong" });
    expect(job.metadata).to.deep.equal({
      namespace: "production",
      nominalTime: { nominalStartTime: "2026-01-31T00:00:00Z" },
      jobType: { processingType: "BATCH", integration: "AIRFLOW", jobType: "DAG" },
    });
    expect(job.steps.map((one: Record<string, unknown>) => [one.stepName, one.status, one.message])).to.deep.equal([
      ["orders.load", "completed", null],
      ["orders.check", "failed", "3 rows are wrong"],
    ]);
  });

  it("borgmatic reports a run that fails with the lines of the page about backups", async () => {
    const config = join(room, "borgmatic.yaml");
    const lines = pasted("report-backups", "yaml");
    writeFileSync(
      config,
      `${lines}source_directories: [/etc]\nrepositories: [{ path: ${room}/repo }]\nlocal_path: ${room}/no-borg\n`,
    );
    const command = "import sys; from borgmatic.commands.borgmatic import main; main()";
    await python(["-c", command, "create", "--config", config]);

    const { jobs } = await read("/api/jobs?jobId=s/photos/");
    expect(jobs).to.have.length(1);
    expect(jobs[0]).to.include({ name: "photos", status: "failed" });
    const log = await read(`/api/jobs/${encodeURIComponent(jobs[0].jobId)}/steps/ping/log`);
    expect(log.lines.length).to.be.greaterThan(0);
  });
});
