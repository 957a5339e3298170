import { expect } from "chai";
import { MappedHookFixture } from "../../../support/hooks/mappedHookFixture.ts";

describe("a mapped hook", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    fixture = await MappedHookFixture.start(
      `{
        match: { path: "ci/build" },
        name: "CI {{branch}}",
        sessionKey: "hook:ci:{{branch}}",
        messageTemplate: "Build {{build.id}} by {{build.authors[0].name}} failed: {{headers.x-reason}} {{query.q}} {{path}}",
        instructions: "Say what broke.",
        channel: "log", to: "{{room}}", wakeMode: "next-heartbeat",
      },
      { match: { path: "alert" }, action: "wake", name: "Monitor", textTemplate: "{{title}} is down" },
      { match: { path: "calm" }, action: "wake", wakeMode: "next-heartbeat" },
      { match: { path: "whole" }, deliver: false, wakeMode: "next-heartbeat" },
      {
        match: { path: "trusted" }, messageTemplate: "{{text}}",
        allowUnsafeExternalContent: true, deliver: false, wakeMode: "next-heartbeat",
      },
      {
        id: "trusted task", match: { path: "task" }, messageTemplate: "{{text}}", instructions: "Do  it.\\n- all",
        allowUnsafeExternalContent: true, deliver: false, wakeMode: "next-heartbeat",
      },
      { match: { path: "waking" }, messageTemplate: "{{text}}", deliver: false },
      {
        match: { path: "settings" }, messageTemplate: "with settings", model: "large", thinking: "high",
        deliver: false, wakeMode: "next-heartbeat",
      },
      { match: { path: "long" }, timeoutSeconds: 7200, messageTemplate: "long", deliver: false },
      { match: { path: "short" }, timeoutSeconds: 0.2, messageTemplate: "short", deliver: false },
      { match: { path: "job" }, name: "Nightly", trackAsJob: true, messageTemplate: "x", deliver: false },
      { match: { path: "recipient" }, channel: "log", to: "{{room}}", messageTemplate: "x", wakeMode: "next-heartbeat" },
      { match: { path: "blank" }, messageTemplate: "{{text}}" },
      { match: { path: "doubled" }, messageTemplate: "{{text}}{{text}}", maxBodyBytes: 8388608 },
      { match: { path: "named" }, name: "{{text}}", deliver: false, wakeMode: "next-heartbeat" },
      { match: { path: "${"long/".repeat(60).slice(0, -1)}" }, deliver: false, wakeMode: "next-heartbeat" }`,
      { defaults: `models: ["small", { id: "org/large", alias: "large" }]` },
    );
  });
  beforeEach(() => fixture.model.script()); // A turn that timed out before its request has left its answer.
  after(() => fixture.close());

  it("may take as long as its mapping allows, beyond the maximum for senders", async () => {
    const { status } = await fixture.run("long", {});

    expect(status).to.equal("completed");
  });
});

describe("the gmail preset", () => {
  it("passes a mail of 8 MiB to the model", async () => {
    const fixture = await MappedHookFixture.start([], { hooks: 'presets: ["gmail"]' });
    try {
      const body = "x".repeat(8 * 1024 * 1024 - 200);

      const run = await fixture.run("gmail", { messages: [{ id: "large", body }] });

      expect(run).to.deep.include({ status: "completed", error: null });
      expect(fixture.promptWith("New mail").length).to.be.greaterThan(body.length);
    } finally {
      await fixture.close();
    }
  });
});
