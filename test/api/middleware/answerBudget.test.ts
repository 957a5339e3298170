import { type IncomingMessage, request } from "node:http";
import { expect } from "chai";
import { AnswerBudget } from "../../../src/api/middleware/answerBudget.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";

const OUTPUT = { text: "x".repeat(3_000_000) };
/** More than the buffers of a connection on loopback have room for. */
const STEPS = 3;

describe("large responses", () => {
  let writer: TestApp;
  let app: TestApp;
  let answers: AnswerBudget;
  before(async () => {
    writer = await startApp();
    await writer.call("PUT", "/api/jobs/large", {});
    for (let i = 0; i < STEPS; i++)
      await writer.call("PUT", `/api/jobs/large/steps/${i}`, { stepName: `Step ${i}`, output: OUTPUT });
  });
  afterEach(() => app.close());
  after(() => writer.close());
  const start = async (limits: { maxBytes: number; graceMs: number; maxWaitMs: number }) => {
    answers = new AnswerBudget(limits);
    app = await startApp({ answers, mongo: writer.mongoUri });
  };
  const PATH = "/api/jobs/large?include=steps";
  const read = () => app.call("GET", PATH);
  /** Requests the job and reads nothing of the response. Resolves when its head has come. */
  const stall = () =>
    new Promise<IncomingMessage>((resolve, reject) => {
      request(app.url + PATH, (response) => resolve(response.on("error", () => {}).pause()))
        .on("error", reject)
        .end();
    });

  it("are read one after another while there is no more memory, and all are answered", async () => {
    await start({ maxBytes: 1, graceMs: 60_000, maxWaitMs: 60_000 });

    const read4 = await Promise.all(Array.from({ length: 4 }, read));

    expect(read4.map(({ status, body }) => [status, body.steps.length])).to.deep.equal(Array(4).fill([200, STEPS]));
    expect(answers.waiting).to.equal(0);
  });

  it("are answered 503 with Retry-After when the memory stays spent, and small ones still 200", async () => {
    await start({ maxBytes: 1, graceMs: 60_000, maxWaitMs: 50 });
    const stalled = await stall();

    const refused = await read();
    const small = await app.call("GET", "/api/jobs/large");
    stalled.destroy();
    const later = await eventually(async () => {
      const answer = await read();
      return answer.status === 200 && answer;
    }, "the memory to be free");

    expect([refused.status, refused.body.code, refused.headers.get("Retry-After")]).to.deep.equal([
      503,
      "unavailable",
      "5",
    ]);
    expect(small.status).to.equal(200);
    expect(later.body.steps).to.have.length(STEPS);
  });

  it("cut off a client that reads too slowly while another one waits", async () => {
    await start({ maxBytes: 1, graceMs: 20, maxWaitMs: 60_000 });
    const stalled = await stall();

    const answer = await read();

    stalled.resume(); // A paused response does not notice its end.
    await new Promise((resolve) => stalled.once("close", resolve));
    expect([answer.status, stalled.complete]).to.deep.equal([200, false]);
  });

  it("give their memory back after an error and for a client that knows the state", async () => {
    await start({ maxBytes: 1, graceMs: 60_000, maxWaitMs: 50 });

    const missing = await app.call("GET", "/api/jobs/none?include=steps");
    const first = await read();
    const known = await app.call("GET", PATH, undefined, { "If-None-Match": first.headers.get("ETag") ?? "" });
    const waited = await app.call("GET", PATH, undefined, { Prefer: "wait=1" });

    expect([missing.status, first.status, known.status, waited.status]).to.deep.equal([404, 200, 304, 200]);
  });
});
