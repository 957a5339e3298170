import { createHmac, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { startApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { clearFailPoint, failWrites, UNCONFIRMED } from "../../../support/servers/failPoints.ts";
import { useApp } from "../../../support/useApp.ts";
import { api, CONFIG, hook, SECRET } from "./keptRequests.ts";

interface Row {
  readonly requestId: string;
  readonly outcome: string;
  readonly mapping: string | null;
  readonly status: number;
  readonly runIds: string[];
  readonly signature: unknown;
  readonly reason: string | null;
}

describe("kept requests", () => {
  const app = useApp({ config: CONFIG, countFailure: async () => {} });

  const send = (name: string, body: unknown, headers: Record<string, string> = hook) =>
    app.call("POST", `/hooks/${name}`, body, headers);
  const list = async (query = ""): Promise<Row[]> => {
    const { status, body } = await app.call("GET", `/api/hooks/requests${query}`, undefined, api);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.requests;
  };
  const get = async (id: string) => (await app.call("GET", `/api/hooks/requests/${id}`, undefined, api)).body;
  const replay = (id: string, body: object = {}) => app.call("POST", `/api/hooks/requests/${id}/replay`, body, api);
  const runCount = () => app.stores.runs.collection.native.countDocuments();

  it("GET list and one: show the body byte for byte, and headers and query without secrets", async () => {
    const text = '{ "branch":"main",  "a": 9007199254740993 }';
    const headers = { ...hook, Cookie: "a=b", "X-Gitlab-Token": "secret-of-gitlab", "X-Event": "push" };
    const sent = await send("ci?token=a-hook-token-of-length&api_key=secret-key&n=2", text, headers);

    const [row] = await list();
    const request = await get(row?.requestId as string);

    expect(row).to.deep.include({
      hook: "ci",
      mapping: "ci",
      outcome: "accepted",
      status: 202,
      bodyBytes: text.length,
      repeated: false,
      runIds: sent.body.runIds,
      signature: { type: "hook-token", verdict: "valid" },
      reason: null,
      event: null,
      object: null,
    });
    expect(request).to.deep.include({ body: text, bodyEncoding: "utf8", query: { api_key: "***", n: "***" } });
    expect(request.url).to.equal("/hooks/ci?api_key=***&n=***");
    expect(request.payload).to.deep.equal({ branch: "main", a: "9007199254740993" });
    expect(request.headers).to.include({ "x-event": "push", "content-type": "application/json" });
    const stored = JSON.stringify(await app.stores.hookRequests.collection.native.find().toArray());
    for (const secret of ["a-hook-token-of-length", "secret-of-gitlab", "secret-key", "a=b"]) {
      expect(JSON.stringify(request)).not.to.include(secret);
      expect(stored).not.to.include(secret);
    }
    const run = (await app.call("GET", `/api/runs/${sent.body.runId}`, undefined, api)).body;
    expect(run).to.include({ requestId: row?.requestId, replayOf: null });
  });

  it("a compressed body is kept as it was sent, and can be replayed", async () => {
    const bytes = gzipSync('{"branch":"main"}');
    const sent = await fetch(`${app.url}/hooks/ci`, {
      method: "POST",
      headers: { ...hook, "Content-Type": "application/json", "Content-Encoding": "gzip" },
      body: bytes,
    });
    expect(sent.status).to.equal(202);
    const [row] = await list();

    const request = await get(row?.requestId as string);

    expect(request.bodyEncoding).to.equal("base64");
    expect(Buffer.from(request.body, "base64").equals(bytes)).to.equal(true);
    expect(request.payload).to.deep.equal({ branch: "main" });
    expect((await replay(row?.requestId as string)).status).to.equal(202);
  });

  it("GET list: filters by mapping, outcome, status and time, and pages", async () => {
    await send("ci", { branch: "a" });
    app.clock.advance(60_000);
    const between = app.clock.now().toISOString();
    await send("other", {});
    await send("items", { items: [1, 2] });
    await send("items", { items: 3 });
    const kept = await eventually(async () => {
      const rows = await list();
      return rows.length === 4 && rows;
    }, "the refused request to be stored");
    const mappings = (rows: readonly Row[]) => rows.map(({ mapping }) => mapping);

    expect(mappings(kept)).to.deep.equal(["items", "items", "other", "ci"]);
    expect(mappings(await list("?mapping=other"))).to.deep.equal(["other"]);
    expect(mappings(await list("?outcome=refused"))).to.deep.equal(["items"]);
    expect((await list("?status=202&outcome=accepted&outcome=filtered")).length).to.equal(3);
    expect(mappings(await list(`?before=${between}`))).to.deep.equal(["ci"]);
    expect((await list(`?from=${between}`)).length).to.equal(3);
    const leap = await app.call("GET", "/api/hooks/requests?before=2016-12-31T23:59:60Z", undefined, api);
    expect([leap.status, leap.body.errors?.[0].parameter]).to.deep.equal([400, "before"]);
    const first = (await app.call("GET", "/api/hooks/requests?limit=3", undefined, api)).body;
    const second = await app.call("GET", `/api/hooks/requests?limit=3&cursor=${first.nextCursor}`, undefined, api);
    expect(second.body).to.deep.include({ nextCursor: null });
    expect(mappings(second.body.requests)).to.deep.equal(["ci"]);
  });

  it("need runs:read and runs:write, and are recorded in the audit log only when they are replayed", async () => {
    await send("ci", { branch: "main" });
    const [row] = await list();
    const path = `/api/hooks/requests/${row?.requestId}`;
    const statuses = [
      await app.call("GET", "/api/hooks/requests"),
      await app.call("GET", path, undefined, hook),
      await app.call("POST", `${path}/replay`, {}, hook),
      await app.call("POST", "/api/hooks/dry-run", { hook: "ci", body: "{}" }, hook),
    ].map(({ status }) => status);
    await replay(row?.requestId as string, { dryRun: true });
    await replay(row?.requestId as string);

    expect(
      statuses.every((status) => status === 401 || status === 403),
      String(statuses),
    ).to.equal(true);
    const audit = (await app.call("GET", "/api/audit?action=request.replay", undefined, api)).body.entries;
    expect(audit.map(({ target }: { target: string }) => target)).to.deep.equal([row?.requestId]);
  });

  it("a replay makes new runs with replayOf, and leaves the original as it was", async () => {
    const sent = await send("items", { items: ["a", "b"] });
    const [row] = await list();
    const id = row?.requestId as string;
    const before = await get(id);

    const replayed = await replay(id);
    const byOther = await replay(id, { mapping: "other" });

    expect(replayed.status).to.equal(202);
    expect(replayed.body.runIds).to.have.length(2);
    expect(replayed.body.runIds).not.to.include.members(sent.body.runIds);
    const run = (await app.call("GET", `/api/runs/${replayed.body.runId}`, undefined, api)).body;
    expect(run).to.include({ replayOf: id, requestId: null });
    expect([byOther.status, byOther.body.mapping]).to.deep.equal([202, "other"]);
    expect(await get(id)).to.deep.equal(before);
    expect(await list()).to.have.length(1);
  });

  it("a dry run shows mapping, message, session and delivery, and stores nothing", async () => {
    await send("ci", { branch: "main" });
    const [row] = await list();
    const before = await runCount();

    const { status, body } = await replay(row?.requestId as string, { dryRun: true });

    expect(status).to.equal(200);
    expect(body).to.deep.include({ dryRun: true, mapping: "ci", runCount: 1, transform: null });
    expect(body.considered).to.deep.equal([{ mapping: "ci", unmet: null, reason: null, conditions: [] }]);
    expect(body.runs[0].values).to.deep.equal([{ path: "branch", value: "main" }]);
    expect(body.runs[0]).to.include({
      kind: "agent",
      name: "CI main",
      message: "Build of main",
      sessionKey: "hook:ci:main",
      deliver: true,
      channel: "log",
      to: "ops",
      error: null,
    });
    expect(await runCount()).to.equal(before);
  });

  it("POST dry-run tries the mappings on a pasted body, and says which condition is not met", async () => {
    const attempt = async (request: object) => (await app.call("POST", "/api/hooks/dry-run", request, api)).body;
    const headers = { "X-GitHub-Event": "issues" };

    const taken = await attempt({ hook: "github", headers, body: '{"action":"opened"}' });
    const left = await attempt({ hook: "github", headers, body: '{"action":"labeled"}' });
    const named = await attempt({ hook: "github", mapping: "ci", body: '{"branch":"x"}' });
    const wrong = await attempt({ hook: "github", mapping: "none", body: "{}" });
    const broken = await attempt({ hook: "github", body: "{" });

    expect([taken.mapping, taken.runs[0].message]).to.deep.equal(["github", '{"action":"opened"}']);
    expect(left).to.deep.include({ mapping: null, runCount: 0, runs: [] });
    const reason = 'payload.action is "labeled", not one of "opened", "reopened"';
    const conditions = [
      { condition: 'headers.x-github-event is "issues"', isMet: true, found: '"issues"' },
      { condition: 'payload.action is one of "opened", "reopened"', isMet: false, found: '"labeled"' },
    ];
    expect(left.considered).to.deep.equal([{ mapping: "github", unmet: "payload.action", reason, conditions }]);
    const secret = await attempt({ hook: "secret", headers: { "X-Api-Key": "two" }, body: "{}" });
    expect(secret.considered[0].conditions).to.deep.equal([
      { condition: "headers.x-api-key has the wanted value", isMet: false, found: "***" },
    ]);
    expect(named.runs[0].message).to.equal("Build of x");
    expect([wrong.code, wrong.errors[0].pointer]).to.deep.equal(["invalid_body", "/mapping"]);
    expect(broken.code).to.equal("invalid_json");
    expect(await runCount()).to.equal(0);
  });

  it("a filtered request is kept as filtered, and a repeated message as repeated, with the runs of the first", async () => {
    const sign = (body: string) => `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
    const post = (body: string, event: string) =>
      send("github", body, { "X-GitHub-Event": event, "X-Hub-Signature-256": sign(body) });
    const opened = await post('{"action":"opened"}', "issues");
    const again = await post('{"action":"opened"}', "issues");
    const labeled = await post('{"action":"labeled"}', "issues");

    const rows = await list();

    expect(labeled.status).to.equal(202);
    expect(labeled.body).to.deep.include({ ok: true, runIds: [] });
    expect(again.body.runIds).to.deep.equal(opened.body.runIds);
    expect(rows.map(({ outcome, mapping }) => [outcome, mapping])).to.deep.equal([
      ["filtered", "github"],
      ["accepted", "github"],
      ["accepted", "github"],
    ]);
    expect(rows[0]?.reason).to.equal('payload.action is "labeled", not one of "opened", "reopened"');
    expect(rows.map((row) => (row as Row & { repeated: boolean }).repeated)).to.deep.equal([false, true, false]);
    expect(rows[1]?.runIds).to.deep.equal(opened.body.runIds);
  });

  it("refused requests are kept without their bodies, with the reason and the verdict", async () => {
    const bad = { "X-Hub-Signature-256": `sha256=${"0".repeat(64)}`, "X-GitHub-Event": "issues" };
    await send("github", '{"secret":"in the body"}', bad);
    await send("nothing", {});
    await send("ci", "{ not json");
    await send("ci", { a: "x".repeat(300_000) });
    await send("ci", {}, { Authorization: "Bearer another-token-of-length" });
    const rows = await eventually(async () => {
      const found = await list("?outcome=refused");
      return found.length === 5 && found;
    }, "the refused requests to be stored");

    expect(rows.map(({ status }) => status)).to.deep.equal([401, 413, 400, 404, 401]);
    expect(rows.at(-1)).to.deep.include({ mapping: "github", signature: { type: "github", verdict: "wrong" } });
    for (const { requestId } of rows) {
      const request = await get(requestId);
      expect([request.body, request.payload]).to.deep.equal([null, null]);
      expect(request.reason).to.be.a("string");
      expect((await replay(requestId)).body.code).to.equal("request_state_conflict");
    }
    const stored = JSON.stringify(await app.stores.hookRequests.collection.native.find().toArray());
    expect(stored).not.to.include("in the body");
    expect(stored).not.to.include("another-token-of-length");
  });

  const wrong = `sha256=${"0".repeat(64)}`;
  const signed = (value: string) => ({ "X-Hub-Signature-256": value, "X-GitHub-Event": "issues" });
  const refusals: readonly (readonly [string, string, Record<string, string>, unknown, RegExp, string | null])[] = [
    [
      "a wrong signature",
      "github",
      signed(wrong),
      {},
      /^The signature does not match: other secret, or the body/,
      "github",
    ],
    ["a missing signature", "github", {}, {}, /^The github signature is missing/, "github"],
    ["a malformed signature", "github", signed("sha1=0"), {}, /another form than that of github/, "github"],
    [
      "an expired signature",
      "slack",
      { "X-Slack-Request-Timestamp": "1000", "X-Slack-Signature": `v0=${"0".repeat(64)}` },
      {},
      /^The signed time is too far/,
      "slack",
    ],
    [
      "a wrong token of a sender",
      "gitlab",
      { "X-Gitlab-Token": "another" },
      {},
      /auth\.token of the mapping/,
      "gitlab",
    ],
    [
      "a wrong hook token",
      "ci",
      { Authorization: "Bearer another-token-of-length" },
      {},
      /^The token is not the hook token/,
      "ci",
    ],
    ["no hook token", "ci", {}, {}, /^The hook token is missing/, "ci"],
    ["a mistyped name", "gihub", {}, {}, /^No mapping has the name gihub\. Did you mean github\?$/, null],
    ["a body that is no JSON", "ci", hook, "{ not json", /valid JSON/, "ci"],
  ];
  for (const [what, name, headers, body, words, mapping] of refusals) {
    it(`says in words why ${what} is refused, and names its mapping`, async () => {
      const { status, body: answer } = await send(name, body, headers);
      const [row] = await eventually(async () => {
        const rows = await list();
        return rows.length === 1 && rows;
      }, "the refused request to be stored");

      expect([row?.outcome, row?.status, row?.mapping]).to.deep.equal(["refused", status, mapping]);
      expect(row?.reason).to.match(words);
      if (status === 401) expect(JSON.stringify(answer)).not.to.match(words);
    });
  }

  it("the reason of a filtered request has no value of a header that may be a secret", async () => {
    await send("secret", {}, { ...hook, "X-Api-Key": "the-value-of-the-key" });

    const [row] = await list();
    expect([row?.outcome, row?.reason]).to.deep.equal(["filtered", "headers.x-api-key has another value"]);
  });

  it("a dry run names the placeholders without a value, and what they may have meant", async () => {
    const attempt = async (request: object) => (await app.call("POST", "/api/hooks/dry-run", request, api)).body;
    const body = JSON.stringify({ build: { id: 7, log: null }, commits: [{ author: "Ada" }] });

    const made = await attempt({ hook: "typos", headers: { "X-Event": "push" }, body });
    const unknown = await attempt({ hook: "typo", body });

    expect(made.runs[0].missingValues).to.deep.equal([
      { path: "build.idd", didYouMean: "build.id" },
      { path: "biuld.id", didYouMean: "build.id" },
      { path: "header.X-Event", didYouMean: "headers.x-event" },
      { path: "commits[0].autor", didYouMean: "commits[0].author" },
      { path: "unrelated", didYouMean: null },
    ]);
    expect(unknown).to.include({ mapping: null, reason: "No mapping has the name typo. Did you mean typos?" });
  });

  it("nothing is kept without hooks.keepRequests", async () => {
    const plain = await startApp({ config: CONFIG.replace(/keepRequests: \{.*?\},/, "") });
    await plain.call("POST", "/hooks/ci", { branch: "main" }, hook);
    await plain.call("POST", "/hooks/none", {}, hook);

    const { body } = await plain.call("GET", "/api/hooks/requests", undefined, api);
    expect(body).to.deep.equal({ requests: [], nextCursor: null });
    await plain.close();
    expect(await app.stores.hookRequests.collection.native.countDocuments()).to.equal(0);
  });

  it("a request whose runs could not be stored is not shown", async () => {
    const { namespace } = app.stores.runs.collection.native;
    await failWrites(20, { closeConnection: true, namespace }, ["insert"]);
    const failed = await send("ci", { branch: "main" }).finally(clearFailPoint);

    expect(failed.status).to.equal(503);
    expect(await runCount()).to.equal(0);
    expect(await app.stores.hookRequests.collection.native.countDocuments()).to.equal(1);
    const [leftover] = await app.stores.hookRequests.collection.native.find().toArray();
    expect(await list()).to.deep.equal([]);
    expect((await get(leftover?._id as string)).code).to.equal("request_not_found");
  });

  it("a request whose runs were stored without a confirmation is shown with them", async () => {
    const { namespace } = app.stores.runs.collection.native;
    await failWrites(20, { ...UNCONFIRMED, namespace }, ["insert"]);
    const failed = await send("ci", { branch: "main" }).finally(clearFailPoint);

    const [run] = await app.stores.runs.collection.native.find().toArray();
    expect(failed.status).to.equal(503);
    expect((await list()).map(({ runIds, outcome }) => [runIds, outcome])).to.deep.equal([[[run?._id], "accepted"]]);
  });

  it("no runs are stored when the request could not be", async () => {
    const { namespace } = app.stores.hookRequests.collection.native;
    await failWrites(20, { closeConnection: true, namespace }, ["insert"]);
    const failed = await send("ci", { branch: "main" }).finally(clearFailPoint);

    expect(failed.status).to.equal(503);
    expect([await runCount(), await app.stores.hookRequests.collection.native.countDocuments()]).to.deep.equal([0, 0]);
  });

  it("a conflict of the Idempotency-Key keeps no accepted request", async () => {
    const key = { ...hook, "Idempotency-Key": randomUUID() };
    const first = await send("ci", { branch: "a" }, key);
    const same = await send("ci", { branch: "a" }, key);
    const other = await send("ci", { branch: "b" }, key);

    expect([first.status, same.status, other.status]).to.deep.equal([202, 202, 409]);
    expect(same.body.runIds).to.deep.equal(first.body.runIds);
    expect(await list("?outcome=accepted")).to.have.length(2);
  });
});
