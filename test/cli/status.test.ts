import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { canTestLinux } from "../support/machine.ts";
import { freePort } from "../support/servers/servers.ts";

describe("signalbox status", () => {
  const CONFIG = `{ channels: { ntfy: { baseUrl: "http://127.0.0.1:9" } } }`;

  it("prints the state of a service that is ready, with its jobs, runs and channels", async () => {
    const app = await startApp({ config: CONFIG });
    await createJob(app);
    await createJob(app, { status: "failed" });
    const env = { SIGNALBOX_URL: app.url };

    const table = await runInProcess(["status"], env);
    const json = await runInProcess(["status", "--json"], env);
    await app.close();

    expect([table.code, table.stderr]).to.deep.equal([0, ""]);
    expect(table.stdout.trimEnd().split("\n")).to.deep.equal([
      `Address  ${app.url}`,
      "State    ready",
      "Jobs     1 running (0 stale), 0 completed, 1 failed",
      "Runs     0 queued, 0 running",
      "Channel  ntfy, 0 pending, 0 failed in 24 hours",
    ]);
    expect(JSON.parse(json.stdout)).to.deep.include({
      url: app.url,
      ready: true,
      runs: { queued: 0, waiting: 0, running: 0 },
    });
  });

  it("shows a channel whose service refuses the credentials as stopped: since when, why, and what to do", async () => {
    const app = await startApp({ config: CONFIG });
    const { deliveries } = app.stores;
    const since = app.clock.now();
    const later = new Date(since.getTime() + 300_000);
    await deliveries.add({ _id: "one", runId: null, channel: "ntfy", to: "ops", text: "x", fault: null });
    await deliveries.acquire("one", "t", later);
    const channelStop = { since, reason: "401 Unauthorized" };
    await deliveries.retryLater("one", "t", later, { reason: channelStop.reason, channelStop });

    const { code, stdout } = await runInProcess(["status"], { SIGNALBOX_URL: app.url });
    await app.close();

    expect(code).to.equal(0);
    expect(stdout.trimEnd().split("\n").slice(4).join("\n")).to.match(
      /^Channel {2}ntfy, stopped for \d+[smh], 1 pending, 0 failed in 24 hours\n {9}401 Unauthorized\n {9}It is tried again at \S+Z, or with `signalbox channels resume ntfy`\.$/,
    );
  });

  it("names what is missing and exits with 1 if the service is not ready", async () => {
    const probes = [{ name: "mongodb", check: () => Promise.reject(new Error("away")) }];
    const app = await startApp({ probes });

    const { code, stdout } = await runInProcess(["status"], { SIGNALBOX_URL: app.url });
    await app.close();

    expect([code, stdout]).to.deep.equal([1, `Address  ${app.url}\nState    not ready: mongodb\n`]);
  });

  it("names what a degraded service lacks, prints its figures and exits with 0", async () => {
    const probes = [{ name: "redis", check: () => Promise.reject(new Error("away")) }];
    const app = await startApp({ probes });
    await createJob(app);

    const { code, stdout } = await runInProcess(["status"], { SIGNALBOX_URL: app.url });
    const json = await runInProcess(["status", "--json"], { SIGNALBOX_URL: app.url });
    await app.close();

    expect(code).to.equal(0);
    expect(stdout).to.include("State    degraded: redis\nJobs     1 running");
    expect(JSON.parse(json.stdout)).to.deep.include({
      ready: true,
      checks: [
        { name: "redis", ok: false },
        { name: "process", ok: true },
      ],
    });
  });

  it("exits with 3 if no service answers", async () => {
    const { code, stderr } = await runInProcess(["status"], { SIGNALBOX_URL: `http://127.0.0.1:${await freePort()}` });

    expect(code).to.equal(3);
    expect(stderr).to.match(/cannot be reached.* Start it with /);
  });
});

describe("signalbox open", () => {
  if (canTestLinux())
    it("prints the address of the dashboard and passes it to the opener of the desktop", async () => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-open-"));
      const opened = join(folder, "opened");
      writeFileSync(opened, "");
      writeFileSync(join(folder, "xdg-open"), `#!/bin/sh\necho "$1" >> ${opened}\n`);
      chmodSync(join(folder, "xdg-open"), 0o755);

      const { code, stdout } = await runInProcess(["open", "--url", "http://127.0.0.1:3000/box"], { PATH: folder });
      await eventually(() => readFileSync(opened, "utf8") !== "", "the opener to run");

      expect([code, stdout]).to.deep.equal([0, "http://127.0.0.1:3000/box\n"]);
      expect(readFileSync(opened, "utf8")).to.equal("http://127.0.0.1:3000/box\n");
      rmSync(folder, { recursive: true });
    });

  it("prints the address where no desktop is", async () => {
    const { code, stdout } = await runInProcess(["open", "--url", "http://127.0.0.1:3000"], { PATH: "/nowhere" });

    expect([code, stdout]).to.deep.equal([0, "http://127.0.0.1:3000\n"]);
  });
});
