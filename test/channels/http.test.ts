import dns from "node:dns";
import { expect } from "chai";
import sinon from "sinon";
import { type ApiRequest, excerpt, sendRequest } from "../../src/channels/http.ts";
import { retryAfterMs } from "../../src/shared/backoff.ts";
import { eventually } from "../support/eventually.ts";
import {
  answers,
  type Behaviour,
  breaks,
  breaksMidway,
  breaksWithin,
  type ChannelServer,
  drops,
  hangs,
  startChannelServer,
} from "../support/servers/channelServer.ts";

const SECRET = "the-secret";

describe("sendRequest", () => {
  let server: ChannelServer;
  before(async () => {
    server = await startChannelServer(answers(200, { ok: true }));
  });
  after(() => server.close());
  beforeEach(() => server.script());
  const ask = (request: Partial<ApiRequest> = {}, signal = new AbortController().signal) =>
    sendRequest({ method: "POST", url: `${server.url}/${SECRET}`, timeoutMs: 20_000, ...request }, signal);

  it("sends JSON with its length", async () => {
    const answer = await ask({ body: { text: "ü" }, headers: { Authorization: "Bearer t" } });

    expect(answer).to.include({ kind: "response", status: 200, text: '{"ok":true}' });
    expect(answer).to.have.deep.property("json", { ok: true });
    const [{ method, text, headers } = expect.fail("nothing was sent")] = server.requests;
    expect({ method, text }).to.deep.equal({ method: "POST", text: '{"text":"ü"}' });
    expect(headers).to.include({
      authorization: "Bearer t",
      "content-type": "application/json; charset=utf-8",
      "content-length": "13",
    });
  });

  it("sends a form", async () => {
    await ask({ body: new URLSearchParams({ a: "1 ü" }) });

    expect(server.requests[0]?.body).to.deep.equal({ a: "1 ü" });
    expect(server.requests[0]?.headers["content-type"]).to.match(/^application\/x-www-form-urlencoded/);
  });

  const unsent: [string, Partial<ApiRequest>][] = [
    ["a header that cannot be one", { headers: { Authorization: `Bearer\n${SECRET}` } }],
    ["a header with invalid characters", { headers: { Authorization: `Bearer ${SECRET}…` } }],
    ["an address with credentials", { url: `http://me:${SECRET}@127.0.0.1:1/` }],
    ["an invalid address", { url: SECRET }],
    ["a host that does not exist", { url: `http://${SECRET}.invalid/` }],
  ];
  for (const [title, request] of unsent) {
    it(`returns unsent for ${title}`, async () => {
      const answer = await ask(request);

      expect(answer.kind).to.equal("unsent");
      expect(JSON.stringify(answer)).to.not.include(SECRET);
      expect(server.requests).to.deep.equal([]);
    });
  }

  it("returns unsent for a server without TLS", async () => {
    const answer = await ask({ url: server.url.replace("http:", "https:"), body: { text: SECRET } });

    expect(answer.kind).to.equal("unsent");
    expect(server.requests).to.deep.equal([]);
  });

  const lost: [string, Behaviour][] = [
    ["breaks after the request", breaks],
    ["breaks in the middle of the answer", breaksMidway],
    ["breaks before the request was read", drops],
  ];
  for (const [title, behaviour] of lost) {
    it(`returns lost for a request whose connection ${title}`, async () => {
      server.script(behaviour);

      const answer = await ask({ body: { text: "t".repeat(100_000) } });

      expect(answer.kind).to.equal("lost");
      expect(JSON.stringify(answer))
        .to.match(/connection broke/)
        .and.not.include(SECRET);
    });
  }

  it("returns unsent for a host name with two unreachable addresses", async () => {
    const closed = await startChannelServer();
    await closed.close();
    const addresses = ["127.0.0.1", "::1"].map((address) => ({ address, family: address === "::1" ? 6 : 4 }));
    const { lookup } = dns;
    dns.lookup = ((_host: string, _options: object, tell: (error: null, found: object[]) => void) =>
      tell(null, addresses)) as unknown as typeof lookup;

    const answer = await ask({ url: `http://two.test:${new URL(closed.url).port}/`, body: { text: "x" } });
    dns.lookup = lookup;

    expect(answer.kind).to.equal("unsent");
  });

  const error = (code: string, syscall?: string) => Object.assign(new Error(code), { code, syscall });
  const connects = [error("ETIMEDOUT", "connect"), error("EHOSTUNREACH", "connect")];
  const causes: [string, Error, "unsent" | "lost"][] = [
    ["an unreachable host", error("EHOSTUNREACH", "connect"), "unsent"],
    ["a host that becomes unreachable during the request", error("EHOSTUNREACH", "read"), "lost"],
    ["a network that becomes unavailable during the request", error("ENETUNREACH", "write"), "lost"],
    ["only unreachable addresses", Object.assign(new AggregateError(connects), { code: "ETIMEDOUT" }), "unsent"],
    [
      "several errors, one of them after the connection",
      new AggregateError([...connects, error("ECONNRESET", "read")]),
      "lost",
    ],
  ];
  for (const [title, cause, kind] of causes) {
    it(`returns ${kind} for a request that failed with ${title}`, async () => {
      // No local network fails like this.
      const stub = sinon.stub(globalThis, "fetch").rejects(new TypeError("fetch failed", { cause }));

      const answer = await ask().finally(() => stub.restore());

      expect(answer.kind).to.equal(kind);
    });
  }

  it("returns lost for a request without a response within the time limit", async () => {
    server.script(hangs);

    const answer = await ask({ timeoutMs: 100 });

    expect(answer).to.deep.equal({ kind: "lost", reason: "There was no answer within 0.1 seconds." });
    await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
  });

  for (const status of [302, 401, 429, 500]) {
    it(`returns the status and headers of a ${status} whose body breaks off`, async () => {
      server.script(breaksWithin(status, { "Retry-After": "3" }));

      const answer = await ask({ body: { text: "t" } });

      expect(answer).to.include({ kind: "response", status, text: "", json: undefined, isTruncated: true });
      expect(answer.kind === "response" && retryAfterMs(answer.headers)).to.equal(3_000);
    });
  }

  it("returns the status of an error response whose body does not end in time", async () => {
    server.script((response) => {
      response.writeHead(429, { "Retry-After": "3" });
      response.write("wait");
    });

    const answer = await ask({ timeoutMs: 200 });

    expect(answer).to.include({ kind: "response", status: 429, isTruncated: true });
    await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
  });

  it("returns lost for a success whose body does not end in time", async () => {
    server.script((response) => {
      response.writeHead(200);
      response.write("{");
    });

    const answer = await ask({ timeoutMs: 200 });

    expect(answer).to.deep.equal({ kind: "lost", reason: "There was no answer within 0.2 seconds." });
  });

  it("reads at most a megabyte of an endless response", async () => {
    server.script((response) => {
      const more = (): unknown => response.write("x".repeat(65_536), (error) => error ?? more());
      response.writeHead(200);
      more();
    });

    const answer = await ask();

    expect(answer).to.include({ kind: "response", json: undefined });
    expect(answer)
      .to.have.property("text")
      .with.length.below(2 * 1024 * 1024);
    await eventually(() => server.requests[0]?.cancelled, "the answer to be given up");
  });

  const waits: [string | null, number | null][] = [
    ["7", 7_000],
    ["0.5", 500],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
    ["soon", null],
    ["-1", null],
    [null, null],
  ];
  for (const [header, expected] of waits) {
    it(`reads ${expected} ms from Retry-After: ${header}`, () => {
      const headers = new Headers(header === null ? {} : { "Retry-After": header });

      expect(retryAfterMs(headers, Date.parse("2026-11-21T12:00:00Z"))).to.equal(expected);
    });
  }

  it("returns an excerpt on one line of limited length", () => {
    expect(excerpt(" a\n b\t")).to.equal("a b");
    expect(excerpt(undefined)).to.equal("");
    expect(excerpt("x".repeat(1_000))).to.have.length(300);
  });
});
