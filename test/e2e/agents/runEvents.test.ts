import { expect } from "chai";
import { openEvents, type TestEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  type Behaviour,
  delta,
  hangs,
  saysPlain,
  streams,
  usageChunk,
} from "../../support/servers/modelServer.ts";
import { ModelRunsFixture } from "./modelRunsFixture.ts";

/** Streams a text, and the rest of the reply once `release` is called. */
function heldBack(text: string, rest: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const behaviour: Behaviour = async (response, request) => {
    await hangs(text)(response, request);
    await promise;
    if (response.destroyed) return;
    const chunks = [
      delta({ content: rest }),
      delta({}, "stop"),
      usageChunk({ prompt_tokens: 3, completion_tokens: 2 }),
    ];
    for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end("data: [DONE]\n\n");
  };
  return { behaviour, release: resolve };
}

describe("GET /api/runs/:runId/events", () => {
  const fixture = ModelRunsFixture.use();
  const open: TestEvents[] = [];
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  const follow = async (runId: string, headers: Record<string, string> = {}) => {
    const stream = await openEvents(`${fixture.app.url}/api/runs/${runId}/events`, headers, { live: null });
    open.push(stream);
    return stream;
  };
  const over = (stream: TestEvents) => eventually(() => stream.isOver(), "the end of the stream");
  const names = (stream: TestEvents) => stream.events.map(({ event }) => event);
  const textOf = (stream: TestEvents) => stream.events.map(({ data }) => data.delta ?? "").join("");

  it("sends the text while the agent writes it, then the usage and the end once, and replays it to later clients", async () => {
    await fixture.start();
    const { behaviour, release } = heldBack("The build ", "failed.");
    fixture.model.script(behaviour);
    const runId = await fixture.agent({ message: "What happened?" });
    const stream = await follow(runId);

    expect(await stream.next("run.started")).to.deep.equal({ attempt: 1 });
    expect(await stream.next("message.delta")).to.deep.equal({ delta: "The build " });
    expect((await fixture.read(runId)).status).to.equal("running");
    const late = await follow(runId);
    await late.next("message.delta");
    const resumed = await follow(runId, { "Last-Event-ID": late.lastId() ?? "" });
    release();
    await Promise.all([over(stream), over(late), over(resumed)]);

    expect(names(stream)).to.deep.equal(["run.started", "message.delta", "message.delta", "usage", "run.completed"]);
    expect(textOf(stream)).to.equal("The build failed.");
    expect(late.events).to.deep.equal(stream.events);
    expect(resumed.events).to.deep.equal(stream.events.slice(2));
    expect(stream.events[3]?.data).to.include({ inputTokens: 3, outputTokens: 2, costUsd: null });
    expect(stream.events.at(-1)?.data).to.include({ runId, status: "completed" }).and.not.have.property("reply");
  });

  it("sends an ended run its end at once, and invents no text of a finished reply", async () => {
    await fixture.start();
    fixture.model.script(saysPlain("All at once."));
    const runId = await fixture.agent({ message: "What happened?" });
    const stream = await follow(runId);
    await over(stream);
    fixture.model.script(answers(400, {}));
    const failed = await fixture.agent({ message: "And now?" });
    await fixture.ended(failed);

    const [late, afterFailure] = await Promise.all([follow(runId), follow(failed)]);
    await Promise.all([over(late), over(afterFailure)]);

    expect(names(stream)).to.deep.equal(["run.started", "run.completed"]);
    expect(names(late)).to.deep.equal(["run.completed"]);
    expect(names(afterFailure)).to.deep.equal(["run.failed"]);
    expect(afterFailure.events[0]?.data.error.code).to.equal("agent_failed");
  });

  it("begins each attempt with run.started, and drops the events of the one before it", async () => {
    await fixture.start();
    const { behaviour, release } = heldBack("Second", " try.");
    fixture.model.script(streams([delta({ content: "First" })], { cut: true }), behaviour);
    const runId = await fixture.agent({ message: "What happened?" });
    const stream = await follow(runId);
    await stream.next("message.delta", (data) => data.delta.includes("Second"));

    const late = await follow(runId);
    await late.next("message.delta");
    release();
    await Promise.all([over(stream), over(late)]);

    expect(late.events[0]).to.deep.equal({ event: "run.started", data: { attempt: 2 } });
    expect(textOf(late)).to.equal("Second try.");
    expect(stream.events.filter(({ event }) => event === "run.started").at(-1)?.data).to.deep.equal({ attempt: 2 });
  });

  it("answers 404 for an unknown run", async () => {
    await fixture.start();

    const { status, body } = await fixture.app.call("GET", "/api/runs/unknown/events");

    expect([status, body.code]).to.deep.equal([404, "run_not_found"]);
  });

  it("ends with its run, and delays it little, while Redis refuses the events", async () => {
    await fixture.start();
    const { behaviour, release } = heldBack("The build ", "failed.");
    fixture.model.script(behaviour);
    const { redis, prefix } = fixture.app;
    const runId = await fixture.agent({ message: "What happened?" });
    const stream = await follow(runId);
    await stream.next("message.delta");
    await redis.del(`${prefix}:run:${runId}:events`);
    await redis.set(`${prefix}:run:${runId}:events`, "another type of value, so that every command fails");
    release();

    await over(stream);

    expect(names(stream).at(-1)).to.equal("run.completed");
    expect((await fixture.read(runId)).reply).to.equal("The build failed.");
  });

  it("keeps at most 100 events of a bounded size, until shortly after the time limit of the turn", async () => {
    await fixture.start();
    const { behaviour, release } = heldBack("x".repeat(1_000_000), " end");
    fixture.model.script(behaviour);
    const runId = await fixture.agent({ message: "What happened?", timeoutSeconds: 100 });
    const stream = await follow(runId);
    await stream.next("message.delta");
    const { redis } = fixture.app;
    const key = `${fixture.app.prefix}:run:${runId}:events`;
    const [length, entries, ttl] = await Promise.all([redis.xlen(key), redis.xrange(key, "-", "+"), redis.pttl(key)]);
    release();
    await over(stream);
    const ttlAfter = await redis.pttl(key);

    expect(length).to.equal(100);
    expect(Math.max(...entries.map(([, fields]) => fields.join("").length))).to.be.below(5_000);
    expect(ttl).to.be.within(60_001, 160_000);
    expect(ttlAfter).to.be.within(1, 60_000);
    expect((await fixture.read(runId)).reply).to.have.length(1_000_004);
  });
});
