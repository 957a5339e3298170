import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const HOOK_TOKEN = "hook-token-of-the-test";

describe("callbackUrl of a request", () => {
  let receiver: ChannelServer;
  let app: TestApp;
  let closed: TestApp;
  let worker: TestWorker;
  const hooks = { enabled: true, token: HOOK_TOKEN };
  before(async () => {
    receiver = await startChannelServer(answers(204));
    const outbound = { allowedHosts: [new URL(receiver.url).host, "*.internal"], secret: SECRET };
    app = await startApp({ config: JSON.stringify({ hooks, outbound }) });
    closed = await startApp({ config: JSON.stringify({ hooks }) });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await Promise.all([app.close(), closed.close(), receiver.close()]);
  });
  beforeEach(() => receiver.script());

  const putJob = (service: TestApp, callbackUrl: unknown, fields = {}) =>
    service.call("PUT", `/api/jobs/${randomUUID()}`, { ...fields, callbackUrl });
  const startRun = (service: TestApp, callbackUrl: unknown) =>
    service.call("POST", "/hooks/agent", { message: "Hello", callbackUrl }, { "X-Service-Token": HOOK_TOKEN });
  const requests = [
    ["PUT job", putJob],
    ["POST /hooks/agent", startRun],
  ] as const;
  const received = async (path: string) => {
    const request = await eventually(() => receiver.requests.find((one) => one.path === path), "the callback");
    return new Webhook(SECRET).verify(request.text, request.headers as Record<string, string>) as {
      type: string;
      data: Record<string, Record<string, unknown>>;
    };
  };

  for (const [title, call] of requests) {
    it(`${title}: refuses an address whose host is not allowed, and says what to do`, async () => {
      const { status, body } = await call(app, "https://evil.example/x");

      expect([status, body.code]).to.deep.equal([400, "invalid_body"]);
      expect(body.errors[0].pointer).to.equal("/callbackUrl");
      expect(body.detail).to.match(
        /^callbackUrl points to a host that is not allowed: the operator must add "evil\.example"/,
      );
    });

    it(`${title}: refuses every address without \`outbound\``, async () => {
      const { status, body } = await call(closed, `${receiver.url}/x`);

      expect(status).to.equal(400);
      expect(body.detail).to.match(/^callbackUrl is not accepted by this service: its operator must set `outbound/);
    });

    for (const url of [
      "",
      7,
      "a".repeat(2_049),
      "https://user:pass@a.internal/",
      "ftp://a.internal/",
      "https://a.internal./",
    ]) {
      it(`${title}: refuses ${JSON.stringify(url).slice(0, 40)} as an address`, async () => {
        const { status, body } = await call(app, url);

        expect([status, body.errors[0].pointer]).to.deep.equal([400, "/callbackUrl"]);
      });
    }
  }

  it("receives the end of the job once, signed with `outbound.secret`", async () => {
    const { status, body } = await putJob(app, `${receiver.url}/job`, { name: "Nightly" });
    expect(status).to.equal(201);
    expect(body).to.not.have.property("callbackUrl");

    await app.call("PUT", `/api/jobs/${body.jobId}`, { status: "failed", message: "disk full" });

    const { type, data } = await received("/job");
    expect(type).to.equal("job.failed");
    expect(data.job).to.include({ jobId: body.jobId, name: "Nightly", message: "disk full" });
  });

  it("receives nothing after it was cleared", async () => {
    const { body } = await putJob(app, `${receiver.url}/cleared`);
    expect((await app.call("PUT", `/api/jobs/${body.jobId}`, { callbackUrl: null })).status).to.equal(200);
    await app.call("PUT", `/api/jobs/${body.jobId}`, { status: "completed", output: {} });

    const other = await putJob(app, `${receiver.url}/other`, { status: "completed", output: {} });
    expect(other.status).to.equal(201);
    await received("/other");

    expect(receiver.requests.map(({ path }) => path)).to.deep.equal(["/other"]);
  });

  it("receives the end of the run", async () => {
    const { status, body } = await startRun(app, `${receiver.url}/run`);
    expect(status).to.equal(202);

    const { type, data } = await received("/run");
    expect(type).to.equal("run.completed");
    expect(data.run).to.include({ runId: body.runId });
  });
});
