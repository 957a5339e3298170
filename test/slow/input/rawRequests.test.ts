import { expect } from "chai";
import fc from "fast-check";
import { tell } from "../../input/given.ts";
import { expectSound, MARKER, show, TOKENS, Web } from "../../input/web.ts";
import { runs, SEED, TIMES } from "../../support/random.ts";

const METHODS = [
  "GET",
  "GET",
  "PUT",
  "POST",
  "POST",
  "DELETE",
  "HEAD",
  "PUT",
  "POST",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "QUERY",
];
const ODD_METHODS = ["get", "", "G\0T", "GÉT", "GET\t", "PRI", "M-SEARCH", "X".repeat(300), "GET /", "\u007f"];

const PATHS = [
  ...[
    "/",
    "/api/jobs",
    "/api/jobs/kept",
    "/api/jobs/kept/steps/a",
    "/api/events",
    "/api/runs",
    "/api/stats",
    "/session",
  ],
  ...["/hooks/wake", "/hooks/agent", "/hooks/ci/build", "/hooks/github", "/hooks/slack", "/hooks/each", "/hooks/none"],
  ...["/healthz", "/metrics", "/docs", "/guide/x", "/openapi.json", "/assets/x", "/nowhere"],
];
/** Special characters and escapes in paths, also incomplete ones. */
const PIECES = [
  ...[
    "%00",
    "%0a",
    "%0d%0a",
    "%2F",
    "%2e%2e",
    "%",
    "%zz",
    "%FF",
    "%C0%AF",
    "%ED%A0%80",
    "%u0041",
    "%25",
    "..",
    ".",
    "//",
  ],
  ...[
    "\\",
    ";a=b",
    "?",
    "#",
    "?a=%",
    "?token=x",
    "\u00e9",
    "\u0080",
    "\0",
    "\t",
    "[",
    "]",
    "{",
    "|",
    "^",
    "`",
    "*",
    "~",
    "@",
  ],
];
/** Targets that are not paths. */
const TARGETS = [
  ...["*", "http://[", "http://[::1/", "http://a:99999999/api/jobs", "http://%00/", "http://evil.example/api/jobs"],
  ...[
    "https://localhost/api/jobs/kept",
    "//[",
    "///",
    "http:///api/jobs",
    "javascript:alert(1)",
    "localhost:80",
    "a",
    "?",
  ],
  ...[
    "http://a:b@c/api/jobs",
    "http://xn--iñvalid/",
    "http://[v1.x]/",
    "\\\\a\\b",
    "/".repeat(3_000),
    `/${"a".repeat(20_000)}`,
  ],
];
const VERSIONS = [
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "HTTP/0.9",
  "HTTP/9.9",
  "http/1.1",
  "HTTP/1.1 ",
  "",
  "HTTP/1",
  "RTSP/1.0",
];

const VALUES = [
  ...[
    "",
    " ",
    "\u0080",
    "é",
    ",",
    ";",
    '"',
    "=".repeat(3_000),
    "0",
    "-1",
    "1e9",
    "null",
    "undefined",
    "[object Object]",
    "{}",
  ],
  ...[
    "%00",
    "99999999999999999999",
    MARKER,
    `Bearer ${MARKER}`,
    "Bearer ",
    "Bearer",
    `a=${MARKER}; signalbox_session=full.9.x`,
  ],
  ...[
    `sha256=${"0".repeat(64)}`,
    `t=1,v1=${"0".repeat(64)}`,
    "t=,v1=",
    "v1,",
    "gzip",
    "100-continue",
    "bytes=0-1",
    "http://[",
  ],
];
const ODD_VALUES = ["\0", "a\rb", "a\nb", "a\r\nX-B: c", "\u007f", "x".repeat(9_000)];
const NAMES = [
  ...[
    "Host",
    "Authorization",
    "Cookie",
    "Content-Type",
    "Content-Encoding",
    "Expect",
    "Connection",
    "Upgrade",
    "Origin",
  ],
  ...["Sec-Fetch-Site", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "Range", "X-Request-Id", "X-Service-Token"],
  ...[
    "Idempotency-Key",
    "Last-Event-ID",
    "If-None-Match",
    "If-Modified-Since",
    "Accept",
    "Accept-Encoding",
    "TE",
    "Trailer",
  ],
  ...["X-Hub-Signature-256", "Stripe-Signature", "X-Slack-Signature", "X-Slack-Request-Timestamp", "webhook-id"],
  ...["webhook-timestamp", "webhook-signature", "X-Signature", "X-Timestamp", "X-HTTP-Method-Override", "__proto__"],
];
const ODD_NAMES = [
  "Content-Length",
  "Transfer-Encoding",
  "",
  " X",
  "X Y",
  "X\0",
  "X:",
  "É",
  "X".repeat(5_000),
  "constructor",
];

/** Headers that announce a body, some of them contradictory. */
const FRAMES = [
  [],
  ["Content-Length: 2"],
  ...[
    ["Content-Length: 0"],
    ["Content-Length: 200"],
    ["Content-Length: -1"],
    ["Content-Length: 2, 2"],
    ["Content-Length: x"],
  ],
  ["Content-Length: 2", "Content-Length: 3"],
  ["Transfer-Encoding: chunked"],
  ["Transfer-Encoding: chunked", "Content-Length: 2"],
  ["Transfer-Encoding: gzip, chunked"],
  ["Transfer-Encoding: chunked, chunked"],
  ["Transfer-Encoding: identity"],
  ["Transfer-Encoding:\u000bchunked"],
  ["Expect: 100-continue", "Content-Length: 2"],
  ["Expect: 200-ok", "Content-Length: 2"],
  ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: a", "Sec-WebSocket-Version: 13"],
  ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
];
/** Bodies with their framing headers. */
const FRAMED: [string[], string][] = [
  [[], ""],
  [["Content-Length: 2"], "{}"],
  [["Transfer-Encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n"],
  [["Expect: 100-continue", "Content-Length: 2"], "{}"],
];
const BODIES = [
  ...[
    "",
    "{}",
    "{",
    `{"message":"${MARKER}"}`,
    "0\r\n\r\n",
    "2\r\n{}\r\n0\r\n\r\n",
    "2\r\n{",
    "zz\r\n{}\r\n",
    "-1\r\n{}\r\n0\r\n\r\n",
  ],
  ...[
    "ffffffffffffffff\r\n{}",
    "2;a=b\r\n{}\r\n0\r\nX-T: 1\r\n\r\n",
    `2;${"x".repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    "0\r\n",
    "\r\n\r\n",
  ],
  ...[
    "GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "\0\0\0",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\u0016\u0003\u0001\u0002\0\u0001",
  ],
];

const latin = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 12,
});
/** Mostly valid parts: a parser looks only at the first invalid one. */
const odd = <T>(usual: readonly NoInfer<T>[], unusual: fc.Arbitrary<T>, weight = 12): fc.Arbitrary<T> =>
  fc.oneof<fc.MaybeWeightedArbitrary<T>[]>(
    { weight, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: unusual },
  );

const target = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...PATHS) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...PIECES)).map((parts) => parts.join("")),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...PIECES), fc.constantFrom(...PATHS)).map(([a, b]) => `/${a}${b}`),
  },
  { weight: 2, arbitrary: fc.constantFrom(...TARGETS) },
  { weight: 1, arbitrary: latin.map((text) => `/${text}`) },
);
const header = fc
  .tuple(
    odd(NAMES, fc.oneof(fc.constantFrom(...ODD_NAMES), latin)),
    odd(VALUES, fc.oneof(fc.constantFrom(...ODD_VALUES), latin)),
  )
  // A response returns the request's id.
  .map(([name, value]) => `${name}: ${name === "X-Request-Id" ? value.replace(MARKER, "told") : value}`);
const request = (token: fc.Arbitrary<string[]>) =>
  fc
    .record({
      line: fc
        .tuple(odd(METHODS, fc.constantFrom(...ODD_METHODS)), target, odd(["HTTP/1.1"], fc.constantFrom(...VERSIONS)))
        .map((parts) => parts.join(" ")),
      host: odd([["Host: localhost"]], fc.constantFrom<string[]>([], ["Host: a", "Host: b"], ["Host: ["], ["Host: é"])),
      token,
      headers: fc.array(header, { maxLength: 2 }),
      type: odd([["Content-Type: application/json"]], fc.constantFrom<string[]>([], ["Content-Type: text/plain"])),
      framed: odd<[string[], string]>(
        FRAMED,
        fc.tuple(fc.constantFrom(...FRAMES), fc.oneof(fc.constantFrom(...BODIES), latin)),
        2,
      ),
      end: odd(["\r\n\r\n"], fc.constantFrom<string>("\n\n", "\r\n", "\r\r")),
      cut: odd([1], fc.double({ min: 0, max: 1, noNaN: true })),
    })
    .map(({ line, host, token, headers, type, framed: [frame, body], end, cut }) => {
      const head = [line, ...host, "Connection: close", ...token, ...type, ...headers, ...frame].join("\r\n");
      const bytes = Buffer.from(head + end + body, "latin1");
      return bytes.subarray(0, Math.ceil(bytes.length * cut));
    });

const AT_ONCE = 40;
/** Some requests never end: then the client closes its side. */
const QUIET_MS = 250;
const ANSWERED_MS = 20_000;

describe("random bytes and malformed requests", function () {
  this.timeout(60_000 * (1 + TIMES));
  let web: Web;
  before(async () => {
    web = await Web.start();
  });
  after(() => web.close());

  /** @returns the number of responses by status; 0 stands for a connection that was closed without one */
  async function sendAll(all: readonly Buffer[]): Promise<Record<number, number>> {
    const statuses: Record<number, number> = {};
    for (let i = 0; i < all.length; i += AT_ONCE) {
      const some = all.slice(i, i + AT_ONCE);
      const answered = await Promise.all(some.map((bytes) => web.send(bytes, QUIET_MS)));
      for (const [n, answers] of answered.entries()) {
        for (const { status } of answers.length > 0 ? answers : [{ status: 0 }])
          statuses[status] = (statuses[status] ?? 0) + 1;
        for (const answer of answers) expectSound(answer, show(some[n] as Buffer));
      }
      await web.expectWell().catch((error) => {
        throw new Error(`${error.message}\nafter one of\n${some.map((one) => show(one, 500)).join("\n")}`);
      });
    }
    return statuses;
  }

  it("are refused with 400 when the target is neither a path nor a URL; a URL stands for its path", async () => {
    const get = async (target: string) => {
      const token = `Authorization: Bearer ${TOKENS.readOnly}`;
      const head = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${token}\r\n\r\n`;
      const [answer] = await web.send(Buffer.from(head), ANSWERED_MS);
      return [answer?.status, JSON.parse(answer?.body ?? "{}").code ?? JSON.parse(answer?.body ?? "{}").jobId];
    };

    for (const target of [
      "http://[",
      "http://[::1/",
      "http://a:99999999/api/jobs/kept",
      "*",
      "ftp://a/api/jobs/kept",
    ]) {
      expect(await get(target), target).to.deep.equal([400, "invalid_query"]);
    }
    expect(await get("http://evil.example/api/jobs/kept?include=steps")).to.deep.equal([200, "kept"]);
    await web.expectWell();
  });

  it("change nothing without a token, stop no process, and cause no 500", async () => {
    const before = await web.stored();

    const all = fc.sample(request(fc.constant([])), runs(400));
    const statuses = await sendAll(all);

    tell(`raw requests without a token, seed ${SEED}: ${all.length}, answered ${JSON.stringify(statuses)}`);
    expect(await web.stored()).to.deep.equal(before);
  });

  it("stop no process with a token either", async () => {
    const token = fc.constantFrom(TOKENS.readOnly, TOKENS.hooks).map((one) => [`Authorization: Bearer ${one}`]);

    const all = fc.sample(request(token), runs(400));
    const statuses = await sendAll(all);

    tell(`raw requests with a token, seed ${SEED}: ${all.length}, answered ${JSON.stringify(statuses)}`);
    expect(statuses, "some are read").to.include.keys("404");
  });
});
