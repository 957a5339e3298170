import { expect } from "chai";
import sinon from "sinon";
import { endChannelStop, readStoppedChannels } from "../../src/models/deliveries/channelStop.ts";
import { serveMetrics, WorkerMetrics } from "../../src/workers/metrics.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const readStopped = async () => new Set<string>();
const bearer = { Authorization: `Bearer ${TOKEN}` };

describe("the worker's metrics", () => {
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    app = await startApp({ config: `{ hooks: { enabled: true, token: "${TOKEN}" } }` });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
  });

  it("have series of the value 0 before the first event", async () => {
    const fresh = new WorkerMetrics();
    fresh.addSeries({ channels: ["slack"], rules: [{ id: "sales", on: ["job.failed"] }], readStopped });
    const text = await fresh.registry.metrics();

    for (const series of [
      'signalbox_runs_total{outcome="failed",code="agent_failed"}',
      'signalbox_run_duration_seconds_count{outcome="replied"}',
      'signalbox_mapped_hooks_total{outcome="failed"}',
      'signalbox_heartbeat_turns_total{outcome="failed"}',
      'signalbox_deliveries_total{channel="slack",outcome="failed"}',
      'signalbox_deliveries_total{channel="webhook",outcome="failed"}',
      'signalbox_delivery_attempts_total{channel="slack",result="rate-limited"}',
      'signalbox_notifications_total{rule="sales",type="job.failed"}',
      'signalbox_channel_stopped{channel="slack"}',
    ]) {
      expect(text.split("\n")).to.include(`${series} 0`);
    }
  });

  it("keep the values of their series when the configuration changes", async () => {
    const fresh = new WorkerMetrics();
    const change = (channels: string[]) => fresh.addSeries({ channels, rules: [], readStopped });
    change(["slack", "discord"]);
    fresh.deliveries.inc({ channel: "slack", outcome: "failed" });

    change(["slack"]);

    const text = await fresh.registry.metrics();
    expect(text).to.match(/^signalbox_deliveries_total\{channel="slack",outcome="failed"\} 1$/m);
    expect(text).to.match(/^signalbox_channel_stopped\{channel="slack"\} 0$/m);
    expect(text).to.not.include('signalbox_channel_stopped{channel="discord"}');
  });

  it("show a stopped channel in every worker, also in one that has just started, and keep it while MongoDB is unavailable", async () => {
    const { deliveries } = app.stores;
    await deliveries.add({ _id: "waits", runId: null, channel: "slack", to: "C1", text: "x", fault: null });
    const stop = { channelStop: { since: new Date(), reason: "It refuses the token." } };
    await deliveries.collection.native.updateOne({ _id: "waits" }, { $set: stop });
    const fresh = new WorkerMetrics();
    const read = sinon.stub().callsFake(() => readStoppedChannels(app.stores));
    fresh.addSeries({ channels: ["slack", "discord"], rules: [], readStopped: read });
    const values = async () => (await fresh.registry.metrics()).match(/^signalbox_channel_stopped.* \d$/gm);

    const stopped = await values();
    read.onSecondCall().rejects(new Error("MongoDB is unavailable"));
    const unavailable = await values();
    await endChannelStop(app.stores, "slack");
    const ended = await values();
    await deliveries.collection.native.deleteOne({ _id: "waits" });

    const [slack, discord] = ["slack", "discord"].map((channel) => `signalbox_channel_stopped{channel="${channel}"}`);
    expect(stopped).to.deep.equal([`${slack} 1`, `${discord} 0`]);
    expect(unavailable).to.deep.equal(stopped);
    expect(ended).to.deep.equal([`${slack} 0`, `${discord} 0`]);
  });

  it("count runs by outcome, their queued and running time, heartbeat turns and deliveries", async () => {
    const { body } = await app.call("POST", "/hooks/agent", { message: "x" }, bearer);
    await eventually(async () => {
      const run = (await app.call("GET", `/api/runs/${body.runId}`)).body;
      return run.deliveries[0]?.state === "failed" && (await app.stores.mainEvents.countWaiting()) === 0;
    }, "the run and all that follows");

    const text = await eventually(async () => {
      const seen = await worker.metrics.registry.metrics();
      return /^signalbox_heartbeat_turns_total\{outcome="replied"\} [1-9]/m.test(seen) && seen;
    }, "the heartbeat to be counted");
    expect(text).to.match(/^signalbox_runs_total\{outcome="replied",code=""\} 1$/m);
    expect(text).to.match(/^signalbox_run_queued_seconds_count 1$/m);
    expect(text).to.match(/^signalbox_run_duration_seconds_count\{outcome="replied"\} 1$/m);
    expect(text).to.match(/^signalbox_heartbeat_turns_total\{outcome="replied"\} 1$/m);
    expect(text).to.match(/^signalbox_deliveries_total\{channel="whatsapp",outcome="failed"\} 1$/m);
  });

  it("include waiting events on the API's /metrics", async () => {
    await app.call("POST", "/hooks/wake", { text: "x", mode: "next-heartbeat" }, bearer);

    const { body } = await app.call("GET", "/metrics");

    expect(body).to.match(/^signalbox_events_waiting 1$/m);
    expect(body).to.match(/^signalbox_hooks_accepted_total\{hook="wake"\} 1$/m);
  });

  it("are served on their own port, which serves nothing else", async () => {
    const served = await serveMetrics(new WorkerMetrics().registry, { port: 0, host: "127.0.0.1" });
    try {
      const metrics = await fetch(`${served.url}/metrics`);

      expect(metrics.status).to.equal(200);
      expect(await metrics.text()).to.include("process_resident_memory_bytes");
      expect(await (await fetch(`${served.url}/healthz`)).json()).to.deep.equal({ status: "ok" });
      expect((await fetch(`${served.url}/api/jobs`)).status).to.equal(404);
    } finally {
      await served.close();
    }
  });
});
