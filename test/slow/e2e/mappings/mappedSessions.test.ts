import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { eventually } from "../../../support/eventually.ts";
import { MappedHookFixture } from "../../../support/hooks/mappedHookFixture.ts";
import { FAST_TIMINGS } from "../../../support/timings.ts";

const OWN_SESSION = /^hook:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const quiet = 'deliver: false, wakeMode: "next-heartbeat"';

describe("a mapped run's session", () => {
  let strict: MappedHookFixture;
  let free: MappedHookFixture;
  before(async () => {
    const settings = {
      files: { "key.mjs": "export default ({ payload }) => ({ sessionKey: payload.own })" },
    };
    const mappings = `
      { match: { path: "none" }, ${quiet} },
      { match: { path: "template" }, sessionKey: "{{key}}", ${quiet} },
      { match: { path: "transform" }, sessionKey: "{{key}}", transform: { module: "key.mjs" }, ${quiet} },
      { match: { path: "to-agent" }, action: "wake", transform: { module: "agent.mjs" }, wakeMode: "next-heartbeat" }`;
    const files = { ...settings.files, "agent.mjs": 'export default () => ({ kind: "agent", deliver: false })' };
    [free, strict] = await Promise.all([
      MappedHookFixture.start(mappings, { files }),
      MappedHookFixture.start(mappings, {
        files,
        hooks: 'defaultSessionKey: "hook:inbox", allowedSessionKeyPrefixes: ["hook:"]',
      }),
    ]);
  });
  after(() => Promise.all([free.close(), strict.close()]));

  const own = OWN_SESSION;
  const cases: [string, string, object, string | RegExp, string | RegExp][] = [
    ["no template", "none", {}, own, "hook:inbox"],
    ["a constant value", "template", { key: "hook:a" }, "hook:a", "hook:a"],
    ["a value without an allowed prefix", "template", { key: "a" }, "a", /^sessionKey must begin with .* \(hook:\)\.$/],
    ["a missing value", "template", {}, own, own],
    ["an empty value", "template", { key: "" }, own, own],
    [
      "the main session's key",
      "template",
      { key: "main" },
      /^sessionKey must not be main/,
      /^sessionKey must not be main/,
    ],
    [
      "a line feed",
      "template",
      { key: "hook:\n" },
      /^sessionKey must not contain control/,
      /^sessionKey must not contain control/,
    ],
    [
      "257 characters",
      "template",
      { key: "hook:".padEnd(257, "x") },
      /^sessionKey must have at most/,
      /^sessionKey must have at most/,
    ],
    [
      "256 characters beyond 16 bits",
      "template",
      { key: `hook:${"💶".repeat(251)}` },
      `hook:${"💶".repeat(251)}`,
      `hook:${"💶".repeat(251)}`,
    ],
    ["a transform's key over a missing value", "transform", { own: "hook:b" }, "hook:b", "hook:b"],
    ["a transform's key over another", "transform", { key: "hook:c", own: "hook:b" }, "hook:b", "hook:b"],
    ["a transform's key over one that may not be", "transform", { key: "main", own: "hook:b" }, "hook:b", "hook:b"],
    ["a transform's key without an allowed prefix", "transform", { own: "b" }, "b", /^sessionKey must begin with/],
    [
      "a key that may not be, which a transform leaves",
      "transform",
      { key: "main" },
      /^sessionKey must not be main/,
      /^sessionKey must not be main/,
    ],
    ["a transform that names none", "transform", { key: "hook:c" }, "hook:c", "hook:c"],
    ["a wake mapping that a transform makes an agent's", "to-agent", { key: "x" }, own, "hook:inbox"],
  ];
  const describeKey = (expected: string | RegExp) => {
    if (expected === OWN_SESSION) return "one of its own";
    return expected instanceof RegExp ? "none, the run fails" : [...expected].slice(0, 20).join("");
  };
  for (const [title, name, body, freely, strictly] of cases) {
    it(`for ${title} is ${describeKey(freely)}; with a default and allowed prefixes it is ${describeKey(strictly)}`, async () => {
      for (const [fixture, expected] of [
        [free, freely],
        [strict, strictly],
      ] as const) {
        const run = await fixture.run(name, body);

        const isFault = expected instanceof RegExp && expected !== OWN_SESSION;
        const blamed = "own" in body ? "transform_failed" : "mapping_failed";
        expect(run.error?.code ?? null).to.equal(isFault ? blamed : null);
        const actual = isFault ? run.error?.message : run.sessionKey;
        if (typeof expected === "string") expect(actual).to.equal(expected);
        else expect(actual).to.match(expected);
        const { singleUse } = await fixture.app.stores.runs.find(run.runId);
        if (!isFault) expect(singleUse).to.equal(expected === OWN_SESSION);
      }
    });
  }

  it("for a missing value is used by that run alone", async () => {
    const runs = [await strict.run("template", {}), await strict.run("template", {})];

    expect(runs[0]?.sessionKey).to.not.equal(runs[1]?.sessionKey);
    expect(strict.model.requests.at(-1)?.body.messages).to.have.length(1);
  });

  it("for a constant value continues its conversation", async () => {
    await strict.run("template", { key: "hook:goes-on", text: "first" });
    const { runId } = await strict.run("template", { key: "hook:goes-on", text: "second" });
    await eventually(async () => (await strict.app.stores.runs.find(runId)).finalized, "its end to be seen through");

    const { messages } = (await strict.app.call("GET", "/api/sessions/hook:goes-on/messages")).body;
    expect(messages).to.have.length(4);
    expect(strict.model.requests.at(-1)?.body.messages).to.have.length(3);
  });
});

describe("the mapped runs of one session", () => {
  const slow = (result: string) =>
    `import { existsSync } from "node:fs";
     import { setTimeout as pause } from "node:timers/promises";
     export default async ({ payload }) => {
       console.log("begun");
       while (!existsSync(new URL(payload.gate, import.meta.url))) await pause(10);
       return ${result};
     };`;
  let fixture: MappedHookFixture;
  before(async () => {
    const mapping = (path: string, more = "") =>
      `{ match: { path: "${path}" }, sessionKey: "{{key}}", messageTemplate: "{{text}}", ${more} ${quiet} }`;
    const transformed = (path: string, more = "") => mapping(path, `transform: { module: "${path}.mjs" }, ${more}`);
    fixture = await MappedHookFixture.start(
      `${mapping("fast")}, ${["slow", "drop", "turn", "move", "fail"].map((path) => transformed(path)).join()},
       ${transformed("event", 'action: "wake",')}`,
      {
        files: {
          "slow.mjs": slow("undefined"),
          "drop.mjs": slow("null"),
          "turn.mjs": slow('{ kind: "wake", text: "x", mode: "next-heartbeat" }'),
          "event.mjs": slow("undefined"),
          "move.mjs": slow('{ sessionKey: "elsewhere" }'),
          "fail.mjs": slow("fail()"),
        },
        hooks: "shareSessions: true",
        timings: { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 3_600_000 } }, // It would enqueue them too.
      },
    );
  });
  after(() => fixture.close());
  const open = (gate: string) => writeFileSync(join(fixture.dir, gate), "");
  const prompts = () => fixture.model.requests.map(({ body }) => String(body.messages.at(-1).content));
  const order = (texts: string[]) => texts.map((text) => prompts().findIndex((one) => one.includes(text)));

  it("run in the order of acceptance while the first transform is slow, and do not block other sessions", async () => {
    const ids = [
      await fixture.accepted("slow", { key: "one", text: "the first", gate: "first" }),
      await fixture.accepted("fast", { key: "one", text: "the second" }),
      await fixture.accepted("slow", { key: "one", text: "the third", gate: "third" }),
      await fixture.accepted("fast", { key: "one", text: "the fourth" }),
    ];
    await fixture.run("fast", { key: "two", text: "from another session" });
    expect(order(["the first", "the second"])).to.deep.equal([-1, -1]);
    open("third");
    open("first");
    const runs = await Promise.all(ids.map((id) => fixture.ended(id)));

    expect(runs.map(({ status }) => status)).to.deep.equal(Array(4).fill("completed"));
    const turns = order(["from another session", "the first", "the second", "the third", "the fourth"]);
    expect(turns).to.deep.equal([...turns].sort((a, b) => a - b));
  });

  const leaves: [string, string][] = [
    ["is dropped", "drop"],
    ["becomes an event", "turn"],
    ["goes to another session", "move"],
    ["fails", "fail"],
  ];
  for (const [title, name] of leaves) {
    it(`continue at once when the previous run ${title}`, async () => {
      const first = await fixture.accepted(name, { key: `leaves-${name}`, text: "leaves", gate: name });
      const second = await fixture.accepted("fast", { key: `leaves-${name}`, text: "stays" });
      await eventually(
        async () => (await fixture.app.stores.runs.find(second)).stage === "turn",
        "the second's mapping",
      );

      open(name);

      const run = await fixture.ended(second);
      expect(run).to.include({ status: "completed", sessionKey: `leaves-${name}` });
      expect((await fixture.ended(first)).sessionKey).to.equal(
        { drop: "leaves-drop", turn: "main", move: "elsewhere", fail: "leaves-fail" }[name],
      );
    });
  }

  it("continue when a run is cancelled while its transform is running", async () => {
    const first = await fixture.accepted("slow", { key: "cancelled", text: "never told", gate: "cancelled" });
    const second = await fixture.accepted("fast", { key: "cancelled", text: "told after the cancelled one" });
    await eventually(async () => (await fixture.app.stores.runs.find(second)).stage === "turn", "the second's mapping");

    const { status, body } = await fixture.app.call("POST", `/api/runs/${first}/cancel`);
    const run = await fixture.ended(second);
    open("cancelled");

    expect([status, body.status, body.error.code]).to.deep.equal([200, "failed", "cancelled"]);
    expect(run.status).to.equal("completed");
    expect((await fixture.summaryOf(first)).text).to.include("failed (cancelled)");
    await fixture.run("fast", { key: "cancelled", text: "one more" });
    expect(order(["never told"])).to.deep.equal([-1]);
    expect(await fixture.read(first)).to.deep.include({ status: "failed", error: body.error });
  });

  it("send no event to the main session when the run is cancelled while its transform is running", async () => {
    const id = await fixture.accepted("event", { text: "never an event", gate: "event" });
    await eventually(
      () => fixture.worker.log.some(({ run, line }) => run === id && line === "begun"),
      "the transform to begin",
    );

    await fixture.app.call("POST", `/api/runs/${id}/cancel`);
    open("event");
    await eventually(
      () => fixture.worker.log.some(({ job, outcome }) => job === id && outcome === "done"),
      "the transform to end",
    );

    const { mainEvents } = fixture.app.stores;
    expect(await mainEvents.collection.native.findOne({ _id: `hook-${id}-0` })).to.equal(null);
    expect((await fixture.read(id)).error).to.include({ code: "cancelled" });
  });
});
