import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { retention } from "../../src/shared/queue/definitions.ts";
import { startApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { freeze } from "../support/freeze.ts";
import { startMongod, startRedis } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";

/** Returns one sample of the Prometheus text, or 0 when it is absent. */
const sample = (text: string, name: string) => Number(text.match(new RegExp(`^${name} (.*)$`, "m"))?.[1] ?? 0);

describe("operations", () => {
  const app = useSharedApp();
  const metrics = async () => (await app.call("GET", "/metrics")).body as string;

  it("GET /healthz answers that the process is alive", async () => {
    const { status, body } = await app.call("GET", "/healthz");

    expect(status).to.equal(200);
    expect(body).to.deep.equal({ status: "ok" });
  });

  it("GET /readyz answers that all dependencies are available", async () => {
    const { status, body } = await app.call("GET", "/readyz");

    expect(status).to.equal(200);
    expect(body.status).to.equal("ready");
    expect(body.checks).to.deep.include({ name: "mongodb", ok: true });
  });

  it("GET /readyz answers 200 and degraded without Redis, which a metric shows", async () => {
    const redis = await startRedis();
    const other = await startApp({ redis: redis.url });
    try {
      await redis.stop("SIGKILL");

      const { status, body } = await other.call("GET", "/readyz");

      expect(status).to.equal(200);
      expect(body.status).to.equal("degraded");
      expect(body.checks).to.deep.include.members([
        { name: "mongodb", ok: true },
        { name: "redis", ok: false },
      ]);
      const metrics = (await other.call("GET", "/metrics")).body;
      expect(metrics).to.include('signalbox_dependency_up{dependency="redis"} 0');
      expect(metrics).to.include('signalbox_dependency_up{dependency="mongodb"} 1');
      expect((await other.call("GET", "/api/jobs")).status).to.equal(200);
    } finally {
      await other.close();
      await redis.remove();
    }
  });

  it("GET /metrics counts reports, jobs by outcome and requests by route and status, in totals", async () => {
    const before = await metrics();
    const { path } = await createJob(app);
    await report(app, path, "a", whole(50));
    await report(app, path, "a", { ...whole(100), status: "completed", output: {} });
    await report(app, path, "a", { ...whole(100), status: "completed", output: {} });
    const failed = await createJob(app);
    await report(app, failed.path, "a", { status: "failed", failJob: true });
    await app.call("GET", "/api/jobs/nobody");
    const after = await metrics();

    const grown = (name: string) => sample(after, name) - sample(before, name);
    expect(grown('signalbox_jobs_total{outcome="created"}')).to.equal(2);
    expect(grown('signalbox_jobs_total{outcome="completed"}')).to.equal(1);
    expect(grown('signalbox_jobs_total{outcome="failed"}')).to.equal(1);
    expect(grown('signalbox_reports_total{status="running"}')).to.equal(1);
    expect(grown('signalbox_reports_total{status="completed"}')).to.equal(2);
    expect(
      grown('signalbox_http_request_duration_seconds_count{method="GET",route="/api/jobs/:jobId",status="404"}'),
    ).to.equal(1);
    expect(after)
      .to.match(/^process_resident_memory_bytes \d/m)
      .and.to.match(/^nodejs_eventloop_lag_seconds/m);
  });

  it("GET /metrics shows the depth of each queue", async () => {
    await app.queues.schedule(retention, {}, { everyMs: 3_600_000, immediately: false });

    const text = await metrics();

    const depth = (state: string) => sample(text, `signalbox_queue_jobs{queue="retention",state="${state}"}`);
    expect(depth("waiting") + depth("delayed")).to.equal(1);
    expect(text).not.to.match(/^signalbox_queue_jobs\{.*state="failed"/m); // failed entries are removed at once
  });

  it("GET /metrics answers without MongoDB's metrics while MongoDB hangs", async () => {
    const mongod = await startMongod();
    const other = await startApp({ mongo: `${mongod.url}/x` });
    await freeze(mongod.pid);

    const answer = await fetch(`${other.url}/metrics`, { signal: AbortSignal.timeout(60_000) }).finally(() =>
      mongod.signal("SIGCONT"),
    );

    expect(await answer.text())
      .to.include("signalbox_event_streams 0")
      .and.not.match(/^signalbox_events_waiting \d/m);
    await other.close();
    await mongod.remove();
  });

  it("GET /openapi.json is OpenAPI 3.1 with every operation of the contract", async () => {
    const { status, body } = await app.call("GET", "/openapi.json");

    expect(status).to.equal(200);
    expect(body.openapi).to.equal("3.1.0");
    const calls = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(calls).to.include.members([
      "PUT /api/jobs/{jobId}",
      "GET /api/jobs/{jobId}",
      "GET /api/jobs",
      "DELETE /api/jobs/{jobId}",
      "DELETE /api/jobs",
      "PUT /api/jobs/{jobId}/steps/{stepKey}",
      "GET /api/jobs/{jobId}/steps",
      "GET /api/jobs/{jobId}/steps/{stepKey}",
      "GET /api/stats",
    ]);
  });

  it("GET /openapi.json has one named schema for each kind of record, for code generators", async () => {
    const { body } = await app.call("GET", "/openapi.json");
    const { schemas } = body.components;
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

    const answerOf = (path: string, method: string, status: string) =>
      body.paths[path][method].responses[status].content["application/json"].schema;
    expect(answerOf("/api/jobs/{jobId}", "put", "200")).to.deep.equal(ref("Job"));
    expect(answerOf("/api/jobs", "get", "200")).to.deep.equal(ref("JobList"));
    expect(schemas.JobList.properties.jobs.items).to.deep.equal(ref("JobRow"));
    expect(schemas.Job.properties.currentStep.anyOf).to.deep.equal([ref("StepSummary"), { type: "null" }]);
    const { parameters } = body.paths["/api/jobs"].get;
    const list = parameters.find(({ name }: { name: string }) => name === "fields");
    expect([list.style, list.explode, list.schema.explode]).to.deep.equal(["form", false, undefined]);
    const refs = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(schemas).to.have.all.keys(refs);
  });

  it("GET /openapi.json links each response to the operations that can follow it", async () => {
    const { body } = await app.call("GET", "/openapi.json");

    const follow = (path: string, method: string) =>
      Object.values<{ links?: object }>(body.paths[path][method].responses)[0]?.links;
    expect(follow("/api/jobs/{jobId}", "put")).to.deep.include({
      getJob: { operationId: "getJob", parameters: { jobId: "$request.path.jobId" } },
      reportStep: { operationId: "reportStep", parameters: { jobId: "$request.path.jobId" } },
    });
    expect(follow("/api/deliveries", "get")).to.deep.include({
      retryDelivery: {
        operationId: "retryDelivery",
        parameters: { deliveryId: "$response.body#/deliveries/0/deliveryId" },
      },
    });
    expect(follow("/api/jobs/{jobId}", "delete")).to.equal(undefined);
  });

  it("GET /openapi.json is the same with and without a configured token, and asks for none for the log-in", async () => {
    const closed = await startApp({ apiToken: "an-api-token-of-length" });

    const [open, document] = [await app.call("GET", "/openapi.json"), await closed.call("GET", "/openapi.json")];
    await closed.close();

    expect(open.body).to.deep.equal(document.body);
    expect(document.body.security).to.deep.equal([{ token: [] }]);
    const { paths } = document.body;
    expect(paths["/api/gates"].get).to.deep.include({ security: [{ token: [] }], "x-scopes": ["jobs:read"] });
    for (const path of ["/session", "/healthz"]) expect(paths[path].get.security).to.deep.equal([]);
  });

  it("every response has the security headers", async () => {
    for (const path of ["/api/jobs", "/api/jobs/nobody", "/healthz", "/nowhere"]) {
      const { headers } = await app.call("GET", path);
      expect(headers.get("X-Content-Type-Options"), path).to.equal("nosniff");
      expect(headers.get("Content-Security-Policy"), path).to.include("default-src 'none'");
      expect(headers.get("Referrer-Policy"), path).to.equal("no-referrer");
      expect(headers.has("X-Powered-By"), path).to.equal(false);
    }
  });

  it("responses under /api and /session are not cacheable", async () => {
    const caching = async (method: string, path: string) => (await app.call(method, path)).headers.get("Cache-Control");

    for (const path of ["/api/jobs", "/api/jobs/nobody", "/api/nowhere"]) {
      expect(await caching("GET", path), path).to.equal("no-store");
    }
    expect(await caching("DELETE", "/session")).to.equal("no-store");
    expect(await caching("GET", "/healthz")).to.equal(null);
  });

  it("pages have the headers of documents too, which responses of the API do not need", async () => {
    const opener = async (path: string) => (await app.call("GET", path)).headers.get("Cross-Origin-Opener-Policy");

    const [page, docs, data] = [await opener("/"), await opener("/docs"), await opener("/api/jobs")];

    expect([page, docs, data]).to.deep.equal(["same-origin", "same-origin", null]);
  });

  it("the log has one line for each request with its id, route, status and time, without its query", async () => {
    await app.call("GET", "/api/jobs?limit=7", undefined, { "X-Request-Id": "one-line" });

    const lines = app.log.filter((line) => line.reqId === "one-line");
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include({ method: "GET", path: "/api/jobs", status: 200, msg: "the request has ended" });
    expect(lines[0]?.ms).to.be.a("number");
  });

  it("the log has status 499 for a request whose client disconnected before the response", async () => {
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    const head = [
      "PUT /api/jobs/a HTTP/1.1",
      "Host: 127.0.0.1",
      "Content-Type: application/json",
      "X-Request-Id: gone",
    ];
    socket.write(`${head.join("\r\n")}\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, "data"); // 100 Continue
    socket.destroy();

    const line = await eventually(() => app.log.find(({ reqId }) => reqId === "gone"), "the line of the request");

    expect(line).to.include({ status: 499, aborted: true });
    expect(await metrics()).to.match(/_count\{method="PUT",route="none",status="499"\} 1/);
  });
});
