import { randomUUID } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import sinon from "sinon";
import { type Client, createClient, SignalboxError, type StepReporter } from "../../src/client/client.ts";
import { eventually } from "../support/eventually.ts";
import {
  answers,
  type Behaviour,
  breaks,
  breaksMidway,
  hangs,
  startChannelServer,
} from "../support/servers/channelServer.ts";
import { freePort } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";
import { recordingClient, type Sent } from "./recording.ts";
import { useShortBackoff } from "./shortBackoff.ts";

/** Returns the error that a promise is rejected with. */
const thrown = (promise: Promise<unknown>): Promise<SignalboxError> =>
  promise.then(
    () => expect.fail("it succeeded"),
    (error) => error,
  );

describe("A reporter of signalbox/client", () => {
  const app = useSharedApp();
  let client: Client;
  let sent: Sent[];
  beforeEach(() => {
    ({ client, sent } = recordingClient({ url: app.url }));
  });
  afterEach(() => client.close());

  const newJob = async () => {
    const job = client.job(`a job/${randomUUID()}`);
    await job.create({ name: "A job", metadata: { team: "a" } });
    sent.pop();
    return job;
  };
  const newStep = async (range: { from?: number; to?: number } = { from: 0, to: 50 }) =>
    (await newJob()).step("a step/1", { name: "A step", ...range });
  const read = async (step: StepReporter) => (await app.call("GET", pathOf(step))).body;
  const pathOf = (step: StepReporter) => {
    const { jobId, stepKey } = step.toJSON();
    return `/api/jobs/${encodeURIComponent(jobId)}/steps/${encodeURIComponent(stepKey)}`;
  };
  const bodies = () => sent.map(({ body }) => body);

  it("updates the same step from any process that has its assignment", async () => {
    const step = await newStep({ from: 10, to: 60 });
    const assignment = JSON.parse(JSON.stringify(step));

    await step.start("begun");
    await client.step(assignment).complete({ message: "done", output: { rows: 3 } });

    expect(assignment).to.include({
      stepKey: "a step/1",
      stepName: "A step",
      jobProgressStart: 10,
      jobProgressEnd: 60,
    });
    expect(await read(step)).to.deep.include({
      status: "completed",
      attempts: 1,
      message: "done",
      output: { rows: 3 },
    });
    expect(await client.jobs.get(assignment.jobId)).to.include({ status: "running", progress: 60, name: "A job" });
  });

  it("sends progress at every five points, with the matching message and never twice", async () => {
    const step = await newStep();

    for (let i = 0; i <= 1000; i++) {
      step.progress(i / 10, `${i} of 1000`);
      step.progress(i / 10, `${i} of 1000`);
      await turn();
    }
    await step.flush();

    expect(sent.length).to.be.within(2, 22);
    expect(bodies().map(({ message }) => message)).to.deep.equal(
      bodies().map(({ progress }) => `${progress * 10} of 1000`),
    );
    const reports = bodies().map(({ progress, message }) => `${progress} ${message}`);
    expect(reports).to.deep.equal([...new Set(reports)]);
    expect(await read(step)).to.include({ progress: 100, message: "1000 of 1000", status: "running" });
  });

  it("throttles small progress and messages, and sends the latest", async () => {
    const [one, other] = [await newStep(), await newStep()];
    const startedAt = performance.now();
    const now = sinon.stub(performance, "now").returns(startedAt);
    await Promise.all([one.start("begun"), other.start("begun")]);
    // Nothing is awaited while the clock is fake: a real timer of the service could use it.
    const clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], now: 0 });
    now.callsFake(() => startedAt + clock.now);
    const sentAt = (ms: number) => {
      clock.tick(ms - clock.now);
      return sent.length;
    };

    for (let i = 1; i <= 4; i++) one.progress(i, `item ${i}`);
    for (let i = 1; i <= 100; i++) other.message(`message ${i}`);
    const counts = [0, 999, 1_000, 4_999, 5_000].map(sentAt);
    clock.restore();
    now.restore();

    expect(counts).to.deep.equal([2, 2, 3, 3, 4]);
    await eventually(async () => (await read(one)).message === "item 4", "the last progress");
    const range = { jobProgressStart: 0, jobProgressEnd: 50 };
    expect(bodies().slice(2)).to.deep.equal([
      { stepName: "A step", message: "message 100" },
      { stepName: "A step", ...range, progress: 4, message: "item 4" },
    ]);
  });

  it("clamps or ignores invalid progress", async () => {
    const step = await newStep();

    step.progress(0 / 0, "nothing to do");
    step.progress(-3);
    step.progress(250);
    await step.flush();

    expect(await read(step)).to.include({ progress: 100, message: "nothing to do" });
  });

  it("sends each completion and each failure, even when repeated", async () => {
    const step = await newStep();

    await step.complete({ message: "done" });
    await step.complete({ message: "done" });
    await step.fail(new TypeError("not done"));
    await step.fail("not done");

    expect(bodies().map(({ status, message }) => `${status}: ${message}`)).to.deep.equal([
      "completed: done",
      "completed: done",
      "failed: not done",
      "failed: not done",
    ]);
  });

  it("completes the job with the step whose range ends at 100, and not before that step's completion", async () => {
    const step = await newStep({ from: 33.3, to: 100 });

    step.progress(100, "nearly");
    await step.flush();
    const before = await client.jobs.get(step.toJSON().jobId);
    const early = await thrown(step.complete());
    const requests = sent.length;
    await step.complete({ output: { url: "x" } });

    expect(before).to.include({ status: "running", message: "nearly" });
    expect(before.progress).to.be.below(100);
    expect(early).to.be.instanceOf(SignalboxError).and.include({ status: 400, code: "output_required" });
    expect(requests, "the client rejects it without a request").to.equal(2);
    expect(await client.jobs.get(step.toJSON().jobId)).to.deep.include({
      status: "completed",
      progress: 100,
      output: { url: "x" },
    });
  });

  it("fails the job with a step only with failJob", async () => {
    const [one, other] = [await newStep(), await newStep()];

    await one.fail("no");
    await other.fail("no", { failJob: true, output: { done: 3 } });

    expect(await client.jobs.get(one.toJSON().jobId)).to.include({ status: "running", message: "no" });
    expect(await client.jobs.get(other.toJSON().jobId)).to.include({ status: "failed", message: "no" });
    expect(await read(other)).to.deep.include({ output: { done: 3 } });
  });

  it("sets the progress of a job without steps and completes it", async () => {
    const job = await newJob();

    await job.start();
    job.progress(40, "almost half");
    await job.flush();
    const half = await client.jobs.get(job.jobId);
    const early = await thrown(job.complete({ message: "no output" }));
    await job.complete({ output: { ok: true }, message: "done" });

    expect(half).to.include({ status: "running", progress: 40, message: "almost half" });
    expect(early).to.include({ code: "output_required" });
    expect(await client.jobs.get(job.jobId)).to.deep.include({
      status: "completed",
      progress: 100,
      output: { ok: true },
    });
  });

  it("throws a rejection to the caller that waits, and otherwise passes it to onError", async () => {
    const errors: unknown[] = [];
    const { client } = recordingClient({ url: app.url, onError: (error) => errors.push(error) });
    const step = client.job("no such job").step("s", { name: "S" });

    const ofStart = await thrown(step.start());
    step.progress(10);
    await eventually(() => errors.length > 0, "the rejection");
    const ofFlush = await thrown(step.flush());
    const ofComplete = await thrown(step.complete());
    await step.flush();

    for (const error of [ofStart, ...errors, ofFlush, ofComplete]) {
      expect(error).to.be.instanceOf(SignalboxError).and.include({ status: 404, code: "job_not_found" });
      expect((error as SignalboxError).detail).to.include("no such job");
    }
    expect(errors).to.have.length(1);
  });

  it("sends further reports after a rejected one", async () => {
    const step = await newStep();

    const refused = await thrown(step.start("x".repeat(65_537)));
    step.progress(30, "short");
    await step.flush();

    expect(refused).to.include({ status: 400, code: "invalid_body" });
    expect(refused.errors[0]).to.include({ pointer: "/message" });
    expect(await read(step)).to.include({ status: "running", progress: 30, message: "short" });
  });

  it("truncates a message that is too long, so that the completion is accepted", async () => {
    const step = await newStep();
    await step.start("begun");

    step.message("x".repeat(70_000));
    await step.complete();

    expect(await read(step)).to.include({ status: "completed", message: "x".repeat(65_536) });
  });

  const strangeMessages: [string, unknown][] = [
    ["a Buffer", Buffer.from("50 of 100")],
    ["a list", ["50 of 100"]],
    ["a number", 5],
    ["null", null],
    ["an object without a prototype", Object.create(null)],
  ];
  for (const [what, message] of strangeMessages)
    it(`leaves out a message that is ${what}, so that the completion is accepted`, async () => {
      const step = await newStep();
      await step.start("begun");

      step.message(message as string);
      await step.complete({ message: message as string });

      expect(await read(step)).to.include({ status: "completed", message: "begun" });
    });

  const strangeProgress: [string, unknown, number][] = [
    ["a BigInt", 10n, 10],
    ["a text with a number", "10", 10],
    ["a text without a number", "ten", 0],
    ["null", null, 0],
    ["a symbol", Symbol("10"), 0],
    ["an object without a prototype", Object.create(null), 0],
  ];
  for (const [what, progress, points] of strangeProgress)
    it(`reads progress that is ${what} as ${points}, without an exception`, async () => {
      const step = await newStep();
      await step.start("begun");

      step.progress(progress as number);
      step.update(undefined as never);
      await step.flush();

      expect(await read(step)).to.include({ status: "running", progress: points });
    });

  it("sends a completion alone if the report that it was merged with is refused", async () => {
    const errors: SignalboxError[] = [];
    const { client, sent } = recordingClient({
      url: app.url,
      onError: (error) => errors.push(error as SignalboxError),
    });
    const { jobId } = await newJob();
    const step = client.job(jobId).step("s", { name: "S", from: 0, to: 50 });
    await step.start("begun");

    step.update({ output: "no object" as never, message: "nearly" });
    await step.complete({ message: "done" });
    step.progress(20);
    await step.flush();

    expect(await read(step)).to.include({ status: "completed", progress: 100, message: "done" });
    expect(errors.map(({ code }) => code)).to.deep.equal(["invalid_body"]);
    expect(sent).to.have.length(3);
    await client.close();
  });

  it("sends a completion alone if the report that it was merged with cannot be JSON", async () => {
    const errors: unknown[] = [];
    const { client } = recordingClient({ url: app.url, onError: (error) => errors.push(error) });
    const { jobId } = await newJob();
    const step = client.job(jobId).step("s", { name: "S", from: 0, to: 50 });

    step.update({ output: { rows: 10n } });
    await step.complete({ output: { rows: 10 } });

    expect(await read(step)).to.deep.include({ status: "completed", output: { rows: 10 } });
    await client.close();
  });

  it("sends a start alone if the report that was merged into it is refused", async () => {
    const errors: SignalboxError[] = [];
    const { client } = recordingClient({ url: app.url, onError: (error) => errors.push(error as SignalboxError) });
    const { jobId } = await newJob();
    const step = client.job(jobId).step("s", { name: "S", from: 0, to: 50 });

    step.message("waiting");
    const started = step.start("begun");
    step.update({ output: "no object" as never });
    await started;
    await client.close();

    expect(await read(step)).to.include({ status: "running", message: "begun" });
    expect(errors.map(({ code }) => code)).to.deep.equal(["invalid_body"]);
  });

  it("throws for an id that cannot be part of a URL, before a request", async () => {
    for (const id of ["", ".", ".."]) {
      expect(() => client.job(id)).to.throw(SignalboxError, "cannot be part of a URL");
      expect(() => client.job("a").step(id, { name: "S" })).to.throw(SignalboxError, "cannot be part of a URL");
      const refused = await client.jobs.delete(id).catch((error) => error);
      expect(refused)
        .to.be.instanceOf(SignalboxError)
        .with.property("message")
        .that.includes("cannot be part of a URL");
    }
  });
});

describe("signalbox/client while the service is unavailable", () => {
  useShortBackoff();
  const passing: [string, Behaviour][] = [
    ["answers 503 with Retry-After", answers(503, {}, { "Retry-After": "0" })],
    ["answers 429 with a date in Retry-After", answers(429, {}, { "Retry-After": new Date(0).toUTCString() })],
    ["answers 500", answers(500, { code: "internal", detail: "Something went wrong." })],
    ["answers 502 as a proxy does", answers(502, "<h1>Bad gateway</h1>")],
    ["answers 408", answers(408)],
    ["breaks the connection", breaks],
    ["breaks off its response", breaksMidway],
    ["does not respond", hangs],
  ];
  for (const [what, behaviour] of passing) {
    it(`retries a report when the service ${what}`, async () => {
      const server = await startChannelServer();
      const client = createClient({ url: server.url, timeoutMs: 500 });
      server.script(behaviour, behaviour);

      await client.job("j").step("s", { name: "S" }).complete({ message: "done" });

      expect(server.requests.map(({ path, body }) => [path, body.message])).to.deep.equal(
        Array(3).fill(["/api/jobs/j/steps/s", "done"]),
      );
      await server.close();
    });
  }

  for (const status of [400, 401, 403, 404, 409, 413]) {
    it(`does not retry a report that is answered with ${status}`, async () => {
      const server = await startChannelServer();
      const client = createClient({ url: server.url });
      server.script(answers(status, { code: "a_code", detail: "Why.", errors: [{ pointer: "/x", detail: "wrong" }] }));

      const error = await thrown(client.job("j").step("s", { name: "S" }).start());

      expect(error).to.deep.include({ status, code: "a_code", detail: "Why.", message: "Why." });
      expect(error.errors).to.deep.equal([{ pointer: "/x", detail: "wrong" }]);
      expect(error.isTransient).to.equal(false);
      expect(server.requests).to.have.length(1);
      await server.close();
    });
  }

  it("merges all later reports into one, without an exception", async () => {
    const server = await startChannelServer();
    const client = createClient({ url: server.url });
    const step = client.job("j").step("s", { name: "S", from: 0, to: 50 });
    server.script(breaks, breaks);

    const started = step.start("begun");
    for (let i = 0; i < 20_000; i++) step.progress(i % 101, `item ${i}`);
    await started;

    expect(server.requests.map(({ body }) => body.message)).to.deep.equal(["begun", "item 19999", "item 19999"]);
    expect(server.requests[2]?.body).to.deep.equal({
      stepName: "S",
      jobProgressStart: 0,
      jobProgressEnd: 50,
      status: "running",
      progress: 19_999 % 101,
      message: "item 19999",
    });
    await server.close();
  });

  it("stops retrying after retryForMs, with an error that says why the service is unreachable", async () => {
    const client = createClient({ url: `http://127.0.0.1:${await freePort()}`, retryForMs: 300 });

    const ofReport = await thrown(client.job("j").step("s", { name: "S" }).complete());
    const ofJob = await thrown(client.job("j").create());
    const ofRead = await thrown(client.stats());

    for (const error of [ofReport, ofJob, ofRead]) {
      expect(error).to.include({ status: 0, code: "unreachable" });
      expect(error.detail).to.include("ECONNREFUSED");
    }
  });

  for (const [what, wait, last] of [
    [
      "a completion",
      (step: StepReporter) => step.complete({ message: "done" }),
      { status: "completed", message: "done" },
    ],
    ["a start", (step: StepReporter) => step.start(undefined, { progress: 50 }), { progress: 50 }],
    ["a flush", (step: StepReporter) => step.flush(), { progress: 50 }],
  ] as const)
    it(`retries ${what} for its whole time, although it was joined to a progress report that was retried before`, async () => {
      const random = sinon.stub(Math, "random").returns(0.5);
      const clock = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
      const arrived: object[] = [];
      let isDown = false;
      const fetch: typeof globalThis.fetch = async (_url, init) => {
        if (isDown) throw new TypeError("fetch failed");
        arrived.push(JSON.parse(String(init?.body)));
        return Response.json({});
      };
      const client = createClient({ url: "http://127.0.0.1", retryForMs: 20_000, fetch });
      try {
        const step = client.job("j").step("s", { name: "S" });
        await step.start();
        isDown = true;
        step.progress(50);
        await clock.tickAsync(10_000);
        const accepted = wait(step);
        await clock.tickAsync(12_000); // the first report has been tried for more than 20 seconds by now
        isDown = false;
        await clock.tickAsync(10_000);
        await accepted;

        expect(arrived).to.have.length(2);
        expect(arrived[1]).to.include(last);
      } finally {
        await client.close();
        clock.restore();
        random.restore();
      }
    });

  for (const status of [301, 302, 307, 308]) {
    it(`does not follow a redirect with ${status}, and names the new address without its password`, async () => {
      const other = await startChannelServer();
      const address = `${other.url.replace("//", "//user:secret@")}/moved?key=secret`;
      const server = await startChannelServer(answers(status, {}, { Location: address }));
      const client = createClient({ url: server.url, token: "t" });
      try {
        const error = await thrown(client.jobs.put("a", { name: "A" }));

        expect(error.message).to.include(`${other.url}/moved:`).and.not.include("secret");
        expect(other.requests).to.have.length(0);
      } finally {
        await client.close();
        await server.close();
        await other.close();
      }
    });
  }

  for (const address of [
    "http://user:secret@127.0.0.1",
    " http://user:secret@127.0.0.1",
    "http://a user:secret@127.0.0.1",
    "http://us\ner:secret@127.0.0.1",
    "http://127.0.0.1?secret",
    "http://127.0.0.1#secret",
  ]) {
    it(`refuses the address ${JSON.stringify(address)}, without its text`, () => {
      expect(() => createClient({ url: address }))
        .to.throw(TypeError)
        .with.property("message")
        .that.matches(/^"url" is not /);
    });
  }

  for (const address of [
    "http://127.0.0.1:99999",
    "http://[::1",
    "http://a b",
    "localhost:3000",
    "ftp://a",
    "http://",
    "",
  ]) {
    it(`refuses the address ${JSON.stringify(address)}, which can never work, and names it`, () => {
      expect(() => createClient({ url: address })).to.throw(
        TypeError,
        `"${address.replace(/\/+$/, "")}" is not http(s)://`,
      );
    });
  }

  it("takes a token with a line break at its end, as files have, and sends it without", async () => {
    const server = await startChannelServer();
    await createClient({ url: server.url, token: "secret\r\n" }).stats();
    await server.close();

    expect(server.requests[0]?.headers.authorization).to.equal("Bearer secret");
  });

  for (const token of ["sec\nret", "secret\u0100"]) {
    it(`refuses the token ${JSON.stringify(token)}, which no header can hold, without its text`, () => {
      expect(() => createClient({ url: "http://127.0.0.1", token }))
        .to.throw(TypeError)
        .with.property("message")
        .that.does.not.include("ret");
    });
  }

  it("stops waiting when the signal is aborted, and still sends the report", async () => {
    const server = await startChannelServer(breaks);
    const client = createClient({ url: server.url });
    const step = client.job("j").step("s", { name: "S" });
    const controller = new AbortController();

    const completing = thrown(step.complete({ message: "done", signal: controller.signal }));
    await eventually(() => server.requests.length > 0, "a request");
    controller.abort(new Error("enough"));
    const error = await completing;
    server.script(answers(200, {}));
    await step.flush();

    expect(error.message).to.equal("enough");
    expect(server.requests.at(-1)?.body).to.include({ status: "completed", message: "done" });
    await server.close();
  });

  it("waits for a Retry-After and a timeout that are longer than a timer allows", async () => {
    const server = await startChannelServer();
    const errors: unknown[] = [];
    const endless = { timeoutMs: Number.POSITIVE_INFINITY };
    const client = createClient({ url: server.url, ...endless, onError: (error) => errors.push(error) });
    server.script(answers(503, {}, { "Retry-After": "1800000000" }));

    const creating = thrown(client.job("j").create());
    await eventually(() => errors.length > 0, "the failed try");
    for (let i = 0; i < 20; i++) await client.stats();
    await client.close(endless);

    expect(await creating).to.include({ code: "closed" });
    expect(server.requests.filter(({ method }) => method === "PUT")).to.have.length(1);
    await server.close();
  });

  it("tries other calls once by default and for retryForMs if it is set, and a POST always once", async () => {
    const server = await startChannelServer();
    const [hasty, patient] = [undefined, 60_000].map((retryForMs) => createClient({ url: server.url, retryForMs }));

    server.script(answers(503));
    await thrown(hasty!.stats());
    const tries = server.requests.length;
    server.script(answers(503), answers(503));
    await patient!.stats();
    const patientTries = server.requests.length;
    server.script(answers(503));
    await thrown(patient!.runs.retry("r"));

    expect([tries, patientTries, server.requests.length]).to.deep.equal([1, 3, 1]);
    await server.close();
  });
});

describe("signalbox/client close()", () => {
  it("sends throttled reports at once", async () => {
    const server = await startChannelServer();
    const client = createClient({ url: server.url });
    const step = client.job("j").step("s", { name: "S" });
    await step.start();

    step.progress(1, "a little");
    await client[Symbol.asyncDispose]();

    expect(server.requests.at(-1)?.body).to.include({ progress: 1, message: "a little" });
    await server.close();
  });

  it("discards unaccepted reports after its timeout, throws, and sends nothing afterwards", async () => {
    const server = await startChannelServer(hangs);
    const errors: unknown[] = [];
    const client = createClient({ url: server.url, onError: (error) => errors.push(error) });
    const [step, other] = ["s", "o"].map((key) => client.job("j").step(key, { name: "S" })) as [
      StepReporter,
      StepReporter,
    ];
    const completing = thrown(step.complete());
    other.progress(10);
    await eventually(() => server.requests.length === 2, "both requests");
    other.progress(20);

    const error = await thrown(client.close({ timeoutMs: 50 }));

    for (const one of [error, await completing, await thrown(step.complete()), await thrown(other.flush())])
      expect(one).to.include({ code: "closed" });
    other.progress(90);
    await eventually(() => server.requests.every(({ cancelled }) => cancelled), "the requests to be cancelled");
    expect(server.requests).to.have.length(2);
    await server.close();
  });

  it("throws the rejection of a report that nobody waited for", async () => {
    const server = await startChannelServer(answers(404, { code: "job_not_found", detail: "There is no such job." }));
    const client = createClient({ url: server.url });
    client.job("j").step("s", { name: "S" }).progress(10);

    expect(await thrown(client.close())).to.include({ code: "job_not_found" });
    await server.close();
  });
});
