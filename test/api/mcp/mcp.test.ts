import { request } from "node:http";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { MCP_CLIENTS } from "../../support/mcpClients.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";

describe("POST /mcp", () => {
  const app = useSharedApp({ apiToken: API });

  const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
  const post = (headers: Record<string, string>, body: unknown = message) =>
    app.call("POST", "/mcp", body, { Accept: "application/json, text/event-stream", ...headers });
  const bearer = { Authorization: `Bearer ${API}` };

  for (const revision of ["2025-06-18", "2025-11-25"])
    it(`answers initialize of revision ${revision} with the same revision`, async () => {
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "test", version: "1" } };

      const { text } = await answerTo({ ...message, method: "initialize", params });

      expect(text).to.include(`"protocolVersion":"${revision}"`).and.include('"name":"signalbox"');
    });

  it("answers an unknown revision with one that it supports, and refuses it in the header", async () => {
    const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "test", version: "1" } };

    const { text } = await answerTo({ ...message, method: "initialize", params });
    const refused = await post({ ...bearer, "MCP-Protocol-Version": "1999-01-01" });

    expect(text).to.include('"protocolVersion":"2025-11-25"');
    expect([refused.status, JSON.stringify(refused.body)]).to.satisfy(([status, body]: [number, string]) => {
      return status === 400 && body.includes("2025-06-18");
    });
  });

  it("answers 401 with WWW-Authenticate without a valid token, also with a browser's cookie", async () => {
    const { headers } = await app.call("POST", "/session", { token: API });
    const Cookie = headers.get("Set-Cookie")?.split(";")[0] as string;

    for (const credentials of [{}, { Authorization: "Bearer an-invalid-token-of-length" }, { Cookie }]) {
      const answer = await post(credentials as Record<string, string>);
      expect(answer.status).to.equal(401);
      expect(answer.headers.get("WWW-Authenticate")).to.match(/^Bearer/);
    }
  });

  it("refuses pages of other sites", async () => {
    expect((await post({ ...bearer, Origin: "https://evil.example" })).status).to.equal(403);
    expect((await post({ ...bearer, Origin: "null" })).status).to.equal(403);
    expect((await post({ ...bearer, "Sec-Fetch-Site": "cross-site" })).status).to.equal(403);
    expect((await post({ Origin: "https://evil.example" })).status).to.equal(403);
    expect((await post({ ...bearer, Origin: app.url })).status).to.equal(200);
  });

  it("limits the size of a body, and refuses what is not JSON", async () => {
    const large = await post(bearer, { ...message, params: { filler: "a".repeat(5_000_000) } });
    const broken = await post(bearer, "{");

    expect([large.status, broken.status]).to.deep.equal([413, 400]);
  });

  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, {}]));
  const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`);
  const call = { name: "job_list", arguments: {} };
  for (const [what, body] of [
    ["metadata", { ...message, method: "tools/call", params: { ...call, _meta: many } }],
    ["parameters", { ...message, method: "tools/call", params: { ...call, ...many } }],
    ["arguments of another method", { ...message, params: { arguments: many } }],
    ["fields", { ...message, ...many }],
    ["levels", { ...message, params: { _meta: deep } }],
  ] as const)
    it(`refuses a message with many ${what} before the SDK reads it`, async () => {
      const { status, body: answer } = await post(bearer, body);

      expect([status, answer.error.code, answer.id]).to.deep.equal([400, -32600, 1]);
      expect(answer.error.message).to.match(/^A message must have at most 1000 values besides/);
    });

  it("takes many arguments of a tool", async () => {
    const args = { jobId: "many", input: many };
    const { text } = await answerTo({
      ...message,
      method: "tools/call",
      params: { name: "job_create", arguments: args },
    });

    expect(text).to.include('"k999":').and.not.include("isError");
  });

  for (const [method, params, detail] of [
    ["tools/call", { name: 5 }, "`params.name` must be the name of a tool."],
    ["tools/call", {}, "`params.name` must be the name of a tool."],
    ["resources/read", { uri: null }, "`params.uri` must be the URI of a resource."],
    ["tools/list", { _meta: 5 }, "`params._meta` must be an object."],
    ["tools/call", { name: "job_list", task: null }, "`params.task` must be an object."],
    ["initialize", {}, "`params.protocolVersion` must be a revision of the protocol."],
    ["initialize", { protocolVersion: "2025-06-18", clientInfo: "x" }, "`params.clientInfo` must be an object."],
  ] as const)
    it(`refuses ${JSON.stringify(params)} for ${method} in one sentence`, async () => {
      const { status, body } = await post(bearer, { ...message, method, params });

      expect([status, body.error]).to.deep.equal([400, { code: -32602, message: detail }]);
    });

  it("limits the arguments of a tool as its route does", async () => {
    await app.stores.jobs.put("asks", {});
    const args = { jobId: "asks", key: "k", title: "Is this too long?", message: "a".repeat(300_000) };
    const body = { ...message, method: "tools/call", params: { name: "gate_open", arguments: args } };

    const { text, headers } = await answerTo(body);

    expect(headers.get("Cache-Control")).to.equal("no-store");
    expect(text)
      .to.match(/isError.*true/)
      .and.to.match(/body_too_large|invalid_body/);
  });

  it("has no sessions: other methods than POST answer 405", async () => {
    for (const method of ["GET", "DELETE", "PUT"]) {
      const answer = await app.call(method, "/mcp", undefined, { ...bearer, Accept: "text/event-stream" });
      expect([method, answer.status]).to.deep.equal([method, 405]);
      expect(answer.headers.get("Allow")).to.include("POST");
    }
    expect((await fetch(`${app.url}/mcp`, { method: "HEAD", headers: bearer })).status).to.equal(405);
    expect((await post(bearer)).status).to.equal(200);
  });

  for (const revision of ["2025-06-18", "2025-11-25", "2026-07-28"])
    it(`takes one message a POST: refuses an array in revision ${revision}`, async () => {
      for (const batch of [[], [message], [message, { ...message, id: 2 }]]) {
        const { status, body } = await post({ ...bearer, "MCP-Protocol-Version": revision }, batch);

        expect([status, body.id, body.error.code]).to.deep.equal([400, null, -32600]);
      }
    });

  for (const written of ["1795716838592000001", "-9007199254740993", "1", '"1795716838592000001"', '"a"'])
    it(`returns the id ${written} as it was written`, async () => {
      const { text } = await answerTo(`{"jsonrpc":"2.0","id":${written},"method":"ping"}`);

      expect(text).to.include(`"id":${written}`);
    });

  for (const written of ["1795716838592000001", '"1795716838592000001"'])
    it(`returns the progress token ${written} as it was written`, async () => {
      await app.stores.jobs.put("followed", { status: "completed" });
      const call = `{"name":"job_wait","arguments":{"jobId":"followed"},"_meta":{"progressToken":${written}}}`;

      const { text } = await answerTo(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${call}}`);

      expect(text).to.include(`"progressToken":${written}`);
    });

  it("takes null for no arguments, and refuses other types in one sentence", async () => {
    const call = (args: unknown) => ({
      ...message,
      method: "tools/call",
      params: { name: "job_list", arguments: args },
    });

    const { text } = await answerTo(call(null));
    expect(text).to.include('"jobs":').and.not.include("error");
    for (const args of ["a", 1, true, [{}]]) {
      const { body } = await post(bearer, call(args));
      expect(body).to.deep.equal({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32602, message: "`params.arguments` must be an object: send {} for a tool without arguments." },
      });
    }
  });

  it("lets any process serve any request of a client, also the end of a wait", async () => {
    const other = await startApp({ apiToken: API, mongo: app.mongoUri, prefix: app.prefix });
    const turns = [app, other];
    const alternately: typeof fetch = (input, init) => {
      const [next, last] = turns as [TestApp, TestApp];
      turns.splice(0, 2, last, next);
      return fetch(String(input).replace(app.url, next.url), init);
    };
    const client = new Client({ name: "test", version: "1" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), {
        fetch: alternately,
        requestInit: { headers: bearer },
      }),
    );
    const use = async (name: string, args: object) =>
      (await client.callTool({ name, arguments: { jobId: "shared", ...args } })).structuredContent;

    await use("job_create", { name: "Shared" });
    await use("gate_open", { key: "go", title: "Go on?" });
    const waiting = use("gate_wait", { key: "go" });
    const waits = await eventually(() => [app, other].find((one) => one.waiting() > 0), "the tool to wait");
    const asked = waits === app ? other : app;
    await asked.call("POST", "/api/jobs/shared/gates/go/answer", { action: "accept" }, bearer);

    expect(await waiting).to.include({ status: "answered", action: "accept" });
    expect(await use("job_get", {})).to.include({ name: "Shared" });
    await client.close();
    await other.close();
  });

  it("takes no notification for a request", async () => {
    const { status, body } = await post(bearer, { jsonrpc: "2.0", method: "notifications/initialized" });

    expect([status, body]).to.deep.equal([202, ""]);
  });

  async function answerTo(body: object | string) {
    const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...bearer };
    const response = await fetch(`${app.url}/mcp`, {
      method: "POST",
      headers,
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { headers: response.headers, text: await response.text() };
  }
});

describe("POST /mcp without a configured token", () => {
  const app = useSharedApp();

  it("refuses host names that are not the service's, as the dashboard does", async () => {
    const ask = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          Host: host,
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
        };
        const sent = request(`${app.url}/mcp`, { method: "POST", headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.once("error", reject);
        sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }));
      });

    expect(await ask("rebound.example")).to.equal(403);
    expect(await ask("localhost")).to.equal(200);
  });

  it("allows everything to local programs", async () => {
    const clients = await Promise.all(MCP_CLIENTS.map(({ connect }) => connect(app.url)));
    const [first, ...others] = await Promise.all(
      clients.map(async (client) => (await client.listTools()).tools.map(({ name }) => name)),
    );
    for (const client of clients) await client.close();

    expect(first).to.include.members(["job_create", "job_get", "run_get"]).and.not.include("agent_run");
    expect(others).to.deep.equal([first]);
  });
});
