import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { hearsChanges } from "../../cli/hearsChanges.ts";
import type { Drawing } from "../../cli/screen.ts";
import { follow, runCli } from "../../cli/service.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { freePort, mongoUri } from "../../support/servers/servers.ts";

describe("signalbox jobs watch", () => {
  let app: TestApp;
  let env: Record<string, string>;
  const drawings: Drawing[] = [];
  before(async () => {
    app = await startApp();
    env = { SIGNALBOX_URL: app.url };
    await hearsChanges(app);
  });
  afterEach(() => Promise.all(drawings.splice(0).map(({ stop }) => stop())));
  after(() => app.close());

  it("survives a restart of the service and reports it", async () => {
    const [port, mongo, prefix] = [await freePort(), await mongoUri(`test-${randomUUID()}`), `test-${randomUUID()}`];
    let service = await startApp({ port, mongo, prefix });
    try {
      await hearsChanges(service);
      const { jobId, path } = await createJob(service, { message: "before" });

      const watching = follow(["jobs", "watch", jobId], { SIGNALBOX_URL: service.url });
      await watching.prints(/before/);
      await service.close();
      await watching.prints(/trying again/);
      service = await startApp({ port, mongo, prefix });
      await report(service, path, "last", { ...whole(100), status: "completed", message: "after", output: {} });
      const { code, stdout, stderr } = await watching.ended;

      expect(code).to.equal(0);
      expect(stdout.trimEnd()).to.match(/100 % {2}completed {2}after$/);
      expect(stderr).to.equal(
        "The connection to the service is lost; trying again …\nThe connection to the service is back.\n",
      );
    } finally {
      await service.close();
    }
  });

  it("exits without a message when the reader closes the pipe", async () => {
    const name = `pipe-${randomUUID()}`;
    await createJob(app, { name });

    const watching = runCli(`jobs watch --name ${name}`, env);
    await watching.prints(/running/);
    watching.closeOutput();
    await createJob(app, { name });
    const { code, stderr } = await watching.ended;

    expect([code, stderr]).to.deep.equal([141, ""]);
  });
});
