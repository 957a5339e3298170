import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { newNoteId } from "../../../src/models/notes/note.ts";
import { NOTIFICATION_TYPES } from "../../../src/shared/notifications/catalogue.ts";
import { eventually } from "../../support/eventually.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";
import { answers, startChannelServer } from "../../support/servers/channelServer.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const AUTH = { Authorization: `Bearer ${HOOK_TOKEN}` };
const STOPPED = /^The event follows from 3 turns of the agent in a row that events have caused\./;

/** The targets of rules: each begins another turn of the agent, or may be part of a loop in another way. */
const TARGETS = {
  now: { wake: "now" },
  heartbeat: { wake: "next-heartbeat" },
  message: toLog,
  webhook: toWebhook(),
};

/** The events that no turn can cause: nobody creates the job. */
const OUTSIDE = ["job.missing"];

/** An agent that has something to say in each turn. */
const REPLIES = { defaults: { runner: "command" }, runners: { command: { command: ["echo", "Hello."] } } };

/** The hooks of Signalbox that its own webhooks call. */
const MAPPINGS = [
  { id: "agent", match: { path: "agent-loop" }, messageTemplate: "{{type}}", trackAsJob: true, deliver: false },
  { id: "wake", match: { path: "wake-loop" }, action: "wake", textTemplate: "{{type}}" },
];

describe("notify: loops", () => {
  let fixture: NotifyFixture;
  let relay: Server | undefined;
  afterEach(async () => {
    await fixture.close();
    relay?.close();
    relay?.closeAllConnections();
    relay = undefined;
  });

  describe("from an event of the depth 3, which a turn has caused", () => {
    const on = NOTIFICATION_TYPES.filter((type) => !OUTSIDE.includes(type));
    const rules = Object.entries(TARGETS).map(([id, to]) => ({ id, on, to, slow: { longerThan: "10s" } }));

    /** Makes each event happen to a run of the depth 3, its job and the deliveries of its replies. */
    async function happen(): Promise<void> {
      const { app } = fixture;
      const { runs, jobs, deliveries } = app.stores;
      const mapped = { mapping: "agent", call: null, wakeMode: "next-heartbeat" as const };
      const common = { kind: "agent" as const, name: "loop", singleUse: true, mapped, request: null, depth: 3 };
      const accept = async () => {
        const _id = randomUUID();
        await runs.accept([{ ...common, _id, sessionKey: _id }]);
        return _id;
      };
      for (const kind of ["dropped", "event", "failed"] as const) {
        const error = { code: "agent_failed" as const, message: "No." };
        const outcome = kind === "failed" ? { kind, error } : kind === "event" ? { kind, name: null } : { kind };
        await runs.applyMapping(await accept(), 0, outcome);
      }
      const budget = { id: "daily", per: "day", used: "$5 of $5" };
      await runs.note(await accept(), { id: newNoteId(), type: "budget.reached", at: app.clock.now(), budget });
      const job = async (status: "running" | "failed" | "completed") => {
        const runId = await accept();
        await jobs.put(runId, { name: "loop", status, metadata: { runId }, staleAfterSeconds: 30 });
        return runId;
      };
      await job("failed");
      await job("completed");
      const silent = await job("running");
      const asked = await job("running");
      const gate = (key: string) => `/api/jobs/${asked}/gates/${key}`;
      const expiresAt = new Date(app.clock.now().getTime() + 20_000).toISOString();
      await app.call("PUT", gate("one"), { title: "Go on?" });
      await app.call("POST", `${gate("one")}/answer`, { action: "accept" });
      await app.call("PUT", gate("two"), { title: "Go on?", expiresAt });
      const reply = { runId: silent, channel: "log", to: "people", text: "x", depth: 3 };
      await deliveries.add({ ...reply, _id: `${silent}-0`, fault: "It was refused." });
      app.clock.advance(31_000);
      await fixture.scanned();
      await jobs.put(silent, { message: "back" });
      await fixture.scanned();
    }

    it("each rule stores a failed delivery that says so, and sends nothing", async () => {
      fixture = await NotifyFixture.start(rules, { notifyTurnsPerMinute: 1_000 });
      await happen();

      const found = new Map<string, string[]>();
      for (const id of Object.keys(TARGETS)) {
        const stopped = await fixture.deliveries(id);
        for (const { state, reason, event } of stopped) {
          expect(`${state} ${reason}`, `${event?.type} to ${id}`).to.match(/^failed The event follows from 3 turns/);
        }
        found.set(id, [...new Set(stopped.map(({ event }) => event?.type ?? ""))].sort());
      }

      const expected = Object.keys(TARGETS).map((id): [string, string[]] => [id, [...on].sort()]);
      expect([...found]).to.deep.equal(expected);
      expect(await fixture.app.database.collections.events.countDocuments({ _id: /^notify-/ })).to.equal(0);
      const warned = fixture.worker.log.filter(({ msg }) => String(msg).startsWith("a rule has stopped"));
      expect(warned.length).to.be.at.least(on.length * rules.length);
    });
  });

  it("ends when the reply of each turn fails and a rule wakes the agent for it", async () => {
    fixture = await NotifyFixture.start(
      [{ id: "wake", on: ["delivery.failed"], to: { wake: "now" }, cooldown: "1s" }],
      { hooks: { enabled: true, token: HOOK_TOKEN }, agents: REPLIES, notifyTurnsPerMinute: 1_000 },
    );

    const { clock, stores } = fixture.app;
    const add = stores.mainEvents.add.bind(stores.mainEvents);
    stores.mainEvents.add = (events) => {
      clock.advance(2_000); // longer than the cooldown
      return add(events);
    };

    await fixture.app.call("POST", "/hooks/wake", { text: "Hello." }, AUTH);

    const [stopped] = await stoppedBy("wake");
    expect(stopped?.reason).to.match(STOPPED);
    expect(await replied(), "turns").to.equal(4);
    const retried = await fixture.app.call("POST", `/api/deliveries/${stopped?._id}/retry`);
    expect([retried.status, retried.body.code]).to.deep.equal([409, "delivery_state_conflict"]);
  });

  const loops: readonly [title: string, on: string, path: string][] = [
    ["a run starts another one when it ends", "run.completed", "/hooks/agent-loop"],
    ["the job of a run starts another run", "job.completed", "/hooks/agent-loop"],
    ["a run wakes the main session, whose reply fails", "delivery.failed", "/hooks/wake-loop"],
  ];
  for (const [title, on, path] of loops) {
    it(`ends when ${title} by a webhook to Signalbox itself`, async () => {
      let target = "";
      relay = createServer(async (request, response) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of request) chunks.push(chunk as Uint8Array);
        const depth = String(request.headers["signalbox-depth"]);
        const headers = { ...AUTH, "Content-Type": "application/json", "Signalbox-Depth": depth };
        const { status } = await fetch(target, { method: "POST", headers, body: Buffer.concat(chunks) });
        response.writeHead(status).end();
      }).listen(0, "127.0.0.1");
      await new Promise((resolve) => relay?.once("listening", resolve));
      const { port } = relay.address() as AddressInfo;
      fixture = await NotifyFixture.start(
        [{ id: "loop", on: [on], to: toWebhook({ url: `http://127.0.0.1:${port}/` }) }],
        {
          hooks: { enabled: true, token: HOOK_TOKEN, mappings: MAPPINGS },
          agents: REPLIES,
          notifyTurnsPerMinute: 1_000,
        },
      );
      target = fixture.app.url + path;

      await fixture.app.call("POST", path, { type: "start" }, AUTH);

      const [stopped] = await stoppedBy("loop");
      expect(stopped?.reason).to.match(STOPPED);
      await fixture.dispatched();
      const sent = (await fixture.deliveries("loop")).filter(({ state }) => state === "sent");
      expect(sent).to.have.length(3);
    });
  }

  it("waits for the next heartbeat after six turns a minute when each turn calls from outside, without a depth", async () => {
    let turns = 0;
    const model = await startChannelServer(async (response, request) => {
      // Such a request comes from a program of the agent with a token of its own, or a relay that drops the header.
      await fixture.app.call("POST", `/api/ping/outside${++turns}/fail`);
      const message = { role: "assistant", content: "HEARTBEAT_OK" };
      answers(200, { choices: [{ index: 0, message, finish_reason: "stop" }] })(response, request);
    });
    const agents = {
      defaults: { runner: "openai", model: "small" },
      runners: { openai: { baseUrl: `${model.url}/v1` } },
    };
    fixture = await NotifyFixture.start([{ id: "wake", on: ["job.failed"], to: { wake: "now" } }], { agents });
    const isWarning = ({ msg }: { msg?: unknown }) => String(msg).startsWith("rules wake the agent too often");

    await fixture.app.call("POST", "/api/ping/outside0/fail");
    await eventually(() => fixture.worker.log.some(isWarning), "the warning");
    await fixture.dispatched();
    const waiting = await fixture.app.call("GET", "/api/sessions/main/events");
    await model.close();

    expect(turns).to.equal(6);
    expect(waiting.body).to.include({ waiting: 1 });
    expect(waiting.body.events[0].text).to.include("outside6");
    expect(fixture.worker.log.filter(isWarning)).to.have.length(1);
  });

  const stoppedBy = (rule: string) =>
    eventually(async () => {
      const stopped = (await fixture.deliveries(rule)).filter(({ state }) => state === "failed");
      return stopped.length > 0 && stopped;
    }, `the end of the loop of ${rule}`);

  /** Returns the number of turns of the main session. */
  async function replied(): Promise<number> {
    const metrics = await fixture.worker.metrics.registry.metrics();
    return Number(/^signalbox_heartbeat_turns_total\{outcome="replied"\} (\d+)$/m.exec(metrics)?.[1]);
  }
});
