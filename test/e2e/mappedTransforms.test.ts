import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parseConfig } from "../../src/shared/config/load.ts";
import { eventually } from "../support/eventually.ts";
import { fenced, MappedBed } from "../support/mappedBed.ts";
import { startWorker } from "../support/worker.ts";

const quiet = { deliver: false, wakeMode: "next-heartbeat" };
const returning = (value: string) => `export default () => (${value});`;

/** Blocks its thread as an endless loop does, without taking a processor from the other tests. */
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
  let bed: MappedBed;
  before(async () => {
    const mapping = (path: string, module: string, more = {}) => ({
      ...{ match: { path }, name: path, messageTemplate: `of ${path}: {{text}}`, ...quiet },
      ...{ transform: { module }, ...more },
    });
    bed = await MappedBed.start(
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
        hooks: "transformTimeoutSeconds: 60", // none of these ends by it, however busy the machine is
        defaults: 'models: ["small", { id: "org/large", alias: "large" }]',
      },
    );
  });
  after(() => bed.close());

  it("keeps what the mapping says with undefined", async () => {
    const run = await bed.run("keep", { text: "the text" });

    expect(run).to.include({ status: "completed", name: "keep" });
    expect(fenced(bed.promptWith("the text"))).to.equal("of keep: the text");
  });

  it("drops the request with null: the run reads dropped, nothing is told, and no summary made", async () => {
    for (const name of ["drop", "drop-event"]) {
      const { runId, ...run } = await bed.run(name, { text: "dropped" });

      expect(run).to.deep.include({ status: "dropped", error: null, reply: null, deliveries: [], attempts: 0 });
      const { events } = bed.app.stores;
      const waiting = await events.collection.find().toArray();
      expect(waiting.filter(({ _id, source }) => `${_id} ${source}`.includes(runId))).to.deep.equal([]);
      expect(bed.promptWith("dropped")).to.equal("");
    }
    const { body } = await bed.app.call("GET", "/api/runs?status=dropped");
    expect(body.runs.map(({ name }: { name: string }) => name)).to.deep.equal(["drop-event", "drop"]);
  });

  it("is given payload, headers, url, path and query, with forEach the one item, and no secret", async () => {
    const headers = { Cookie: "a=s3cret", "X-Service-Token": "s3cret", "X-Kind": "push" };
    const ids = await bed.acceptedAll("input/?a=1&token=s3cret", { items: [{ id: 1 }, { id: 2 }], b: 2 }, headers);
    for (const id of ids) await bed.ended(id);

    const inputs = bed.model.requests.map(({ body }) => fenced(body.messages.at(-1).content) ?? "");
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

  it("is given a body nested as deeply as one may be", async () => {
    const body = `{"result":{"message":"nested deeply"},"deep":${"[".repeat(499)}${"]".repeat(499)}}`;

    expect(await bed.run("override", body)).to.deep.include({ status: "completed", error: null });
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
      const own = await bed.run("override", { result: {}, text: "own" });
      const { runId } = await bed.run("override", { result: { [field]: value }, text: "own" });

      const find = async (id: string) => {
        const { request, name, sessionKey, singleUse } = await bed.app.stores.runs.find(id);
        return { ...request, name, sessionKey: singleUse ? "one of its own" : sessionKey } as Record<string, unknown>;
      };
      expect(await find(runId)).to.deep.equal({ ...(await find(own.runId)), [kept]: expected });
    });
  }

  it("makes an event of what would be a run, and the other way round", async () => {
    const event = await bed.run("override", { result: { kind: "wake", text: "made an event", mode: "now" } });
    const own = await bed.run("override", { result: { kind: "wake" }, text: "x" });
    const agent = await bed.run("event", { result: { kind: "agent", message: "made a run", deliver: false } });

    expect(event).to.include({ kind: "wake", status: "completed", sessionKey: "main", reply: null });
    await eventually(() => bed.promptWith("made an event"), "the main session's turn");
    const found = await bed.app.stores.events.collection.findOne({ _id: `hook-${own.runId}-0` });
    expect(found).to.include({ text: '{"result":{"kind":"wake"},"text":"x"}', source: "override", wake: false });
    expect(agent).to.include({ kind: "agent", status: "completed", reply: "Hello from the model." });
    expect(fenced(bed.promptWith("made a run"))).to.equal("made a run");
  });

  it("overrides text and mode of an event", async () => {
    const { runId } = await bed.run("event", { result: { text: "another text" }, text: "x" });
    const own = await bed.run("event", { result: {}, text: "x" });

    const { events } = bed.app.stores;
    expect(await events.collection.findOne({ _id: `hook-${runId}-0` })).to.include({
      text: "another text",
      wake: false,
    });
    expect(await events.collection.findOne({ _id: `hook-${own.runId}-0` })).to.include({ text: "text of x" });
  });

  const faults: [string, string, object, string][] = [
    ["a message that is no text", "override", { message: 7 }, "message must be string."],
    ["a blank message", "override", { message: " " }, "message must not be blank."],
    ["null for a field", "override", { name: null }, "name must be string."],
    ["a wrong wakeMode", "override", { wakeMode: "later" }, "wakeMode must be one of now, next-heartbeat."],
    ["a wrong channel", "override", { channel: "fax" }, "channel must be one of last, "],
    ["deliver in words", "override", { deliver: "no" }, "deliver must be boolean."],
    ["a time of nothing", "override", { timeoutSeconds: 0 }, "timeoutSeconds must be > 0."],
    [
      "a time over the bound",
      "override",
      { timeoutSeconds: 3_601 },
      "timeoutSeconds must be at most 3600 (hooks.maxTimeoutSeconds).",
    ],
    ["no number as a time", "nan", {}, "timeoutSeconds must be number."],
    ["a model outside the list", "override", { model: "huge" }, "model must be one of small, org/large, large."],
    ["the main session's key", "override", { sessionKey: "main" }, "sessionKey must not be main"],
    ["a misspelt field", "override", { mesage: "x" }, "mesage is not known; did you mean message?"],
    ["a field of the other kind", "override", { text: "x" }, "text is not known; did you mean "],
    ["a field of an agent's run in an event", "event", { message: "x" }, "message is not known; did you mean "],
    ["an unknown kind", "override", { kind: "run" }, "kind must be one of agent, wake."],
    ["a kind that is no text", "override", { kind: 1 }, "kind must be one of agent, wake."],
    ["a wrong mode", "event", { mode: "soon" }, "mode must be one of now, next-heartbeat."],
    ["text", "override", "text" as unknown as object, "The transform echo.mjs returned a string"],
  ];
  for (const [title, name, result, message] of faults) {
    it(`that returns ${title} fails the run: ${message}`, async () => {
      const run = await bed.run(name, { result });

      expect(run).to.include({ status: "failed", attempts: 0 });
      expect(run.error?.code).to.equal("transform_failed");
      expect(run.error?.message.startsWith(message), run.error?.message).to.equal(true);
    });
  }

  it("that throws fails the run with the place in its source, which the main session is told", async () => {
    const { runId, ...run } = await bed.run("throws", { text: "the body" });

    expect(run).to.include({ status: "failed", attempts: 0, kind: "agent" });
    expect(run.error?.code).to.equal("transform_failed");
    expect(run.error?.message).to.equal("The transform throws.ts failed: Error at throws.ts:4:9: of its own.");
    const { text } = await bed.summaryOf(runId);
    expect(text).to.equal(`throws: failed (transform_failed): ${run.error?.message}`);
  });

  it("that never ends holds up no other", async () => {
    const hanging = [await bed.accepted("hangs", {}), await bed.accepted("hangs", {}), await bed.accepted("hangs", {})];
    const others = [await bed.accepted("plain", {}), await bed.accepted("keep", {})];
    for (const id of others) await bed.ended(id);

    const meanwhile = await Promise.all(hanging.map((id) => bed.read(id)));
    for (const id of hanging) await bed.app.call("POST", `/api/runs/${id}/cancel`);

    expect(meanwhile.map(({ status }) => status)).to.deep.equal(Array(3).fill("queued"));
  });

  it("that takes its time leaves room for others, however many wait for it, and each has its turn", async () => {
    const many = await bed.acceptedAll("rests", { items: Array.from({ length: 150 }, () => ({})) });
    const other = await bed.run("plain", {});
    const meanwhile = await Promise.all(many.map((id) => bed.read(id)));
    writeFileSync(join(bed.dir, "enough"), "");
    const ended = { _id: { $in: many }, status: { $nin: ["queued", "running"] as const } };
    const { collection } = bed.app.stores.runs;
    await eventually(async () => (await collection.countDocuments(ended as object)) === 150, "all to end", 60_000, 50);
    const runs = await Promise.all(many.map((id) => bed.read(id)));

    expect(other.status).to.equal("completed");
    expect(meanwhile.filter(({ status }) => status === "queued").length).to.be.above(120);
    expect(runs.map(({ status }) => status)).to.deep.equal(Array(150).fill("completed"));
  });

  it("that is cancelled while it hangs ends at once, and stays so", async () => {
    const id = await bed.accepted("hangs", {});
    const done = () => bed.worker.log.some(({ job, msg }) => job === id && msg === "the queue job is done");

    const { body } = await bed.app.call("POST", `/api/runs/${id}/cancel`);
    expect(body).to.deep.include({ status: "failed", error: { code: "cancelled", message: "The run was cancelled." } });
    await eventually(done, "the transform to be ended");

    expect((await bed.read(id)).error?.code).to.equal("cancelled");
    expect((await bed.summaryOf(id)).text).to.equal("hangs: failed (cancelled): The run was cancelled.");
  });

  it("prints to the worker's log with the id of its run", async () => {
    const { runId } = await bed.run("prints", { text: "s3cret body" });

    const printed = bed.worker.log.filter(({ run, line }) => run === runId && line !== undefined);
    expect(printed.map(({ stream, line }) => `${stream} ${line}`)).to.have.members([
      "stdout one",
      "stdout two",
      "stderr three",
    ]);
    expect(JSON.stringify(bed.worker.log)).to.not.include("s3cret body");
  });

  it("that was changed is carried out as it is now", async () => {
    await bed.run("changes", {});
    writeFileSync(join(bed.dir, "changes.mjs"), returning("{ message: 'as it is now' }"));
    await bed.run("changes", {});

    expect(bed.promptWith("as it was")).to.not.equal("");
    expect(bed.promptWith("as it is now")).to.not.equal("");
  });

  it("that is gone fails the run; mended, the run is begun anew and completes", async () => {
    rmSync(join(bed.dir, "deleted.mjs"));
    const failed = await bed.run("deleted", { text: "begun anew" });
    await eventually(async () => (await bed.app.stores.runs.find(failed.runId)).settled, "the end of the first round");

    writeFileSync(join(bed.dir, "deleted.mjs"), returning("{ name: 'mended' }"));
    const retry = await bed.app.call("POST", `/api/runs/${failed.runId}/retry`);
    const run = await bed.ended(failed.runId);

    expect(failed.error?.code).to.equal("transform_failed");
    expect(failed.error?.message).to.match(/"deleted\.mjs" is not there in hooks\.transformsDir\.$/);
    expect([retry.status, retry.body.status, retry.body.error]).to.deep.equal([202, "queued", null]);
    expect(run).to.deep.include({ status: "completed", name: "mended", error: null, attempts: 1 });
    expect(fenced(bed.promptWith("begun anew"))).to.equal("of deleted: begun anew");
    const { events } = bed.app.stores;
    const told = () => events.collection.find({ source: `run ${failed.runId}` }).toArray();
    await eventually(async () => (await told()).length === 2, "the second summary");
  });
});

describe("a transform that takes longer than hooks.transformTimeoutSeconds", () => {
  it("fails each of its runs", async () => {
    const bed = await MappedBed.start('{ match: { path: "hangs" }, transform: { module: "hangs.mjs" } }', {
      files: { "hangs.mjs": HANGS },
      hooks: "transformTimeoutSeconds: 1",
    });
    try {
      const ids = [await bed.accepted("hangs", {}), await bed.accepted("hangs", {}), await bed.accepted("hangs", {})];
      const runs = await Promise.all(ids.map((id) => bed.ended(id)));

      for (const { status, error } of runs) {
        expect([status, error?.code]).to.deep.equal(["failed", "transform_failed"]);
        expect(error?.message).to.match(/^The transform hangs\.mjs took longer than .*1 s/);
      }
    } finally {
      await bed.close();
    }
  });
});

describe("a mapped run whose mapping has left the configuration", () => {
  it("fails, and says so", async () => {
    const bed = await MappedBed.start('{ match: { path: "gone" } }');
    try {
      await bed.worker.close();
      const id = await bed.accepted("gone", {});
      const worker = await startWorker({ ...bed.app, config: parseConfig(undefined, {}) });
      try {
        const run = await bed.ended(id);

        expect(run.error).to.deep.equal({
          code: "mapping_failed",
          message: "The configuration has no mapping gone any more.",
        });
      } finally {
        await worker.close();
      }
    } finally {
      await bed.close();
    }
  });
});
