import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { startApp } from "../../support/app.ts";
import { documentBlocks } from "../../support/documentBlocks.ts";

describe("the manifest of a CronJob", () => {
  it("reports a run and its output by the command that the page shows", async () => {
    const app = await startApp();
    const manifest = documentBlocks("docs/how-to/report-kubernetes-cronjobs.md").find((one) => one.language === "yaml");
    const [, script = ""] = /args:\n +- \|\n([\s\S]+)$/.exec(manifest?.code ?? "") ?? [];
    expect(script).to.include("$PING/start");

    await promisify(execFile)("sh", ["-c", script], {
      env: { PATH: process.env.PATH, PING: `${app.url}/ping/any/cleanup` },
    });

    const { jobs } = (await app.call("GET", "/api/jobs")).body;
    expect(jobs).to.have.length(1);
    expect(jobs[0]).to.deep.include({ name: "cleanup", status: "completed", message: "your command" });
    await app.close();
  });
});
