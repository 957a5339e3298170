import { once } from "node:events";
import { request } from "node:http";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { MemoryBudget } from "../../../../src/api/middleware/memoryBudget.ts";
import { startApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";
const hook = { Authorization: `Bearer ${TOKEN}` };
const SECRET = "a-secret-of-a-sender-alone";

const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", maxBodyBytes: 4096, mappings: [
  { id: "opened", match: { path: "git", when: { "payload.action": ["opened", "reopened"], "headers.X-Event": "pr" } } },
  { id: "draft", match: { path: "git", when: { "payload.draft": true, "query.n": 2 } } },
  { id: "labels", match: { path: "git", when: { "payload.labels[0].name": { exists: true }, "payload.closed": { exists: false } } } },
  { id: "own", match: { path: "mixed", when: { "payload.kind": "a" } }, auth: { type: "token", token: "${SECRET}" } },
  { id: "rest", match: { path: "mixed", source: "rest" } },
  { match: { path: "plain" }, accept: ["text/plain"] },
  { match: { path: "form" }, accept: ["form"], messageTemplate: "{{text}}" },
  { id: "list", match: { path: "list" }, forEach: ".", messageTemplate: "{{item.x}} {{payload[0].x}}" },
  { id: "items", match: { path: "items", when: { "item.x": [1, 2], "query.n": 1 } }, forEach: "rows" },
  { match: { path: "meta" }, handshake: "meta", verifyToken: "the verify token" },
  { match: { path: "graph" }, handshake: "microsoft-graph", verifyToken: "the client state" },
] } }`;

describe("filters, bodies and handshakes of a mapped hook", () => {
  const app = useSharedApp({ config: CONFIG, countFailure: async () => {} });

  const mappingOf = async (runId: string) => (await app.stores.runs.find(runId)).mapped?.mapping;
  const send = (name: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/hooks/${name}`, {
      method: "POST",
      headers: { ...hook, "Content-Type": "application/json", ...headers },
      body,
    });
  const read = async (answer: Response) => ({
    status: answer.status,
    body: (await answer.json()) as { code?: string; runId: string; runIds: string[] },
  });

  const filtered: [string, string, string, Record<string, string>, string | null][] = [
    ["a value of the list and a header", "git", '{"action":"reopened"}', { "x-event": "pr" }, "opened"],
    ["another value", "git", '{"action":"closed"}', { "x-event": "pr" }, null],
    ["a missing header", "git", '{"action":"opened"}', {}, null],
    ["a boolean and a number of the query", "git?n=2", '{"draft":true}', {}, "draft"],
    ["a text in place of a boolean", "git?n=2", '{"draft":"true"}', {}, null],
    ["a path that exists and one that does not", "git", '{"labels":[{"name":"x"}]}', {}, "labels"],
    ["a path that must not exist", "git", '{"labels":[{"name":"x"}],"closed":1}', {}, null],
    ["null where a path must not exist", "git", '{"labels":[{"name":"x"}],"closed":null}', {}, "labels"],
    ["an object in place of a value", "git", '{"action":{"a":1}}', { "x-event": "pr" }, null],
  ];
  for (const [title, path, body, headers, expected] of filtered) {
    it(`match.when: ${title} ${expected === null ? "starts no run" : `is taken by ${expected}`}`, async () => {
      const { status, body: answer } = await read(await send(path, body, headers));

      expect(status).to.equal(202);
      expect(answer).to.include({ ok: true });
      if (expected === null) expect(answer.runIds).to.deep.equal([]);
      else expect(await mappingOf(answer.runId)).to.equal(expected);
    });
  }

  it("match.when: a sender of its own gets 202 for what its mapping leaves out, and no other mapping opens to it", async () => {
    const own = { Authorization: `Bearer ${SECRET}` };
    const left = await read(await send("mixed", '{"kind":"b","source":"rest"}', own));
    const taken = await read(await send("mixed", '{"kind":"b","source":"rest"}'));
    const none = await read(await send("mixed", '{"kind":"a"}'));

    expect([left.status, left.body.runIds]).to.deep.equal([202, []]);
    expect([taken.status, await mappingOf(taken.body.runId)]).to.deep.equal([202, "rest"]);
    expect(none.status).to.equal(401);
  });

  it("a body may be compressed with gzip or deflate in both of its forms", async () => {
    const text = '{"a":"Grüße"}';
    const packed: [string, Buffer<ArrayBuffer>][] = [
      ["gzip", gzipSync(text)],
      ["x-gzip", gzipSync(text)],
      ["deflate", deflateSync(text)],
      ["deflate", deflateRawSync(text)],
    ];
    for (const [coding, bytes] of packed) {
      const { status, body } = await read(await send("plain", bytes, { "Content-Encoding": coding }));
      expect(status, coding).to.equal(202);
      const { mapped } = await app.stores.runs.find(body.runId);
      expect(JSON.parse(mapped?.call ?? "").payload).to.deep.equal({ a: "Grüße" });
    }
  });

  it("a compressed body above the limit once it is decompressed is 413, a broken one 400, another coding 415", async () => {
    const bomb = await read(await send("plain", gzipSync("x".repeat(5_000_000)), { "Content-Encoding": "gzip" }));
    const exact = gzipSync(JSON.stringify("x".repeat(4_094)));
    const atLimit = await read(await send("plain", exact, { "Content-Encoding": "gzip" }));
    const broken = await read(await send("plain", Buffer.from("no gzip"), { "Content-Encoding": "gzip" }));
    const cut = await read(await send("plain", gzipSync('{"a":1}').subarray(0, 15), { "Content-Encoding": "gzip" }));
    const other = await read(await send("plain", "{}", { "Content-Encoding": "br" }));

    expect([bomb.status, bomb.body.code]).to.deep.equal([413, "body_too_large"]);
    expect(atLimit.body.code).to.equal("invalid_json"); // a text, but not too large
    expect([broken.status, broken.body.code]).to.deep.equal([400, "invalid_json"]);
    expect([cut.status, cut.body.code]).to.deep.equal([400, "invalid_json"]);
    expect([other.status, other.body.code]).to.deep.equal([415, "unsupported_media_type"]);
  });

  it("a compressed body reserves memory for its bytes before and after it is decompressed", async () => {
    // Two plain bodies of at most 4,096 bytes fit into this budget, two compressed ones do not.
    const bodies = new MemoryBudget({ maxBytes: 10_000, graceMs: 0 });
    const own = await startApp({ config: CONFIG, bodies });
    try {
      const headers = { ...hook, "Content-Type": "application/json", "Content-Encoding": "gzip" };
      const slow = request(`${own.url}/hooks/plain`, { method: "POST", headers });
      const closed = once(slow, "error");
      slow.write(gzipSync("{}").subarray(0, 5));
      await eventually(async () => (await own.connections()) === 1, "the slow client to be connected");

      const answer = await eventually(async () => {
        const { status } = await fetch(`${own.url}/hooks/plain`, { method: "POST", headers, body: gzipSync("{}") });
        return slow.destroyed && status;
      }, "the slow client to be disconnected");

      await closed;
      expect(answer).to.equal(202);
    } finally {
      await own.close();
    }
  });

  it("accept takes JSON as text and form fields, and no mapping takes them without it", async () => {
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const plain = await read(await send("plain", '{"a":1}', { "Content-Type": "text/plain; charset=utf-8" }));
    const fields = await read(await send("form", "text=hi+there&tag=a&tag=b&__proto__=x&u=%C3%BC", form));
    const refused = await Promise.all([
      send("form", "{}", { "Content-Type": "text/plain" }),
      send("plain", "a=1", form),
      send("plain", "{}", { "Content-Type": "text/plain; charset=iso-8859-1" }),
    ]);

    expect([plain.status, fields.status]).to.deep.equal([202, 202]);
    const { mapped } = await app.stores.runs.find(fields.body.runId);
    const { payload } = JSON.parse(mapped?.call ?? "");
    expect(Object.entries(payload)).to.deep.equal([
      ["text", "hi there"],
      ["tag", ["a", "b"]],
      ["__proto__", "x"],
      ["u", "ü"],
    ]);
    expect(refused.map(({ status }) => status)).to.deep.equal([415, 415, 415]);
  });

  it("match.when: leaves out the items that do not meet it, and the request if none does", async () => {
    const rowsOf = async (query: string, rows: object[]) =>
      (await read(await send(`items${query}`, JSON.stringify({ rows })))).body.runIds;
    const some = await rowsOf("?n=1", [{ x: 3 }, { x: 1 }, null as unknown as object, { x: "1" }, { x: 2, y: 1 }]);
    const calls = await Promise.all(some.map(async (runId) => (await app.stores.runs.find(runId)).mapped?.item?.json));

    expect(calls).to.deep.equal(['{"x":1}', '{"x":2,"y":1}']);
    expect(await rowsOf("?n=1", [{ x: 3 }])).to.deep.equal([]);
    expect(await rowsOf("?n=1", [])).to.deep.equal([]);
    expect(await rowsOf("?n=2", [{ x: 1 }])).to.deep.equal([]);
  });

  it('forEach "." makes a run of each item of a list, and refuses an object', async () => {
    const { status, body } = await read(await send("list", '[{"x":1},{"x":2}]'));
    const object = await read(await send("list", '{".":[1]}'));

    expect(status).to.equal(202);
    expect(body.runIds).to.have.length(2);
    expect([object.status, object.body.code]).to.deep.equal([400, "invalid_body"]);
  });

  it("Meta's verification is answered with its challenge as text, and only with the verify token", async () => {
    const verify = (name: string, token: string, mode = "subscribe") => {
      const query = new URLSearchParams({ "hub.mode": mode, "hub.challenge": "<b>12", "hub.verify_token": token });
      return fetch(`${app.url}/hooks/${name}?${query}`);
    };
    const answer = await verify("meta", "the verify token");

    expect([answer.status, await answer.text()]).to.deep.equal([200, "<b>12"]);
    expect(answer.headers.get("Content-Type")).to.equal("text/plain; charset=utf-8");
    expect(answer.headers.get("X-Content-Type-Options")).to.equal("nosniff");
    const others = await Promise.all([
      verify("meta", "another token"),
      verify("meta", "the verify token", "unsubscribe"),
      verify("plain", "the verify token"),
    ]);
    expect(others.map(({ status }) => status)).to.deep.equal([403, 403, 401]);
  });

  for (const method of ["GET", "PUT", "OPTIONS"]) {
    it(`${method} of any other hook is answered as without a mapping that Meta verifies`, async () => {
      const answers = await Promise.all(
        ["plain", "agent", "wake", "nope"].map((name) => fetch(`${app.url}/hooks/${name}`, { method, headers: hook })),
      );

      expect(answers.map(({ status, headers }) => [status, headers.get("Allow")])).to.deep.equal([
        ...Array(3).fill([method === "OPTIONS" ? 204 : 405, "POST, OPTIONS"]),
        [404, null],
      ]);
    });
  }

  it("PUT of a hook that Meta verifies names GET too", async () => {
    const { status, headers } = await fetch(`${app.url}/hooks/meta`, { method: "PUT", headers: hook });

    expect([status, headers.get("Allow")?.split(", ")]).to.deep.equal([405, ["POST", "HEAD", "GET", "OPTIONS"]]);
  });

  it("Microsoft Graph's validation token comes back as text; notifications need the token and the client state", async () => {
    const token = "Validation: <script> & ü";
    const query = new URLSearchParams({ validationToken: token });
    const answer = await fetch(`${app.url}/hooks/graph?${query}`, {
      method: "POST",
      headers: { "Content-Type": "text/plain" },
    });
    const notify = (state: string, headers: Record<string, string> = {}) =>
      send("graph", JSON.stringify({ value: [{ clientState: state, resource: "me" }] }), headers);

    expect([answer.status, await answer.text()]).to.deep.equal([200, token]);
    expect(answer.headers.get("Content-Type")).to.equal("text/plain; charset=utf-8");
    const statuses = await Promise.all([
      notify("the client state"),
      notify("another state"),
      notify("the client state", { Authorization: "" }),
      send("graph", '{"value":[{"resource":"me"}]}'),
      fetch(`${app.url}/hooks/plain?${query}`, { method: "POST" }),
    ]);
    expect(statuses.map(({ status }) => status)).to.deep.equal([202, 401, 401, 401, 401]);
  });
});
