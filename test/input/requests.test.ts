import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import fc from "fast-check";
import { SCHEMES } from "../hooks/signatures/senders.ts";
import { cases, runs, SEED, TIMES } from "../support/random.ts";
import { tell } from "./given.ts";
import { expectSound, MARKER, show, slug, TOKENS, Web } from "./web.ts";

/** Names with a special meaning for MongoDB, JavaScript or a query parser. */
const KEYS = [
  ...[
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "$where",
    "$ne",
    "$set",
    "a.b",
    ".",
    "",
    "\0",
    "_id",
    "_bsontype",
  ],
  ...["\ud800", "\u2028", "length", "hasOwnProperty", "then", "toJSON", "0", "-1", "a[b]", "x".repeat(2_000), MARKER],
];
const TEXTS = [
  ...KEYS,
  ...["{{payload}}", "{{", "\udfff", "\u202e", "null", "1e999", "NaN", "1970-01-01T00:00:00Z", "2016-12-31T23:59:60Z"],
  ...[
    "+275760-09-13T00:00:00.000Z",
    "0000-00-00T00:00:00Z",
    "main",
    "last",
    "x".repeat(70_000),
    "💥".repeat(300),
    "a\r\nb",
  ],
];
/** JSON numbers that JavaScript changes or MongoDB rejects. */
const NUMBERS = [
  "1e400",
  "-1e400",
  "1e-400",
  "-0",
  "0.1",
  "1E308",
  "9007199254740993",
  `1${"0".repeat(400)}`,
  "100.0000000000001",
];

const text = (value: string) => JSON.stringify(value);
const leaf = fc.oneof(
  fc.constantFrom(...TEXTS.map(text), ...NUMBERS, "null", "true", "false", "[]", "{}", "100", "50"),
  fc.jsonValue().map((value) => JSON.stringify(value)),
);
const { value: anyJson } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom(...KEYS), tie("value")), { maxLength: 4 })
      .map((entries) => `{${entries.map(([key, value]) => `${text(key)}:${value}`).join()}}`),
  ),
}));
const deep = fc
  .tuple(fc.constantFrom(10, 490, 501, 3_000, 50_000), fc.constantFrom(["[", "]"], ['{"a":', "}"]))
  .map(([levels, [open = "", close = ""]]) => `${open.repeat(levels)}1${close.repeat(levels)}`);

/** A valid value for each field; a text for all others. */
const GOOD: Readonly<Record<string, string>> = {
  status: '"running"',
  progress: "50",
  jobProgressStart: "0",
  jobProgressEnd: "100",
  failJob: "false",
  output: "{}",
  input: '{"a":1}',
  metadata: '{"a":"b"}',
  staleAfterSeconds: "5",
  wakeMode: '"now"',
  mode: '"now"',
  deliver: "false",
  channel: '"last"',
  timeoutSeconds: "9",
  items: '[{"id":1}]',
  messages: '[{"id":"m"}]',
  model: "null",
  sessionKey: '"a"',
};

/** An object with the required and some optional fields, at most one of them invalid; a field may occur twice. */
const bodyOf = (fields: readonly string[], required: readonly string[]) =>
  fc
    .tuple(
      fc.subarray([...new Set(fields)], { maxLength: Math.min(4, new Set(fields).size) }),
      fc.array(
        fc.tuple(
          fc.oneof(fc.constantFrom(...fields), fc.constantFrom(...KEYS)),
          fc.oneof({ weight: 8, arbitrary: leaf }, { weight: 2, arbitrary: anyJson }, { weight: 1, arbitrary: deep }),
        ),
        { maxLength: 1 },
      ),
    )
    .map(([some, odd]) => {
      const entries = [...new Set([...required, ...some])].map((name) => [
        name,
        GOOD[name] ?? text(`${name} ${MARKER}`),
      ]);
      return `{${[...entries, ...odd].map(([key = "", value]) => `${text(key)}:${value}`).join()}}`;
    });

/** Bytes that are not or barely JSON. */
const broken = fc.constantFrom(
  ...[
    "",
    " ",
    "{",
    "}",
    "[]",
    "null",
    '""',
    "1",
    `{"${MARKER}`,
    "{}{}",
    "{'a':1}",
    "{a:1}",
    '{"a":1,}',
    "\ufeff{}",
    "\0",
    "undefined",
  ],
);
const invalidUtf8 = fc.constantFrom(
  ...[
    [0x22, 0xff, 0x22],
    [0x7b, 0xc0, 0x80, 0x7d],
    [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d],
    [0xff, 0xfe, 0x7b, 0],
  ],
);

/** Changes to a body and to its headers. */
const TYPES = [
  ...[
    "application/json",
    "application/json; charset=utf-8",
    "application/json; charset=utf-16",
    "application/json; charset=x",
  ],
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/problem+json",
    "",
    ";",
    "json",
  ],
];
const ENCODINGS: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => gzipSync(bytes),
  br: (bytes) => brotliCompressSync(bytes),
  deflate: (bytes) => deflateSync(bytes),
  "gzip, gzip": (bytes) => gzipSync(gzipSync(bytes)),
  zstd: (bytes) => bytes,
};
const BOMB = Buffer.alloc(20_000_000, " ");
const PACKED_BOMBS: Record<string, Buffer> = {
  gzip: gzipSync(BOMB),
  br: brotliCompressSync(BOMB),
  deflate: deflateSync(BOMB),
};

const packed = (body: fc.Arbitrary<Buffer>) =>
  fc.oneof(
    { weight: 12, arbitrary: body.map((bytes) => ({ encoding: "", bytes })) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(body, fc.constantFrom(...Object.keys(ENCODINGS)))
        .map(([bytes, encoding]) => ({ encoding, bytes: ENCODINGS[encoding]?.(bytes) as Buffer })),
    },
    // Truncated, or with another encoding than the header names.
    { weight: 1, arbitrary: body.map((bytes) => ({ encoding: "gzip", bytes: gzipSync(bytes).subarray(0, -3) })) },
    { weight: 1, arbitrary: body.map((bytes) => ({ encoding: "br", bytes: gzipSync(bytes) })) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...Object.keys(PACKED_BOMBS))
        .map((encoding) => ({ encoding, bytes: PACKED_BOMBS[encoding] as Buffer })),
    },
  );

const PARAMETERS = [
  ...[
    "limit",
    "cursor",
    "status",
    "name",
    "jobId",
    "stepKey",
    "include",
    "fields",
    "state",
    "channel",
    "sessionKey",
    "topic",
  ],
  ...[
    "createdFrom",
    "updatedBefore",
    "stale",
    "metadata.a",
    "metadata.",
    "metadata.__proto__",
    "lastEventId",
    "token",
    "_method",
  ],
];
const SUFFIXES = ["", "", "", "[$ne]", "[]", "[0]", "[a][b]", "%00", ".$gt", "%5B$regex%5D"];
const CURSORS = [
  ...[
    "0-000000000000000000000000",
    "zzzzzzzzzz-ffffffffffffffffffffffff",
    "zzzzzzzzzz-a",
    "0-",
    "-",
    "l0-x",
    "zzzzzzzzzz-~",
  ],
  ...[Buffer.from('{"$ne":null}').toString("base64url"), "9999999999999999-9999999999999999", "0-0"],
];
const query = fc
  .array(
    fc.tuple(
      fc.constantFrom(...PARAMETERS),
      fc.constantFrom(...SUFFIXES),
      fc.constantFrom(
        ...CURSORS,
        ...TEXTS.filter((one) => one.length < 3_000).map(percent),
        ...NUMBERS,
        "1",
        "running",
        "true",
        "%",
        "%ff",
      ),
    ),
    { maxLength: 4 },
  )
  .map((parts) =>
    parts.length > 0 ? `?${parts.map(([name, suffix, value]) => `${name}${suffix}=${value}`).join("&")}` : "",
  );

/** Encodes lone surrogates, which have no UTF-8 encoding, as old programs do. */
function percent(value: string): string {
  return encodeURIComponent(value.replace(/\p{Cs}/gu, "\ufffd")).replaceAll("%EF%BF%BD", "%ED%A0%80");
}

interface Call {
  readonly method: string;
  readonly path: string;
  /** Fields of its body; empty without a body. */
  readonly fields: readonly string[];
  readonly required: readonly string[];
  readonly isHook: boolean;
}

interface BodySchema {
  readonly $ref?: string;
  readonly properties?: object;
  readonly required?: string[];
}

interface OpenApi {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: BodySchema }> } }>>;
  readonly components: { readonly schemas: Record<string, BodySchema> };
}

/** The calls: the routes of the document, and the hooks by their names. */
function callsOf({ paths, components }: OpenApi): Call[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody }]) => {
      const schema = requestBody?.content["application/json"]?.schema ?? {};
      const { properties = {}, required = [] } = components.schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
      const isHook = path.startsWith("/hooks/");
      return { method: method.toUpperCase(), path, fields: Object.keys(properties), required, isHook };
    }),
  );
}

const IDS = [
  "kept",
  "none",
  "a%2Fb",
  "..%2f..",
  "%24where",
  "__proto__",
  "%ED%A0%80",
  "%00",
  "x".repeat(257),
  "%",
  "main",
  "💥",
].map((id) => (id === "💥" ? encodeURIComponent(id) : id));
const HOOKS = ["ci/build", "each", "gmail", "github", "none", "wake/x", "%00"];

const pathOf = (template: string) =>
  fc
    .tuple(fc.constantFrom(...IDS), fc.constantFrom("a", "a", "a", ...IDS), fc.constantFrom(...HOOKS))
    .map(([first, second, hook]) =>
      template
        .replace("{name}", hook)
        .replace(/\{(stepKey)\}/, second)
        .replace(/\{\w+\}/, first),
    );

const requestTo = ({ method, path, fields, required, isHook }: Call) =>
  fc
    .record({
      path: pathOf(path),
      query: fc.oneof(fc.constant(""), query),
      body: packed(
        fc.oneof(
          {
            weight: 8,
            arbitrary: bodyOf(
              [...fields, ...(isHook ? ["items", "messages", "source", "id"] : [])].concat("name"),
              required.concat(isHook ? ["items", "messages"] : []),
            ).map((one) => Buffer.from(one)),
          },
          { weight: 2, arbitrary: broken.map((one) => Buffer.from(one)) },
          { weight: 1, arbitrary: invalidUtf8.map((bytes) => Buffer.from(bytes)) },
          { weight: 1, arbitrary: anyJson.map((one) => Buffer.from(one)) },
          { weight: 1, arbitrary: deep.map((one) => Buffer.from(one)) },
        ),
      ),
      type: fc.oneof(
        { weight: 8, arbitrary: fc.constant("application/json") },
        { weight: 1, arbitrary: fc.constantFrom(...TYPES) },
      ),
      key: fc.option(fc.constantFrom("é", "x".repeat(256), "$ne", " ", "\t"), { freq: 6 }),
      signed: fc.option(fc.constantFrom(...SCHEMES)),
    })
    .map(({ path: at, query, body: { encoding, bytes }, type, key, signed }) => {
      const withBody = method !== "GET";
      const [title, scheme] = path.endsWith("{name}") && signed ? signed : [];
      const target = title === undefined ? at : path.replace("{name}", slug(title));
      const proof = scheme?.sign(bytes, Math.floor(Date.now() / 1_000));
      const headers: Record<string, string> = {
        Host: "localhost",
        Connection: "close",
        Authorization: `Bearer ${isHook ? TOKENS.hooks : TOKENS.api}`,
        ...(withBody && { "Content-Length": String(bytes.length), ...(type && { "Content-Type": type }) }),
        ...(withBody && encoding && { "Content-Encoding": encoding }),
        ...(key && { "Idempotency-Key": key }),
        ...proof,
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      const head = `${[`${method} ${target}${query} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
      return Buffer.concat([Buffer.from(head), withBody ? bytes : Buffer.alloc(0)]);
    });

/** Completes a request, which asks the server to close the connection afterwards. */
const ANSWERED_MS = 20_000;

describe("random bodies, queries and identifiers for every call", function () {
  this.timeout(120_000 * (1 + TIMES));
  let web: Web;
  let calls: Call[];
  before(async () => {
    web = await Web.start();
    const document = (await (await fetch(`${web.url}/openapi.json`)).json()) as OpenApi;
    // A call that deletes everything would remove the records of the other calls.
    calls = callsOf(document).filter(({ method, path }) => `${method} ${path}` !== "DELETE /api/jobs");
  });
  after(() => web.close());

  it("cause no 500, and refused ones change nothing", async () => {
    expect(calls).to.have.length.above(25);
    const statuses: Record<number, number> = {};
    const wrong: string[] = [];
    let stored = await web.stored();

    for (const [i, call] of calls.entries()) {
      const many = call.path.endsWith("{name}") ? 60 : call.fields.length > 0 ? 24 : 6;
      for (const bytes of fc.sample(requestTo(call), { ...runs(many), seed: SEED + i })) {
        const [answer] = (await web.send(bytes, ANSWERED_MS)).slice(-1);
        const status = answer?.status ?? 0;
        expect(status, show(bytes)).to.not.equal(0);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (answer) expectSound(answer, show(bytes));
        const now = await web.stored();
        if (status >= 400) expect(now, `${status}: ${show(bytes)}`).to.deep.equal(stored);
        stored = now;
        if (status === 400 && namesNothing(answer?.body ?? "")) wrong.push(`${show(bytes, 300)} → ${answer?.body}`);
        if (status === 200 && call.method === "DELETE") await web.keep();
        stored = call.method === "DELETE" ? await web.stored() : stored;
      }
      await web.expectWell().catch((error) => {
        throw new Error(`${error.message}\nafter ${call.method} ${call.path}`);
      });
    }

    tell(`bodies and queries, seed ${SEED}: answered ${JSON.stringify(statuses)}`);
    expect(wrong).to.deep.equal([]);
    expect((statuses[200] ?? 0) + (statuses[201] ?? 0), "some are good").to.be.at.least(cases(20));
    expect(statuses[202], "some set the agent to work").to.be.at.least(cases(3));
  });
});

/** Returns whether an error lacks its field or parameter, although the request is not a path or an unusable body. */
function namesNothing(body: string): boolean {
  const { code, detail, errors } = JSON.parse(body || "{}");
  if (code === "output_required" || code === "invalid_json" || code === undefined) return false;
  if (/nested too deeply|not percent-encoded/.test(detail)) return false;
  const isNamed = ({ pointer, parameter, detail }: { pointer?: string; parameter?: string; detail: string }) =>
    pointer || parameter || (pointer === "" && detail === "must be an object");
  return !errors?.every(isNamed);
}
