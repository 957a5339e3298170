import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TIMINGS = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 30 } };
const FORM = { type: "object", properties: { version: { type: "string" } }, required: ["version"] };

describe("buttons for gates in ntfy", () => {
  let ntfy: ChannelServer;
  let app: TestApp;
  let worker: TestWorker;
  let knowsSequences = true;
  before(async () => {
    ntfy = await startChannelServer((response, request) => {
      const sequence = request.headers["x-sequence-id"];
      const known = knowsSequences && sequence ? { sequence_id: sequence } : {};
      answers(200, { id: `m${ntfy.requests.length}`, event: "message", ...known })(response, request);
    });
    const config = {
      server: { publicUrl: "https://jobs.example.com" },
      channels: { ntfy: { baseUrl: ntfy.url, answers: true } },
      notify: [{ id: "phone", on: ["gate.opened"], to: { channel: "ntfy", to: "ops" } }],
    };
    app = await startApp({ config: JSON.stringify(config) });
    worker = await startWorker(app, {}, TIMINGS);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await ntfy.close();
  });

  async function ask(key: string, body: object = {}) {
    const { path, jobId } = await createJob(app);
    const gate = `${path}/gates/${key}`;
    await app.call("PUT", gate, { title: `Publish ${key}?`, ...body });
    const find = () => ntfy.requests.find(({ text }) => text.includes(`Publish ${key}?`));
    await eventually(() => find() !== undefined, "the message of the question");
    const { headers } = find() as ChannelServer["requests"][number];
    const actions = JSON.parse(String(headers.actions));
    const press = (label: string) => {
      const { url } = actions.find((one: { label: string }) => one.label.includes(label));
      return app.call("POST", new URL(url).pathname);
    };
    return { actions, headers, press, jobId, read: async () => (await app.call("GET", gate)).body };
  }

  it("post to an address that answers once, for whoever reads the topic", async () => {
    const { actions, press, read, jobId } = await ask("plain");

    const [first, second] = [await press("Accept"), await press("Decline")];

    expect(actions.map(({ action, method }: { action: string; method: string }) => [action, method])).to.deep.equal([
      ["http", "POST"],
      ["http", "POST"],
    ]);
    expect(actions[0].url).to.match(/^https:\/\/jobs\.example\.com\/answer\/press\/a%3A[\w-]{22}$/);
    expect([first.status, first.body]).to.deep.equal([200, "You have accepted it."]);
    expect([second.status, second.body]).to.deep.equal([409, "The question was already accepted by ntfy:ops."]);
    expect(await read()).to.include({ status: "answered", action: "accept", answeredBy: "ntfy:ops" });
    const { entries } = (await app.call("GET", `/api/audit?target=${jobId}%2Fplain`)).body;
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({ action: "gate.answer", actor: "ntfy:ops" });
  });

  it("are replaced in the same notification once the question is answered", async () => {
    const { headers, press } = await ask("replaced");
    await press("Decline");

    const find = () =>
      ntfy.requests.find(({ text }) => text.includes("Declined by ntfy:ops") && text.includes("replaced"));
    await eventually(() => find() !== undefined, "the message with the answer");

    expect(find()?.headers["x-sequence-id"]).to.equal(headers["x-sequence-id"]);
    expect(find()?.headers).to.include({ priority: "2" }).and.not.have.property("actions");
  });

  it("make no second notification at a server that cannot replace one", async () => {
    knowsSequences = false;
    const { press } = await ask("old");
    await press("Accept");
    const isDone = { "question.open": true };
    await eventually(async () => {
      const open = await app.stores.deliveries.collection.native.countDocuments(isDone);
      return open === 0;
    }, "the question to be done");
    knowsSequences = true;

    expect(ntfy.requests.filter(({ text }) => text.includes("Publish old?"))).to.have.length(1);
  });

  it("are one that opens the answer page if the form has required fields", async () => {
    const { actions } = await ask("form", { requestedSchema: FORM });

    expect(actions).to.have.length(1);
    expect(actions[0]).to.include({ action: "view", label: "Answer" });
  });

  it("answer nothing by GET, and with a guessed address", async () => {
    const { actions, read } = await ask("guessed");
    const path = new URL(actions[0].url).pathname;

    const [byGet, guessed] = [
      await app.call("GET", path),
      await app.call("POST", `/answer/press/a%3A${"A".repeat(22)}`),
    ];

    expect(byGet.status).to.be.oneOf([404, 405]);
    expect(guessed.status).to.equal(404);
    expect(await read()).to.include({ status: "open" });
  });
});
