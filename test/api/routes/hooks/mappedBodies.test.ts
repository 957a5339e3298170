import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { brotliCompressSync } from "node:zlib";
import { expect } from "chai";
import { useSharedApp } from "../../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const MIB = 1024 * 1024;

type Sent = string | Buffer<ArrayBuffer>;
type Answered = { status: number; code: unknown; body: Record<string, unknown> };

/** Returns an object with this depth of nesting. */
const deep = (levels: number, key = "a") => `{"${key}":${"[".repeat(levels)}${"]".repeat(levels)}}`;
/** Returns an object whose JSON has this size in bytes. */
const large = (bytes: number, around = '{"a":""}') => around.replace('""', `"${"x".repeat(bytes - around.length)}"`);

describe("body of a mapped hook", () => {
  const app = useSharedApp({
    config: `{ hooks: {
        enabled: true, token: "${TOKEN}", maxBodyBytes: 400000, presets: ["gmail"],
        mappings: [
          { match: { path: "ci" } },
          { match: { path: "items" }, forEach: "items" },
          { match: { path: "small" }, maxBodyBytes: 1024 },
          { match: { path: "large" }, maxBodyBytes: 1000000 },
          { id: "mixed small", match: { path: "mixed", source: "small" }, maxBodyBytes: 1024 },
          { id: "mixed large", match: { path: "mixed" }, maxBodyBytes: 1000000 },
          { match: { path: "whole" }, maxBodyBytes: ${8 * MIB} },
        ],
      } }`,
  });

  async function send(
    method: string,
    path: string,
    body: Sent,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const sent = { ...bearer, "Content-Type": "application/json", ...headers };
    const answer = await fetch(app.url + path, { method, headers: sent, body });
    const read = (await answer.json()) as Record<string, unknown>;
    return { status: answer.status, code: read.code, body: read };
  }
  const post = (name: string, body: Sent, headers?: Record<string, string>) =>
    send("POST", `/hooks/${name}`, body, headers);
  const payloadOf = async ({ body }: Answered) => {
    const run = await app.stores.runs.find(body.runId as string);
    return JSON.parse(run.mapped?.call ?? "").payload;
  };

  const refused: [title: string, body: Sent, code: string, kind?: string][] = [
    ["text", '"x"', "invalid_json", "a JSON object or array, not a string"],
    ["a number", "7", "invalid_json", "a JSON object or array, not a number"],
    ["null", "null", "invalid_json", "a JSON object or array, not null"],
    ["white space", "  ", "invalid_json"],
    ["no JSON", "{ not json", "invalid_json"],
    ["two objects", "{}{}", "invalid_json"],
    ["JSON that ends early", '{"a":', "invalid_json"],
    ["what is not UTF-8", Buffer.from('{"a":"\xff"}', "latin1"), "invalid_json"],
    ["UTF-16", Buffer.from('{"a":1}', "utf16le"), "invalid_json"],
  ];
  for (const [title, body, code, kind = "a valid JSON object or array"] of refused) {
    it(`that is ${title} is answered with 400 ${code}, which does not quote it, and nothing is stored`, async () => {
      const before = await app.stores.runs.collection.native.countDocuments();

      const answer = await post("ci", body);

      expect([answer.status, answer.code]).to.deep.equal([400, code]);
      expect(answer.body.detail).to.equal(`The body must be ${kind}.`);
      expect(await app.stores.runs.collection.native.countDocuments()).to.equal(before);
    });
  }

  const taken: [string, Sent, object][] = [
    ["empty (as an empty object)", "", {}],
    ["a list", '[{"a":1},2]', [{ a: 1 }, 2]],
    ["an empty list", "[]", []],
    ["of numbers that no double holds, as their digits", '{"a":1e400,"b":[-1e-400]}', { a: "1e400", b: ["-1e-400"] }],
    ["an object after a byte order mark", '\ufeff{"a":1}', { a: 1 }],
    ["of any letters", '{"Grüße":"💶\\u0000\\ud83d"}', { Grüße: "💶\u0000\ufffd" }],
    ["of keys that MongoDB and JavaScript know", '{"$where":1,"a.b":2,"_id":3}', { $where: 1, "a.b": 2, _id: 3 }],
    [
      "of whole numbers that would be rounded, as their digits",
      '{"a":9007199254740993,"b":[ -9007199254740992,{"__proto__":[18446744073709551615]}]}',
      { a: "9007199254740993", b: ["-9007199254740992", JSON.parse('{"__proto__":["18446744073709551615"]}')] },
    ],
    [
      "of other long numbers, as numbers",
      '{"a":9007199254740991,"b":-1700000000000000,"c":1e20,"d":1234567890123456.5,"e":"9007199254740993"}',
      { a: 9007199254740991, b: -1700000000000000, c: 1e20, d: 1234567890123456.5, e: "9007199254740993" },
    ],
  ];
  for (const [title, body, payload] of taken) {
    it(`that is ${title} is accepted`, async () => {
      const answer = await post("ci", body);

      expect(answer.status).to.equal(202);
      expect(await payloadOf(answer)).to.deep.equal(payload);
    });
  }

  it("may contain the key __proto__, which stays a plain key", async () => {
    const answers = [
      await post("ci", '{"__proto__":{"a":1}}'),
      await post("items", '{"items":[1],"__proto__":{"a":1}}'),
    ];

    for (const answer of answers) {
      expect(answer.status).to.equal(202);
      const payload = await payloadOf(answer);
      expect([Object.keys(payload).includes("__proto__"), payload.a]).to.deep.equal([true, undefined]);
    }
  });

  it("may have any JSON media type; others are answered with 415", async () => {
    const types = ["application/json; charset=utf-8", "application/cloudevents+json", "text/plain", "text/json", ""];
    const answers = await Promise.all(types.map((type) => post("ci", "{}", { "Content-Type": type })));
    const packed = await post("ci", brotliCompressSync("{}"), { "Content-Encoding": "br" });

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 415, 415, 415]);
    expect([packed.status, packed.code]).to.deep.equal([415, "unsupported_media_type"]);
  });

  const sizes: [string, string, Sent, number][] = [
    ["hooks.maxBodyBytes", "ci", large(400_000), 202],
    ["one more than hooks.maxBodyBytes", "ci", large(400_001), 413],
    ["a smaller limit of the mapping", "small", large(1_024), 202],
    ["one more than a smaller limit of the mapping", "small", large(1_025), 413],
    ["a larger limit of the mapping", "large", large(1_000_000), 202],
    ["one more than a larger limit of the mapping", "large", large(1_000_001), 413],
    ["the limit of another mapping of the name", "mixed", large(1_025, '{"source":"small","a":""}'), 413],
    ["the limit of the mapping that matches", "mixed", large(1_000_000), 202],
    ["8 MiB of one mail", "gmail", large(8 * MIB, '{"messages":[{"body":""}]}'), 202],
    ["8 MiB and a byte of one mail", "gmail", large(8 * MIB + 1, '{"messages":[{"body":""}]}'), 413],
    ["8 MB that would be stored as 35 MB", "whole", `{"a":[${"1e20,".repeat(1_600_000)}1]}`, 413],
    ["wake with hooks.maxBodyBytes and one more", "wake", large(400_001, '{"text":""}'), 413],
  ];
  for (const [title, name, body, status] of sizes) {
    it(`of ${title} is answered with ${status}`, async () => {
      const answer = await post(name, body);

      expect([answer.status, answer.code]).to.deep.equal([status, status === 413 ? "body_too_large" : undefined]);
    });
  }

  it("above the limit and without a length is answered with 413 before it ends", async () => {
    const headers = { ...bearer, "Content-Type": "application/json", "Transfer-Encoding": "chunked" };
    const req = request(`${app.url}/hooks/small`, { method: "POST", headers });
    req.write(large(2_000).slice(0, -2));

    const [answer] = await once(req, "response");

    expect([answer.statusCode, JSON.parse(await text(answer)).code]).to.deep.equal([413, "body_too_large"]);
    req.destroy();
  });

  it("that exceeds the size of a document once it is serialized is answered with 413, not 500", async () => {
    const numbers = `[${Array(1_500_000).fill("1e20").join()}]`;

    const answers = [await post("whole", `{"a":${numbers}}`), await post("gmail", `{"messages":[${numbers}]}`)];

    expect(answers.map(({ status, code }) => `${status} ${code}`)).to.deep.equal(Array(2).fill("413 body_too_large"));
  });

  it("of 8 MiB with an array of millions is answered with 400 before its items are processed", async () => {
    const body = `{"messages":[${Array(4 * MIB - 20)
      .fill(0)
      .join()}]}`;
    const began = process.memoryUsage().rss;

    const answer = await post("gmail", body);

    expect([answer.status, answer.code]).to.deep.equal([400, "invalid_body"]);
    expect((process.memoryUsage().rss - began) / MIB).to.be.lessThan(300);
  });

  const nested: [string, string, string, Sent, Record<string, string>][] = [
    ["a mapped hook", "POST", "/hooks/ci", deep(100_000), {}],
    ["a mapped hook with an Idempotency-Key", "POST", "/hooks/ci", deep(100_000), { "Idempotency-Key": "deep" }],
    [
      "a mapped hook with a long number",
      "POST",
      "/hooks/ci",
      `${deep(100_000).slice(0, -1)},"b":9007199254740993}`,
      {},
    ],
    ["a hook of 8 MiB", "POST", "/hooks/whole", deep(4 * MIB - 10), {}],
    ["an item of forEach", "POST", "/hooks/items", `{"items":[1,${deep(100_000)}]}`, {}],
    ["the part around forEach", "POST", "/hooks/items", `{"items":[1],"a":${deep(100_000)}}`, {}],
    [
      "wake with an Idempotency-Key",
      "POST",
      "/hooks/wake",
      `{"text":"x","a":${deep(100_000)}}`,
      { "Idempotency-Key": "w" },
    ],
    [
      "agent with an Idempotency-Key",
      "POST",
      "/hooks/agent",
      `{"message":"x","a":${deep(100_000)}}`,
      { "Idempotency-Key": "a" },
    ],
    ["the text of wake", "POST", "/hooks/wake", deep(100_000, "text"), {}],
    ["the input of a job", "PUT", "/api/jobs/deep", deep(100_000, "input"), {}],
    ["the metadata of a job", "PUT", "/api/jobs/deep", deep(100_000, "metadata"), {}],
  ];
  for (const [title, method, path, body, headers] of nested) {
    it(`nested in ${title} some 100,000 levels deep is answered with 400`, async () => {
      const answer = await send(method, path, body, headers);

      expect([answer.status, answer.code]).to.deep.equal([400, "invalid_body"]);
    });
  }

  it("nested 500 levels deep is accepted, and deeper ones are answered with 400", async () => {
    const levels = [1, 100, 499, 500, 1_000, 2_000, 4_000, 8_000, 20_000];

    const answers = await Promise.all(levels.map((count) => post("ci", deep(count))));

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 202, ...Array(6).fill(400)]);
  });
});
