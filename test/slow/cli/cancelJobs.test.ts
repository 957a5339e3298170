import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { runCli } from "../../cli/service.ts";
import { eventually } from "../../support/eventually.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("signalbox when jobs are cancelled", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  const read = async (path: string) => (await app.call("GET", path)).body;

  it("run completes the job of a program that ends well in spite of SIGTERM", async () => {
    const jobId = `program-${randomUUID()}`;
    const script = `
      process.on("SIGTERM", () => { console.log("saved"); process.exit(0); });
      setInterval(() => console.log("working"), 20);`;
    const running = runCli(["run", "--job", jobId, "--", process.execPath, "-e", script], env);
    await eventually(async () => (await read(`/api/jobs/${jobId}`)).message === "working", "the program to run");

    await app.call("POST", `/api/jobs/${jobId}/cancel`);
    const { code } = await running.ended;

    expect(code).to.equal(0);
    expect(await read(`/api/jobs/${jobId}`)).to.include({ status: "completed", message: "saved" });
  });
});
