import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const TOOL = resolve(".tools/python");
const TOKEN = "a-hook-token-of-length";

describe("/openapi.json, tried by schemathesis with every check on", () => {
  let app: TestApp;
  let worker: TestWorker;
  let dir: string;
  before(async () => {
    app = await startApp({
      config: `{ hooks: { enabled: true, token: "${TOKEN}", mappings: [{ match: { path: "ci" } }] } }`,
    });
    worker = await startWorker(app);
    dir = mkdtempSync(join(tmpdir(), "signalbox-schemathesis-"));
  });
  after(async () => {
    await worker.close();
    await app.close();
    rmSync(dir, { recursive: true });
  });

  it("finds no 500, no answer off schema and no valid request refused", async function () {
    this.timeout(300_000);
    const args = ["--config-file", resolve("test/api/schemathesis.toml"), "run", `${app.url}/openapi.json`];
    const phases = ["--phases", "examples,coverage,fuzzing,stateful"];
    const endless = ["--exclude-operation-id", "watchEvents", "--exclude-operation-id", "watchJob"];
    const token = ["-H", `Authorization: Bearer ${TOKEN}`];

    const child = spawn(
      "python3",
      ["-m", "schemathesis.cli", ...args, ...phases, ...endless, ...token, "--max-examples", "25", "--seed", "7"],
      {
        cwd: dir,
        env: { ...process.env, PYTHONPATH: [TOOL, process.env.PYTHONPATH].filter(Boolean).join(delimiter) },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);

    expect(code, report).to.equal(0);
    expect(report).to.match(/Tested: 30/);
    expect(app.log.filter(({ code }) => code === "internal")).to.deep.equal([]);
    expect(worker.log.filter(({ msg }) => msg === "job failed")).to.deep.equal([]);
  });
});
