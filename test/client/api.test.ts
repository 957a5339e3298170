import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import sinon from "sinon";
import { type Client, createClient, SignalboxError } from "../../src/client/client.ts";
import { answers, startChannelServer } from "../support/servers/channelServer.ts";
import { freePort } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";
import { recordingClient } from "./recording.ts";

const API_TOKEN = "an-api-token-of-length";
const HOOK_TOKEN = "a-hook-token-of-length";

const CONFIG = `{
  hooks: { enabled: true, token: "${HOOK_TOKEN}", presets: ["gmail"], gmail: { account: "ada@example.org" },
           mappings: [{ match: { path: "ci" }, instructions: "Be brief." }] },
  channels: { log: {} },
  session: { main: { channel: "log", to: "ops" } },
}`;

describe("signalbox/client API calls", () => {
  const app = useSharedApp({ apiToken: API_TOKEN, config: CONFIG });
  let client: Client;
  before(() => {
    client = createClient({ url: `${app.url}/`, token: API_TOKEN, hookToken: HOOK_TOKEN });
  });

  it("create, filter, page through, read and delete jobs", async () => {
    const team = randomUUID();
    const ids = Array.from({ length: 3 }, (_, i) => `${team}/job ${i} ü`);
    for (const jobId of ids) await client.jobs.put(jobId, { name: jobId, metadata: { team, tags: ["a", "b c"] } });
    await client
      .job(ids[0]!)
      .step("s", { name: "S" })
      .complete({ output: { ok: true } });

    const first = await client.jobs.list({
      metadata: { team, tags: ["a", "b c"] },
      limit: 2,
      status: ["running", "failed"],
    });
    const second = await client.jobs.list({ metadata: { team }, limit: 2, cursor: first.nextCursor ?? "" });
    const slim = await client.jobs.list({ metadata: { team }, fields: ["status", "progress"] });
    const whole = await client.jobs.get(ids[0]!, { include: "steps" });
    const withStep = await client.jobs.get(ids[0]!, { stepKey: "s" });
    const { steps } = await client.jobs.steps(ids[0]!, { limit: 5 });
    const slimSteps = await client.jobs.steps(ids[0]!, { fields: ["progress"] });
    const deleted = await client.jobs.delete(ids[2]!);
    const rest = await client.jobs.deleteAll({ metadata: { team } });

    expect([...first.jobs, ...second.jobs].map(({ jobId }) => jobId)).to.deep.equal([...ids].reverse());
    expect(slim.jobs[0]).to.deep.equal({ jobId: ids[2], status: "running", progress: 0 });
    expect(whole.steps).to.deep.equal(steps);
    expect(slimSteps.steps).to.deep.equal([{ stepKey: "s", progress: 100 }]);
    expect(withStep.step).to.deep.include({ stepKey: "s", status: "completed", output: { ok: true } });
    expect(withStep.step?.durationMs).to.be.a("number");
    expect(deleted).to.deep.equal({ ok: true });
    expect(rest).to.deep.equal({ ok: true, deleted: 2 });
    expect((await client.jobs.list({ metadata: { team } })).jobs).to.deep.equal([]);
  });

  const unboundFilters: [string, object | undefined][] = [
    ["no filter", undefined],
    ["an empty filter", {}],
    ["a filter whose only value is undefined", { name: undefined }],
    ["a filter with one value that is undefined", { status: "running", name: undefined }],
    ["a filter with a value that is null", { name: null }],
    ["an empty list of statuses", { status: [] }],
    ["no metadata", { metadata: {} }],
    ["metadata whose value is undefined", { metadata: { team: undefined } }],
    ["all that is not true", { all: false }],
    ["all beside a filter", { all: true, name: "a" }],
  ];
  for (const [what, filter] of unboundFilters)
    it(`deleteAll refuses ${what}, without a request`, async () => {
      const { client, sent } = recordingClient({ url: "http://127.0.0.1:9" });

      const error = await client.jobs.deleteAll(filter as never).catch((error) => error);

      expect(error).to.be.instanceOf(SignalboxError).and.include({ status: 400, code: "invalid_query" });
      expect(error.detail).to.include("all: true");
      expect(sent).to.have.length(0);
    });

  it("deleteAll with all: true deletes every job", async () => {
    const server = await startChannelServer();
    const { client, sent } = recordingClient({ url: server.url });

    await client.jobs.deleteAll({ all: true });

    expect(sent.map(({ method, path }) => `${method} ${path}`)).to.deep.equal(["DELETE /api/jobs?all=true"]);
    await server.close();
  });

  it("list the audit log", async () => {
    await client.jobs.put("to delete", {});
    await client.jobs.delete("to delete");

    const { entries } = await client.audit({ action: "job.delete", target: "to delete" });

    expect(entries).to.have.length(1);
    const ids = ["auditId", "requestId", "serviceRequestId"];
    expect(entries[0]).to.have.all.keys(...ids, "at", "actor", "action", "target", "address");
  });

  it("return the counts of jobs", async () => {
    const { jobs } = await client.stats();

    expect(jobs).to.have.all.keys("total", "running", "completed", "failed", "stale");
  });

  it("call hooks with the hook token, and read and cancel the run that follows", async () => {
    const idempotencyKey = randomUUID();
    const request = { message: "Hello", name: "Test", deliver: false };

    const { runId, sessionKey } = await client.hooks.send("agent", request, { idempotencyKey });
    const again = await client.hooks.send("agent", request, { idempotencyKey });
    const woken = await client.hooks.send("wake", { text: "Hello", mode: "next-heartbeat" });

    expect(again.runId).to.equal(runId);
    expect(woken.mode).to.equal("next-heartbeat");
    expect(await client.runs.get(runId)).to.include({ runId, sessionKey, status: "queued", name: "Test" });
    expect((await client.runs.list({ sessionKey, status: "queued" })).runs.map(({ runId }) => runId)).to.deep.equal([
      runId,
    ]);
    expect(await client.runs.cancel(runId)).to.include({ status: "failed" });
    const conflict = await client.runs.cancel(runId).catch((error) => error);
    expect(conflict).to.include({ status: 409, code: "run_state_conflict", isTransient: false });
    expect((await client.deliveries.list({ state: ["pending", "failed"] })).deliveries).to.deep.equal([]);
    const missing = await client.deliveries.retry("no such delivery").catch((error) => error);
    expect(missing).to.include({ status: 404, code: "delivery_not_found" });
  });

  it("send a mapped hook to its path with the sender's headers", async () => {
    const server = await startChannelServer();
    const { client, sent } = recordingClient({ url: server.url, hooksPath: "/in", token: API_TOKEN });

    await client.hooks.send("ci/build 7", { ok: false }, { headers: { "X-Signature": "abc" } });
    await client.access.logIn("a token");

    expect(sent[0]).to.deep.include({ method: "POST", path: "/in/ci/build%207", body: { ok: false } });
    expect(sent[0]?.headers.get("X-Signature")).to.equal("abc");
    expect(sent[1]).to.deep.include({ method: "POST", path: "/session", body: { token: "a token" } });
    await server.close();
  });

  it("let the caller's headers replace the default ones regardless of case", async () => {
    const server = await startChannelServer();
    const { client, sent } = recordingClient({ url: server.url, hookToken: HOOK_TOKEN });
    const headers = { authorization: "Bearer another", "content-type": "application/json; charset=utf-8" };

    await client.hooks.send("ci", { ok: false }, { headers });

    expect(Object.fromEntries(sent[0]?.headers ?? [])).to.deep.equal(headers);
    await server.close();
  });

  it("read a run's request, sessions, waiting events, channels and the mailbox", async () => {
    const { runId, sessionKey } = await client.hooks.send("agent", { message: "Look.", sessionKey: "hook:it" });
    const mapped = (await client.hooks.send("ci", { build: 7 })) as { runId: string };
    const { eventId } = await client.hooks.send("wake", { text: "Now", mode: "next-heartbeat" });
    const until = new Date(Date.now() + 60_000);
    await app.stores.sessions.acquire({ key: "hook:it", holder: runId }, { token: "w", until });

    const asked = await client.runs.request(runId);
    const came = await client.runs.request(mapped.runId);
    const waiting = await client.sessions.waitingEvents({ limit: 100 });
    const { sessions } = await client.sessions.list({ limit: 10 });
    const { messages } = await client.sessions.messages("hook:it", { limit: 5 });
    const { channels, route } = await client.channels();
    const { gmail } = await client.gmail();

    expect(sessionKey).to.equal("hook:it");
    expect(asked.request).to.include({ message: "Look.", deliver: true });
    expect(came.call).to.deep.include({ mapping: "ci", payload: { build: 7 } });
    expect(waiting.events.at(-1)).to.include({ eventId, text: "Now" });
    expect(sessions.map(({ sessionKey, busy }) => [sessionKey, busy])).to.deep.equal([["hook:it", true]]);
    expect(messages).to.deep.equal([]);
    expect(channels.map(({ channel, configured }) => [channel, configured])).to.deep.equal([["log", true]]);
    expect(route).to.deep.equal({ channel: "log", to: "ops" });
    expect(gmail).to.include({ account: "ada@example.org", ok: false });
  });

  it("log a browser in and out with a cookie in place of the token", async () => {
    let cookie = "";
    /** Keeps the service's cookie, as a browser does for its page. */
    const fetchWithCookie: typeof fetch = async (input, init) => {
      const headers = new Headers(init?.headers);
      if (cookie) headers.set("Cookie", cookie);
      const response = await fetch(input, { ...init, headers });
      cookie = response.headers.get("Set-Cookie")?.split(";")[0] ?? cookie;
      return response;
    };
    const browser = createClient({ url: app.url, fetch: fetchWithCookie });

    const before = await browser.access.get();
    const wrong = await browser.access.logIn("not the token, but as long").catch((error) => error);
    await browser.access.logIn(API_TOKEN);
    const inside = await browser.access.get();
    const { jobs } = await browser.stats();
    await browser.access.logOut();
    const after = await browser.access.get();

    expect([before, inside, after]).to.deep.equal([
      {
        needsToken: true,
        access: null,
        name: null,
        by: null,
        scopes: [],
        jobIdPrefixes: null,
        hooksUrl: null,
        provider: null,
      },
      {
        needsToken: true,
        access: "full",
        name: "api-token",
        by: "token",
        scopes: ["admin"],
        jobIdPrefixes: null,
        hooksUrl: "/hooks",
        provider: null,
      },
      {
        needsToken: true,
        access: null,
        name: null,
        by: null,
        scopes: [],
        jobIdPrefixes: null,
        hooksUrl: null,
        provider: null,
      },
    ]);
    expect(wrong).to.include({ status: 401, code: "unauthorized" });
    expect(jobs.total).to.be.a("number");
  });

  it("throw a SignalboxError for a refused request, an unexpected answer and an unreachable service", async () => {
    const server = await startChannelServer(answers(200, "<h1>Welcome</h1>"));
    const thrown = (promise: Promise<unknown>) =>
      promise.then(
        () => expect.fail(),
        (error: SignalboxError) => error,
      );

    const over = AbortSignal.timeout(0);
    await once(over, "abort"); // otherwise a quick response would arrive first
    const errors = [
      await thrown(createClient({ url: app.url, token: "not the token, but as long" }).stats()),
      await thrown(client.jobs.list({ status: "done" as "failed" })),
      await thrown(createClient({ url: server.url }).stats()),
      await thrown(createClient({ url: `http://127.0.0.1:${await freePort()}` }).stats()),
      await thrown(client.stats({ signal: over })),
    ];

    expect(errors.slice(0, 4).every((error) => error instanceof SignalboxError)).to.equal(true);
    expect(errors.map(({ status, code }) => [status, code])).to.deep.equal([
      [401, "unauthorized"],
      [400, "invalid_query"],
      [200, "unexpected_answer"],
      [0, "unreachable"],
      [undefined, DOMException.TIMEOUT_ERR],
    ]);
    expect(errors[1]?.errors[0]).to.include({ parameter: "status" });
    await server.close();
  });

  it("warn on the console of each attempt that is tried again, unless onError is given", async () => {
    const warn = sinon.stub(console, "warn");
    const away = createClient({ url: `http://127.0.0.1:${await freePort()}`, retryForMs: 500 });

    const thrown = await away
      .job("j")
      .create()
      .catch((error: unknown) => error);
    const warnings = warn.args.flat();
    warn.restore();

    expect(thrown).to.include({ code: "unreachable" });
    expect(warnings[0]).to.match(/^SignalboxError: The service at \S+ cannot be reached \(ECONNREFUSED\)\.$/);
    await away.close();
  });

  it("are not retried for a port that fetch itself blocks", async () => {
    const errors: unknown[] = [];
    const blocked = createClient({ url: "http://127.0.0.1:6000", onError: (error) => errors.push(error) });

    const thrown = await blocked
      .job("j")
      .create()
      .catch((error: unknown) => error);

    expect(thrown).to.include({ code: "unreachable", isTransient: false });
    expect((thrown as Error).message).to.match(/6000 cannot be reached: fetch blocks its port\. Use another/);
    expect(errors).to.deep.equal([]);
    await blocked.close();
  });

  it("do not disclose a hook token that is invalid in a header", async () => {
    const error = await createClient({ url: app.url, hookToken: "sec\nret" })
      .hooks.send("wake", { text: "Now" })
      .catch((thrown: unknown) => thrown);

    expect(error).to.be.instanceOf(SignalboxError).and.include({ code: "unreachable" });
    expect((error as Error).message).to.match(/^The service at .* cannot be reached \(fetch failed\)\.$/);
  });
});
