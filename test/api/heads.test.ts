import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { useSharedApp } from "../support/useApp.ts";

const TOKEN = "an-api-token-of-length";
const CONFIG = JSON.stringify({
  server: { apiToken: TOKEN, trustProxy: 1 },
  hooks: {
    enabled: true,
    token: "a-hook-token-of-length",
    keepRequests: { for: "1d" },
    mappings: [
      { match: { path: "signed" }, auth: { type: "stripe", secret: "a-secret-of-length" } },
      { match: { path: "hub" }, auth: { type: "github", secret: "another-secret-of-length" } },
    ].map((one) => ({ ...one, id: one.match.path, action: "agent", messageTemplate: "{{text}}" })),
  },
});

/** One path of each kind. */
const PATHS = [
  ...["GET /api/jobs", "GET /api/jobs/a/events", "PUT /api/jobs/a/steps/b", "POST /hooks/agent", "POST /hooks/signed"],
  ...["POST /hooks/hub", "POST /mcp", "GET /answer/a", "POST /answer/a", "GET /guide/", "GET /docs", "GET /healthz"],
  ...["GET /session", "POST /session", "GET /metrics", "GET /queues", "GET /a"],
];
/** The headers that anything reads. */
const HEADERS = [
  ...["Authorization: Bearer ", "Authorization: ", "Cookie: ", "Cookie: signalbox_session=", "Content-Type: "],
  ...["Content-Type: application/json;", "Accept: ", "Accept-Encoding: gzip", "Content-Encoding: ", "Prefer: "],
  ...["If-None-Match: ", "If-Modified-Since: ", "Origin: ", "Origin: http://", "Host: ", "X-Forwarded-For: "],
  ...["X-Forwarded-Proto: ", "X-Forwarded-Host: ", "X-Request-Id: ", "User-Agent: ", "Last-Event-ID: ", "Expect: "],
  ...["Idempotency-Key: ", "X-Service-Token: ", "Sec-Fetch-Site: ", "MCP-Protocol-Version: ", "Stripe-Signature: "],
  ...["X-Hub-Signature-256: ", "Range: ", "Referer: ", "Traceparent: "],
];
const PIECES = [
  ...[
    "a",
    "a&",
    "a=1&",
    "status=a&",
    "a;",
    "a=b;",
    "a,",
    "=",
    " ",
    "a ",
    "\t",
    "/",
    "%2F",
    "%61",
    "%",
    "../",
    '"',
    '"",',
  ],
  ...[
    "-",
    ":",
    "[",
    "(",
    "\\",
    "0",
    "1.",
    "::1,",
    "t=1,",
    'W/"a",',
    "a/b,",
    "*/*;q=0.1,",
    "é",
    "gzip,",
    "wait=1,",
    "{",
  ],
];

/** Small enough for a head of 16 KiB at eight times the size. */
const SIZE = 1_900;
const FACTOR = 8;
/** Time that grows with the square of the size is 64 times as long. */
const MAX_GROWTH = 4 * FACTOR;
/** Shorter times say little about the growth. */
const MIN_MS = 1;
const MEASUREMENTS = 5;

describe("a head that is filled with one repeated piece", () => {
  const app = useSharedApp({ config: CONFIG, countFailure: async () => {} });

  /** Sends a request as it is, and returns the status and the processor time until the head of the answer. */
  async function send(head: string): Promise<{ status: string; ms: number }> {
    const start = process.cpuUsage();
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1");
    let answer = "";
    const answered = Promise.withResolvers<void>();
    socket.on("data", (chunk) => {
      answer += chunk;
      if (answer.includes("\r\n\r\n")) answered.resolve();
    });
    socket.on("error", () => {});
    socket.once("close", () => answered.resolve());
    socket.write(head, "latin1");
    await answered.promise;
    const ms = process.cpuUsage(start).user / 1_000;
    if (!socket.destroyed) {
      socket.destroy();
      await once(socket, "close");
    }
    return { status: answer.slice(9, 12), ms };
  }
  const leastMs = async (head: string) => {
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < MEASUREMENTS; i++) least = Math.min(least, (await send(head)).ms);
    return least;
  };

  /** Measures again only what takes long at its full size. */
  async function expectLinear(what: string, headOf: (size: number) => string): Promise<void> {
    const { status, ms } = await send(headOf(FACTOR * SIZE));
    expect(status, what).to.match(/^[2-4]\d\d$/);
    if (ms < MAX_GROWTH * MIN_MS) return;
    const limitMs = MAX_GROWTH * Math.max(await leastMs(headOf(SIZE)), MIN_MS);
    expect(await leastMs(headOf(FACTOR * SIZE)), what).to.be.below(limitMs);
  }
  const fill = (piece: string, size: number) => piece.repeat(Math.floor(size / piece.length));

  for (const line of PATHS) {
    it(`is answered in linear time at ${line}`, async () => {
      for (const piece of PIECES.filter((one) => !/\s/.test(one))) {
        const rest = `HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
        await expectLinear(`${line}?${piece}`, (size) => `${line}?${fill(piece, size)} ${rest}`);
        await expectLinear(`${line}/${piece}`, (size) => `${line}/${fill(piece, size)} ${rest}`);
      }
      for (const header of HEADERS) {
        const rest = header.startsWith("Host") ? "" : "Host: localhost\r\n";
        const piece = PIECES[(PATHS.indexOf(line) + HEADERS.indexOf(header)) % PIECES.length] as string;
        await expectLinear(
          `${line} ${header}${piece}`,
          (size) => `${line} HTTP/1.1\r\n${rest}${header}${fill(piece, size)}a\r\n\r\n`,
        );
      }
    });
  }

  it("is refused when its query has more than 256 parameters, before anything reads them", async () => {
    const pathWith = (count: number) => `/api/jobs?${Array(count).fill("status=running").join("&")}`;
    const headers = { Authorization: `Bearer ${TOKEN}` };

    const most = await app.call("GET", pathWith(256), undefined, headers);
    const tooMany = await app.call("GET", pathWith(257), undefined, headers);
    const unauthenticated = await app.call("GET", pathWith(257));

    expect(most.status).to.equal(200);
    for (const { status, body } of [tooMany, unauthenticated])
      expect([status, body.code]).to.deep.equal([400, "invalid_query"]);
    expect(tooMany.body.detail).to.equal("The query has more than 256 parameters. Send fewer, or several requests.");
  });
});
