import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseConfig } from "../../../../src/config/load.ts";
import { eventually } from "../../../support/eventually.ts";
import { fenced, MappedHookFixture } from "../../../support/hooks/mappedHookFixture.ts";
import { startWorker } from "../../../support/worker.ts";

const quiet = { deliver: false, wakeMode: "next-heartbeat" };
const returning = (value: string) => `export default () => (${value});`;

/** Blocks its thread like an endless loop, without using a processor. */
const HANGS = "export default () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); };";

describe("the transform of a mapped hook", () => {
  const files = {
    "keep.mjs": "export default () => undefined;",
    "drop.mjs": "export default async () => null;",
    "echo.mjs": "export default ({ payload }) => payload.result;",
    "input.ts": `import type { Transform } from "signalbox/transform";
      export const named: Transform<{ items: object[] }> = (input): { message: string } => ({ message: JSON.stringify(input) });`,
    "nan.mjs": returning("{ timeoutSeconds: NaN }"),
    "prints.mjs": 'export default () => { console.log("one\\ntwo"); console.error("three"); };',
    "throws.ts": "interface A { b: string }\n\nexport default (a: A) => {\n  throw new Error('of its own');\n};",
    "hangs.mjs": HANGS,
    "rests.mjs": `import { existsSync } from "node:fs";
      import { setTimeout } from "node:timers/promises";
      const enough = () => existsSync(new URL("enough", import.meta.url));
      export default async () => { for (let i = 0; i < 20 && !enough(); i++) await setTimeout(100); };`,
    "changes.mjs": returning("{ message: 'as it was' }"),
    "deleted.mjs": "export default () => undefined;",
  };
  let fixture: MappedHookFixture;
  before(async () => {
    const mapping = (path: string, module: string, more = {}) => ({
      match: { path },
      name: path,
      messageTemplate: `of ${path}: {{text}}`,
      ...quiet,
      transform: { module },
      ...more,
    });
    fixture = await MappedHookFixture.start(
      [
        ...["keep", "drop", "nan", "prints", "hangs", "changes", "deleted"].map((name) => mapping(name, `${name}.mjs`)),
        mapping("throws", "throws.ts"),
        mapping("rests", "rests.mjs", { forEach: "items" }),
        mapping("override", "echo.mjs", { channel: "log", to: "ops", thinking: "low", timeoutSeconds: 100 }),
        mapping("event", "echo.mjs", { action: "wake", textTemplate: "text of {{text}}" }),
        mapping("drop-event", "drop.mjs", { action: "wake" }),
        mapping("input", "input.ts", { transform: { module: "input.ts", export: "named" }, forEach: "items" }),
        { match: { path: "plain" }, messageTemplate: "plain {{text}}", ...quiet },
      ],
      {
        files,
        hooks: "transformTimeoutSeconds: 60", // No transform here reaches it, however busy the machine is.
        defaults: 'models: ["small", { id: "org/large", alias: "large" }]',
      },
    );
  });
  after(() => fixture.close());

  it("keeps the mapping's values when it returns undefined", async () => {
    const run = await fixture.run("keep", { text: "the text" });

    expect(run).to.include({ status: "completed", name: "keep" });
    expect(fenced(fixture.promptWith("the text"))).to.equal("of keep: the text");
  });

  it("drops the request when it returns null: the run is dropped, without a turn and a summary", async () => {
    for (const name of ["drop", "drop-event"]) {
      const { runId, ...run } = await fixture.run(name, { text: "dropped" });

      expect(run).to.deep.include({ status: "dropped", error: null, reply: null, deliveries: [], attempts: 0 });
      const { mainEvents } = fixture.app.stores;
      const waiting = await mainEvents.collection.native.find().toArray();
      expect(waiting.filter(({ _id, source }) => `${_id} ${source}`.includes(runId))).to.deep.equal([]);
      expect(fixture.promptWith("dropped")).to.equal("");
    }
    const { body } = await fixture.app.call("GET", "/api/runs?status=dropped");
    expect(body.runs.map(({ name }: { name: string }) => name)).to.deep.equal(["drop-event", "drop"]);
  });

  it("receives payload, headers, url, path and query without secrets, and with forEach the one item", async () => {
    const headers = { Cookie: "a=s3cret", "X-Service-Token": "s3cret", "X-Kind": "push" };
    const ids = await fixture.acceptedAll("input/?a=1&token=s3cret", { items: [{ id: 1 }, { id: 2 }], b: 2 }, headers);
    for (const id of ids) await fixture.ended(id);

    const inputs = fixture.model.requests.map(({ body }) => fenced(body.messages.at(-1).content) ?? "");
    const [first, second] = inputs.filter((text) => text.startsWith('{"')).map((text) => JSON.parse(text));
    expect(first).to.have.all.keys("payload", "headers", "url", "path", "query");
    expect(first).to.deep.include({ url: "/hooks/input/?a=1", path: "input", query: { a: "1" } });
    expect([first.payload, second.payload]).to.have.deep.members([
      { items: [{ id: 1 }], b: 2 },
      { items: [{ id: 2 }], b: 2 },
    ]);
    expect(first.headers).to.include({ "x-kind": "push" }).and.to.not.have.any.keys("authorization", "cookie");
    expect(JSON.stringify([first, second]))
      .to.not.include("s3cret")
      .and.not.include("a-hook-token");
  });

  it("receives a body of the maximum depth", async () => {
    const body = `{"result":{"message":"nested deeply"},"deep":${"[".repeat(499)}${"]".repeat(499)}}`;

    expect(await fixture.run("override", body)).to.deep.include({ status: "completed", error: null });
  });

  const overrides: [string, unknown, string, unknown][] = [
    ["message", "said anew", "message", "said anew"],
    ["name", "another", "name", "another"],
    ["sessionKey", "hook:another", "sessionKey", "hook:another"],
    ["wakeMode", "now", "wakeMode", "now"],
    ["deliver", true, "deliver", true],
    ["channel", "slack", "channel", "slack"],
    ["to", "somebody", "to", "somebody"],
    ["model", "large", "model", "org/large"],
    ["thinking", "high", "thinking", "high"],
    ["timeoutSeconds", 0.5, "timeoutSeconds", 0.5],
  ];
  for (const [field, value, kept, expected] of overrides) {
    it(`overrides ${field}, and nothing else`, async () => {
      const own = await fixture.run("override", { result: {}, text: "own" });
      const { runId } = await fixture.run("override", { result: { [field]: value }, text: "own" });

      const find = async (id: string) => {
        const { request, name, sessionKey, singleUse } = await fixture.app.stores.runs.find(id);
        return { ...request, name, sessionKey: singleUse ? "one of its own" : sessionKey } as Record<string, unknown>;
      };
      expect(await find(runId)).to.deep.equal({ ...(await find(own.runId)), [kept]: expected });
    });
  }

  it("turns a run into an event, and an event into a run", async () => {
    const event = await fixture.run("override", { result: { kind: "wake", text: "made an event", mode: "now" } });
    const own = await fixture.run("override", { result: { kind: "wake" }, text: "x" });
    const agent = await fixture.run("event", { result: { kind: "agent", message: "made a run", deliver: false } });

    expect(event).to.include({ kind: "wake", status: "completed", sessionKey: "main", reply: null });
    await eventually(() => fixture.promptWith("made an event"), "the main session's turn");
    const found = await fixture.app.stores.mainEvents.collection.native.findOne({ _id: `hook-${own.runId}-0` });
    expect(found).to.include({ text: '{"result":{"kind":"wake"},"text":"x"}', source: "override", wake: false });
    expect(agent).to.include({ kind: "agent", status: "completed", reply: "Hello from the model." });
    expect(fenced(fixture.promptWith("made a run"))).to.equal("made a run");
  });

  it("overrides text and mode of an event", async () => {
    const { runId } = await fixture.run("event", { result: { text: "another text" }, text: "x" });
    const own = await fixture.run("event", { result: {}, text: "x" });

    const { mainEvents } = fixture.app.stores;
    expect(await mainEvents.collection.native.findOne({ _id: `hook-${runId}-0` })).to.include({
      text: "another text",
      wake: false,
    });
    expect(await mainEvents.collection.native.findOne({ _id: `hook-${own.runId}-0` })).to.include({
      text: "text of x",
    });
  });

  const faults: [string, string, object, string][] = [
    ["a message that is no text", "override", { message: 7 }, "message must be a string."],
    ["a blank message", "override", { message: " " }, "message must not be blank."],
    ["null for a field", "override", { name: null }, "name must be a string."],
    ["a wrong wakeMode", "override", { wakeMode: "later" }, "wakeMode must be one of now, next-heartbeat."],
    ["a wrong channel", "override", { channel: "fax" }, "channel must be one of last, "],
    ["deliver in words", "override", { deliver: "no" }, "deliver must be true or false."],
    ["a time of nothing", "override", { timeoutSeconds: 0 }, "timeoutSeconds must be greater than 0."],
    [
      "a time over the bound",
      "override",
      { timeoutSeconds: 3_601 },
      "timeoutSeconds must be at most 3600 (hooks.maxTimeoutSeconds).",
    ],
    ["no number as a time", "nan", {}, "timeoutSeconds must be a number."],
    ["a model outside the list", "override", { model: "huge" }, "model must be one of small, org/large, large."],
    ["the main session's key", "override", { sessionKey: "main" }, "sessionKey must not be main"],
    ["a misspelt field", "override", { mesage: "x" }, "mesage is not known; did you mean message?"],
    ["a field of the other kind", "override", { text: "x" }, "text is not known."],
    ["a field of an agent's run in an event", "event", { message: "x" }, "message is not known."],
    ["an unknown kind", "override", { kind: "run" }, "kind must be one of agent, wake."],
    ["a kind that is no text", "override", { kind: 1 }, "kind must be one of agent, wake."],
    ["a wrong mode", "event", { mode: "soon" }, "mode must be one of now, next-heartbeat."],
    ["text", "override", "text" as unknown as object, "The transform echo.mjs returned a string"],
  ];
  for (const [title, name, result, message] of faults) {
    it(`that returns ${title} fails the run: ${message}`, async () => {
      const run = await fixture.run(name, { result });

      expect(run).to.include({ status: "failed", attempts: 0 });
      expect(run.error?.code).to.equal("transform_failed");
      expect(run.error?.message.startsWith(message), run.error?.message).to.equal(true);
    });
  }

  it("that throws fails the run with the position in its source, which the summary contains", async () => {
    const { runId, ...run } = await fixture.run("throws", { text: "the body" });

    expect(run).to.include({ status: "failed", attempts: 0, kind: "agent" });
    expect(run.error?.code).to.equal("transform_failed");
    expect(run.error?.message).to.equal("The transform throws.ts failed: Error at throws.ts:4:9: of its own.");
    const { text } = await fixture.summaryOf(runId);
    expect(text).to.equal(`throws: failed (transform_failed): ${run.error?.message}`);
  });

  it("that never ends does not block other transforms", async () => {
    const hanging = [
      await fixture.accepted("hangs", {}),
      await fixture.accepted("hangs", {}),
      await fixture.accepted("hangs", {}),
    ];
    const others = [await fixture.accepted("plain", {}), await fixture.accepted("keep", {})];
    for (const id of others) await fixture.ended(id);

    const meanwhile = await Promise.all(hanging.map((id) => fixture.read(id)));
    for (const id of hanging) await fixture.app.call("POST", `/api/runs/${id}/cancel`);

    expect(meanwhile.map(({ status }) => status)).to.deep.equal(Array(3).fill("queued"));
  });

  it("that is slow leaves threads to others, however many requests wait for it", async () => {
    const many = await fixture.acceptedAll("rests", { items: Array.from({ length: 150 }, () => ({})) });
    const other = await fixture.run("plain", {});
    const meanwhile = await Promise.all(many.map((id) => fixture.read(id)));
    writeFileSync(join(fixture.dir, "enough"), "");
    const ended = { _id: { $in: many }, status: { $nin: ["queued", "running"] as const } };
    const { collection } = fixture.app.stores.runs;
    await eventually(async () => (await collection.countDocuments(ended as object)) === 150, "all to end", 60_000, 50);
    const runs = await Promise.all(many.map((id) => fixture.read(id)));

    expect(other.status).to.equal("completed");
    expect(meanwhile.filter(({ status }) => status === "queued").length).to.be.above(120);
    expect(runs.map(({ status }) => status)).to.deep.equal(Array(150).fill("completed"));
  });

  it("that hangs ends at once when its run is cancelled", async () => {
    const id = await fixture.accepted("hangs", {});
    const done = () => fixture.worker.log.some(({ job, msg }) => job === id && msg === "the queue job is done");

    const { body } = await fixture.app.call("POST", `/api/runs/${id}/cancel`);
    expect(body).to.deep.include({ status: "failed", error: { code: "cancelled", message: "The run was cancelled." } });
    await eventually(done, "the transform to be ended");

    expect((await fixture.read(id)).error?.code).to.equal("cancelled");
    expect((await fixture.summaryOf(id)).text).to.equal("hangs: failed (cancelled): The run was cancelled.");
  });

  it("prints to the worker's log with the id of its run", async () => {
    const { runId } = await fixture.run("prints", { text: "s3cret body" });

    const printed = fixture.worker.log.filter(({ run, line }) => run === runId && line !== undefined);
    expect(printed.map(({ stream, line }) => `${stream} ${line}`)).to.have.members([
      "stdout one",
      "stdout two",
      "stderr three",
    ]);
    expect(JSON.stringify(fixture.worker.log)).to.not.include("s3cret body");
  });

  it("that was changed runs in its new version", async () => {
    await fixture.run("changes", {});
    writeFileSync(join(fixture.dir, "changes.mjs"), returning("{ message: 'as it is now' }"));
    await fixture.run("changes", {});

    expect(fixture.promptWith("as it was")).to.not.equal("");
    expect(fixture.promptWith("as it is now")).to.not.equal("");
  });

  it("that is missing fails the run, which completes when it is retried after the transform was restored", async () => {
    rmSync(join(fixture.dir, "deleted.mjs"));
    const failed = await fixture.run("deleted", { text: "begun anew" });
    await eventually(
      async () => (await fixture.app.stores.runs.find(failed.runId)).finalized,
      "the end of the first round",
    );

    writeFileSync(join(fixture.dir, "deleted.mjs"), returning("{ name: 'mended' }"));
    const retry = await fixture.app.call("POST", `/api/runs/${failed.runId}/retry`);
    const run = await fixture.ended(failed.runId);

    expect(failed.error?.code).to.equal("transform_failed");
    expect(failed.error?.message).to.match(/"deleted\.mjs" does not exist in hooks\.transformsDir\.$/);
    expect([retry.status, retry.body.status, retry.body.error]).to.deep.equal([202, "queued", null]);
    expect(run).to.deep.include({ status: "completed", name: "mended", error: null, attempts: 1 });
    expect(fenced(fixture.promptWith("begun anew"))).to.equal("of deleted: begun anew");
    const { mainEvents } = fixture.app.stores;
    const summaries = () => mainEvents.collection.native.find({ source: `run ${failed.runId}` }).toArray();
    await eventually(async () => (await summaries()).length === 2, "the second summary");
  });
});

describe("a transform that takes longer than hooks.transformTimeoutSeconds", () => {
  it("fails each of its runs", async () => {
    const fixture = await MappedHookFixture.start('{ match: { path: "hangs" }, transform: { module: "hangs.mjs" } }', {
      files: { "hangs.mjs": HANGS },
      hooks: "transformTimeoutSeconds: 1",
    });
    try {
      const ids = [
        await fixture.accepted("hangs", {}),
        await fixture.accepted("hangs", {}),
        await fixture.accepted("hangs", {}),
      ];
      const runs = await Promise.all(ids.map((id) => fixture.ended(id)));

      for (const { status, error } of runs) {
        expect([status, error?.code]).to.deep.equal(["failed", "transform_failed"]);
        expect(error?.message).to.match(/^The transform hangs\.mjs took longer than .*1 s/);
      }
    } finally {
      await fixture.close();
    }
  });
});

describe("a mapped run whose mapping has left the configuration", () => {
  it("fails with that reason", async () => {
    const fixture = await MappedHookFixture.start('{ match: { path: "gone" } }');
    try {
      await fixture.worker.close();
      const id = await fixture.accepted("gone", {});
      const worker = await startWorker({ ...fixture.app, config: parseConfig(undefined, {}) });
      try {
        const run = await fixture.ended(id);

        expect(run.error).to.deep.equal({
          code: "mapping_failed",
          message: "The configuration no longer has the mapping gone. Add it again and retry the run.",
        });
      } finally {
        await worker.close();
      }
    } finally {
      await fixture.close();
    }
  });
});
