import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { type Answer, startApp, type TestApp } from "../../../support/app.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const start = (mappings: string, more = "") =>
  startApp({ config: `{ hooks: { enabled: true, token: "${TOKEN}", mappings: [${mappings}]${more} } }` });

/** Returns the number of stored records in each collection. */
async function countRecords({ stores }: TestApp): Promise<number[]> {
  const { runs, mainEvents, idempotencyKeys, jobs } = stores;
  const collections = [runs, mainEvents, idempotencyKeys, jobs].map(({ collection }) => collection);
  return Promise.all(collections.map((one) => one.countDocuments({})));
}

describe("session of a run that waits for its mapping", () => {
  it("is created for the run alone unless the mapping names one", async () => {
    const app = await start(
      '{ match: { path: "none" } }, { match: { path: "constant" }, sessionKey: "hook:ci" }, { match: { path: "event" }, action: "wake" }',
    );
    try {
      const answers = [];
      for (const path of ["none", "constant", "event"])
        answers.push(await app.call("POST", `/hooks/${path}`, {}, bearer));
      const runs = await Promise.all(answers.map(({ body }) => app.stores.runs.find(body.runId)));

      expect(runs.map(({ singleUse }) => singleUse)).to.deep.equal([true, false, false]);
      expect(runs.map(({ sessionKey }) => sessionKey).slice(1)).to.deep.equal(["hook:ci", "main"]);
    } finally {
      await app.close();
    }
  });
});

describe("selection of a mapping", () => {
  let app: TestApp;
  before(async () => {
    app = await start(
      `{ id: "path", match: { path: "ci" } },
       { id: "path again", match: { path: "ci" } },
       { id: "nested", match: { path: "ci/build/nightly" } },
       { id: "both", match: { path: "both", source: "grafana" } },
       { id: "source", match: { source: "sentry" } },
       { id: "both, later", match: { path: "both", source: "sentry" } },
       { id: "own gmail", match: { path: "gmail", source: "mine" } },
       { match: { path: "größe/a b" } }`,
      ', presets: ["gmail"]',
    );
  });
  after(() => app.close());

  const source = (name: unknown) => ({ source: name, messages: [{ id: "m" }] });
  const taken: [string, string, object, string][] = [
    ["the path", "ci", {}, "path"],
    ["the path, whatever the source", "ci", source("sentry"), "path"],
    ["a nested path", "ci/build/nightly", {}, "nested"],
    ["one slash behind the path", "ci/", {}, "path"],
    ["one slash behind a nested path and a query", "ci/build/nightly/?a=1", {}, "nested"],
    ["the source, under any name", "any/name", source("sentry"), "source"],
    ["path and source", "both", source("grafana"), "both"],
    ["the first of two that match", "both", source("sentry"), "source"],
    ["an own mapping before the preset", "gmail", source("mine"), "own gmail"],
    ["the preset where the own mapping does not match", "gmail", source("other"), "Gmail"],
    ["a path that the URL has percent-encoded", "gr%C3%B6%C3%9Fe/a%20b", {}, "größe/a b"],
  ];
  for (const [title, path, body, name] of taken) {
    it(`${title}: ${path} is handled by ${name}`, async () => {
      const { status, body: answer } = await app.call("POST", `/hooks/${path}`, body, bearer);

      expect(status).to.equal(202);
      expect((await app.call("GET", `/api/runs/${answer.runId}`)).body).to.include({ name, status: "queued" });
    });
  }

  const refused: [string, string, object | string][] = [
    ["an unknown name", "nobody", {}],
    ["a name that only begins like a mapping's", "ci/build", {}],
    ["a name in another case", "CI", {}],
    ["two slashes behind the path", "ci//", {}],
    ["two slashes in the path", "ci//build/nightly", {}],
    ["a known name with another source", "both", source("other")],
    ["a known name without a source", "both", {}],
    ["a source that is not a string", "both", source(["grafana"])],
    ["a source that is inherited", "both", '{ "__proto__": { "source": "grafana" } }'],
    ["a source in another place", "both", { payload: source("grafana") }],
    ["the name of a built-in property", "constructor", {}],
    ["no name", "", {}],
  ];
  for (const [title, path, body] of refused) {
    it(`${title}: /hooks/${path} is answered with 404 hook_not_found, and nothing is stored`, async () => {
      const before = await countRecords(app);

      const answer = await app.call("POST", `/hooks/${path}`, body, { ...bearer, "Idempotency-Key": "unknown" });

      expect([answer.status, answer.body.code]).to.deep.equal([404, "hook_not_found"]);
      expect(await countRecords(app)).to.deep.equal(before);
    });
  }

  it("answers a path with broken percent-encoding with 404, and under a mapping of any name with 400", async () => {
    const unknown = await app.call("POST", "/hooks/ci%C3", {}, bearer);
    const taken = await app.call("POST", "/hooks/ci%C3", source("sentry"), bearer);

    expect([unknown.status, taken.status]).to.deep.equal([404, 400]);
  });
});

describe("names of hooks", () => {
  let app: TestApp;
  before(async () => {
    app = await start(
      `{ match: { path: "ci" } }, { match: { path: "both", source: "a" } },
       { match: { path: "stripe" }, auth: { type: "stripe", secret: "x" } }`,
    );
  });
  after(() => app.close());
  /** Sends the head of a request without its body. */
  async function withoutBody(path: string): Promise<[number | undefined, string]> {
    const headers = { ...bearer, "Content-Type": "application/json", "Content-Length": 100 };
    const req: ClientRequest = request(`${app.url}${path}`, { method: "POST", headers });
    req.flushHeaders();
    const [answer] = await once(req, "response");
    const { code } = JSON.parse(await text(answer));
    req.destroy();
    return [answer.statusCode, code];
  }

  it("wake and agent: one trailing slash is ignored, two are not", async () => {
    const paths = ["wake/", "agent/", "wake//", "agent//"];
    const answers = await Promise.all(
      paths.map((path) => app.call("POST", `/hooks/${path}`, { text: "x", message: "x" }, bearer)),
    );

    expect(answers.map(({ status }) => status)).to.deep.equal([200, 202, 404, 404]);
    expect(answers[2]?.body.code).to.equal("hook_not_found");
  });

  it("unknown: the 404 names the hook that is near", async () => {
    const detailOf = async (path: string) => (await app.call("POST", `/hooks/${path}`, {}, bearer)).body.detail;

    expect(await detailOf("CI")).to.equal("There is no hook at /hooks/CI. Did you mean /hooks/ci?");
    expect(await detailOf("agnet")).to.equal("There is no hook at /hooks/agnet. Did you mean /hooks/agent?");
    expect(await detailOf("something-else")).to.equal("There is no hook at /hooks/something-else.");
    expect(await detailOf("both")).to.match(/^No mapping at \/hooks\/both matches the field source of the body: /);
  });

  it("unknown: answered with 404 before the body is read", async () => {
    expect(await withoutBody("/hooks/nobody")).to.deep.equal([404, "hook_not_found"]);
  });

  it("known and unknown: answered alike with 401 without the token, before the body is read", async () => {
    const paths = ["ci", "both", "nobody", "ci//", ""];
    const answers = await Promise.all(paths.map((path) => app.call("POST", `/hooks/${path}`, "{ not json")));

    for (const { status, headers, body } of answers) {
      expect([status, body.code]).to.deep.equal([401, "unauthorized"]);
      expect(headers.get("WWW-Authenticate")).to.match(/^Bearer/);
    }
  });

  const methods: [string, string, number, string | undefined][] = [
    ["GET", "ci", 405, "method_not_allowed"],
    ["PUT", "ci", 405, "method_not_allowed"],
    ["DELETE", "ci/", 405, "method_not_allowed"],
    ["PATCH", "both", 405, "method_not_allowed"],
    ["GET", "stripe", 405, "method_not_allowed"],
    ["GET", "wake/", 405, "method_not_allowed"],
    ["OPTIONS", "ci", 204, undefined],
    ["GET", "nobody", 404, "hook_not_found"],
    ["OPTIONS", "nobody", 404, "hook_not_found"],
    ["DELETE", "ci//", 404, "hook_not_found"],
  ];
  for (const [method, path, status, code] of methods) {
    it(`${method} /hooks/${path} is answered with ${status}${code ? ` ${code}` : ""}`, async () => {
      const answer = await app.call(method, `/hooks/${path}`, undefined, bearer);

      expect([answer.status, answer.body.code]).to.deep.equal([status, code]);
      expect(answer.headers.get("Allow")).to.equal(status === 404 ? null : "POST, OPTIONS");
    });
  }

  it("any method without the token is answered with 401, even if a mapping has an auth of its own", async () => {
    const answers = await Promise.all(["ci", "stripe", "nobody"].map((path) => app.call("GET", `/hooks/${path}`)));

    expect(answers.map(({ status }) => status)).to.deep.equal([401, 401, 401]);
  });
});

describe("response of a mapped hook", () => {
  let app: TestApp;
  before(async () => {
    app = await start(
      `{ match: { path: "ci" }, name: "CI {{branch}}", sessionKey: "ci:{{branch}}" },
       { match: { path: "alert" }, action: "wake" },
       { match: { path: "mails" }, forEach: "mails", name: "{{item.id}} {{mails[0].id}} {{mails[1].id}}" },
       { match: { path: "list" }, forEach: "payload", name: "{{item.id}} {{[0].id}} {{payload[0].id}} {{[1].id}}" },
       { match: { path: "odd" }, forEach: "a/b~c" }`,
    );
  });
  after(() => app.close());
  const post = (name: string, body: object, headers = {}): Promise<Answer> =>
    app.call("POST", `/hooks/${name}`, body, { ...bearer, ...headers });
  const read = async (runId: string) => (await app.call("GET", `/api/runs/${runId}`)).body;
  const runCount = () => app.stores.runs.collection.native.countDocuments();

  it("is 202 with runId, runIds and the Location of the run, which is queued with only the mapping's values", async () => {
    const { status, body, headers } = await post("ci", { branch: "main" });

    expect(status).to.equal(202);
    expect(body).to.deep.equal({ ok: true, runId: body.runId, runIds: [body.runId] });
    expect(body.runId).to.match(UUID);
    expect(headers.get("Location")).to.equal(`/api/runs/${body.runId}`);
    const run = await read(body.runId);
    expect(run).to.include({ kind: "agent", name: "CI main", sessionKey: "ci:main", status: "queued", attempts: 0 });
    expect(run).to.deep.include({ reply: null, error: null, deliveries: [], startedAt: null, endedAt: null });
  });

  it("names the mapping's session up to 256 characters, counted as code points, and otherwise a session of its own", async () => {
    const branches = ["x".repeat(253), "💶".repeat(126), "💶".repeat(253), "x".repeat(254), "💶".repeat(254)];

    const answers = await Promise.all(branches.map((branch) => post("ci", { branch })));

    const keys = (await Promise.all(answers.map(({ body }) => read(body.runId)))).map(({ sessionKey }) => sessionKey);
    expect(keys.slice(0, 3)).to.deep.equal(branches.slice(0, 3).map((branch) => `ci:${branch}`));
    for (const key of keys.slice(3)) expect(key).to.match(/^hook:[0-9a-f-]{36}$/);
  });

  it("is the same for an event of the main session", async () => {
    const { status, body } = await post("alert", {});

    expect(status).to.equal(202);
    expect(await read(body.runId)).to.include({ kind: "wake", name: "alert", sessionKey: "main", status: "queued" });
  });

  it("with forEach has one run for each item, in order, and the Location of the first", async () => {
    const { status, body, headers } = await post("mails", { mails: [{ id: 1 }, { id: 2 }, { id: 3 }] });

    expect(status).to.equal(202);
    expect(new Set(body.runIds)).to.have.property("size", 3);
    expect(body.runId).to.equal(body.runIds[0]);
    expect(headers.get("Location")).to.equal(`/api/runs/${body.runId}`);
    const names = (await Promise.all(body.runIds.map(read))).map(({ name }) => name);
    expect(names).to.deep.equal(["1 1", "2 2", "3 3"]);
  });

  it("with forEach over the body itself has one run for each item of a list", async () => {
    const several = await post("list", [{ id: 1 }, { id: 2 }]);
    const one = await post("list", [{ id: 3 }]);
    const none = await post("list", []);
    const field = await post("list", { payload: [{ id: 4 }] });

    const runIds = [several, one, none, field].flatMap(({ body }) => body.runIds);
    const runs = await Promise.all(runIds.map(read));
    expect(runs.map(({ name }) => name)).to.deep.equal(["1 1 1", "2 2 2", "3 3 3", "4"]);
  });

  it("with forEach and no items is 202 without a run or a Location", async () => {
    const before = await runCount();

    const { status, body, headers } = await post("mails", { mails: [] });

    expect([status, body]).to.deep.equal([202, { ok: true, runId: null, runIds: [] }]);
    expect(headers.get("Location")).to.equal(null);
    expect(await runCount()).to.equal(before);
  });

  it("with forEach accepts 1000 items", async () => {
    const { status, body } = await post("mails", { mails: Array(1_000).fill(1) });

    expect([status, new Set(body.runIds).size]).to.deep.equal([202, 1_000]);
  });

  const refused: [string, string, object, string][] = [
    ["no such array", "mails", {}, "/mails"],
    ["a list as the whole body", "mails", [{ id: 1 }], "/mails"],
    ["an object in place of the array", "mails", { mails: { 0: 1, length: 1 } }, "/mails"],
    ["null in place of the array", "mails", { mails: null }, "/mails"],
    ["1001 items", "mails", { mails: Array(1_001).fill(1) }, "/mails"],
    ["1000 items and 60 KB around them", "mails", { mails: Array(1_000).fill(1), x: "x".repeat(60_000) }, "/mails"],
    ["no array under a name with special characters", "odd", {}, "/a~1b~0c"],
  ];
  for (const [title, name, body, pointer] of refused) {
    it(`with forEach and ${title} is 400 at ${pointer}, and nothing is stored`, async () => {
      const before = await runCount();

      const answer = await post(name, body, { "Idempotency-Key": `refused ${title}` });

      expect([answer.status, answer.body.code]).to.deep.equal([400, "invalid_body"]);
      expect(answer.body.errors[0].pointer).to.equal(pointer);
      expect(await runCount()).to.equal(before);
      const mended = await post(name, { mails: [], "a/b~c": [] }, { "Idempotency-Key": `refused ${title}` });
      expect(mended.status).to.equal(202);
    });
  }

  it("with a repeated Idempotency-Key and the same body equals the first, and no other run is made", async () => {
    const body = { mails: [{ id: 1 }, { id: 2 }] };
    const before = await runCount();

    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post("mails", body, { "Idempotency-Key": "mails-1" })),
    );

    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.runIds}`))).to.have.property("size", 1);
    expect(answers[0]?.status).to.equal(202);
    expect(answers[9]?.headers.get("Location")).to.equal(`/api/runs/${answers[0]?.body.runId}`);
    expect(await runCount()).to.equal(before + 2);
  });

  it("with a repeated Idempotency-Key completes what a process that died left undone", async () => {
    const body = { mails: [{ id: 1 }, { id: 2 }] };
    const first = await post("mails", body, { "Idempotency-Key": "mails-3" });
    await app.stores.runs.collection.native.deleteOne({ _id: first.body.runIds[1] });

    const again = await post("mails", body, { "Idempotency-Key": "mails-3" });

    expect(again.body).to.deep.equal(first.body);
    expect(await read(first.body.runIds[1])).to.include({ name: "2 2", status: "queued" });
  });

  it("with a repeated Idempotency-Key and another body is 409", async () => {
    const headers = { "Idempotency-Key": "mails-2" };
    const first = await post("mails", { mails: [1] }, headers);
    const before = await runCount();

    const answers = [
      await post("mails", { mails: [2] }, headers),
      await post("mails", { mails: [] }, headers),
      await post("mails/", { mails: [2] }, headers),
      await post("m%61ils", { mails: [2] }, headers),
    ];

    expect(first.status).to.equal(202);
    for (const { status, body } of answers) {
      expect([status, body.code]).to.deep.equal([409, "idempotency_conflict"]);
      expect(body.detail).to.match(/^This Idempotency-Key was used with a different body /);
    }
    expect(await runCount()).to.equal(before);
  });

  it("distinguishes integers that JavaScript would round to the same value, in session keys and under an Idempotency-Key", async () => {
    const send = (branch: string, key: string) =>
      app.call("POST", "/hooks/ci", `{"branch":${branch}}`, { ...bearer, "Idempotency-Key": key });

    const first = await send("9007199254740992", "numbers-1");
    const other = await send("9007199254740993", "numbers-2");
    const conflict = await send("9007199254740993", "numbers-1");

    const runs = await Promise.all([first, other].map(({ body }) => read(body.runId)));
    expect(runs.map(({ name, sessionKey }) => `${name} ${sessionKey}`)).to.deep.equal([
      "CI 9007199254740992 ci:9007199254740992",
      "CI 9007199254740993 ci:9007199254740993",
    ]);
    expect([conflict.status, conflict.body.code]).to.deep.equal([409, "idempotency_conflict"]);
  });

  it("with an Idempotency-Key of 256 characters is 400", async () => {
    expect(await post("ci", {}, { "Idempotency-Key": "k".repeat(256) })).to.include({ status: 400 });
    expect(await post("ci", {}, { "Idempotency-Key": "k".repeat(255) })).to.include({ status: 202 });
  });
});

describe("mapped hooks with hooks.enabled: false", () => {
  it("are answered with 404 like every other path under hooks.path", async () => {
    const app = await startApp({ config: '{ hooks: { mappings: [{ match: { path: "ci" } }], presets: ["gmail"] } }' });
    try {
      for (const name of ["ci", "gmail"]) {
        expect(await app.call("POST", `/hooks/${name}`, {}, bearer)).to.include({ status: 404 });
      }
    } finally {
      await app.close();
    }
  });
});

describe("mapped hooks with a configured hooks.path", () => {
  it("have the rest of the path as their name", async () => {
    const app = await start('{ match: { path: "ci" } }', ', path: "/in/v1"');
    try {
      const answers = await Promise.all(
        ["/in/v1/ci", "/in/v1/ci/", "/in/v1x/ci", "/hooks/ci"].map((path) => app.call("POST", path, {}, bearer)),
      );

      expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 404, 404]);
    } finally {
      await app.close();
    }
  });
});
