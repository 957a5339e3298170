import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";
import { answers, says } from "../../support/servers/modelServer.ts";

const QUIET = { deliver: false, wakeMode: "next-heartbeat" };

describe("the outcome of a kept request", () => {
  let hooks: MappedHookFixture;
  before(async () => {
    const mappings = [
      { match: { path: "plain" }, messageTemplate: "{{text}}", ...QUIET },
      { match: { path: "blank" }, messageTemplate: "{{missing}}", ...QUIET },
      { match: { path: "event" }, action: "wake", textTemplate: "{{text}}", wakeMode: "next-heartbeat" },
      {
        match: { path: "some" },
        forEach: "items",
        transform: { module: "some.mjs" },
        messageTemplate: "{{item}}",
        ...QUIET,
      },
    ];
    hooks = await MappedHookFixture.start(mappings, {
      hooks: 'keepRequests: "7d"',
      files: { "some.mjs": "export default ({ payload }) => (payload.items[0] === 'drop' ? null : undefined);" },
    });
  });
  after(() => hooks.close());

  const outcomeOf = async (runId: string) => {
    const run = await hooks.app.stores.runs.find(runId);
    return (await hooks.app.stores.hookRequests.find(run.requestId ?? ""))?.outcome;
  };
  const becomes = (runId: string, outcome: string) =>
    eventually(async () => (await outcomeOf(runId)) === outcome, `the outcome ${outcome}`);

  it("stays accepted when its run completes or becomes an event", async () => {
    hooks.model.script(says("Done"));
    const run = await hooks.run("plain", { text: "a" });
    const event = await hooks.run("event", { text: "b" });

    expect([run.status, event.status]).to.deep.equal(["completed", "completed"]);
    expect([await outcomeOf(run.runId), await outcomeOf(event.runId)]).to.deep.equal(["accepted", "accepted"]);
  });

  it("becomes failed when its mapping or its turn fails, and accepted again after a retry that completes", async () => {
    hooks.model.script(answers(400, { error: { message: "no" } }));
    const turn = await hooks.run("plain", { text: "c" });
    const mapping = await hooks.run("blank", {});
    expect([turn.status, mapping.status]).to.deep.equal(["failed", "failed"]);
    await becomes(turn.runId, "failed");
    await becomes(mapping.runId, "failed");
    await eventually(
      async () => (await hooks.app.stores.runs.find(turn.runId)).finalized === true,
      "the failure to be finalized",
    );

    hooks.model.script(says("Done"));
    await hooks.app.call("POST", `/api/runs/${turn.runId}/retry`);

    await becomes(turn.runId, "accepted");
  });

  it("becomes dropped when the transform drops all of its runs, not when it drops some", async () => {
    hooks.model.script(says("Done"));
    const all = await hooks.acceptedAll("some", { items: ["drop", "drop"] });
    const one = await hooks.acceptedAll("some", { items: ["drop", "keep"] });
    for (const runId of [...all, ...one]) await hooks.ended(runId);

    await becomes(all[0] as string, "dropped");
    expect(await outcomeOf(one[0] as string)).to.equal("accepted");
  });
});
