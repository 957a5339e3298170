import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { useSharedApp } from "../../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";

/** Every kind of request that reads JSON, and whether the body may be an array. */
const DOORS: readonly [method: string, path: () => string, around: (json: string) => string][] = [
  ["PUT", () => `/api/jobs/${randomUUID()}`, (json) => `{"metadata":${json}}`],
  ["POST", () => "/hooks/agent", (json) => `{"message":"x","name":"y","ignored":${json}}`],
  ["POST", () => "/hooks/ci", (json) => json],
];

describe("JSON bodies", () => {
  const app = useSharedApp({
    config: `{ hooks: { enabled: true, token: "${TOKEN}", mappings: [{ match: { path: "ci" } }] } }`,
  });

  async function send(method: string, path: string, body: string | Buffer, headers = {}) {
    const sent = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json", ...headers };
    const answer = await fetch(app.url + path, { method, headers: sent, body: body as string });
    return { status: answer.status, text: await answer.text() };
  }
  const DETAILS: readonly [body: string, detail: string][] = [
    ["null", "The body must be a JSON object or array, not null."],
    ['"x"', "The body must be a JSON object or array, not a string."],
    ["7", "The body must be a JSON object or array, not a number."],
    ["true", "The body must be a JSON object or array, not a boolean."],
    ["nul", "The body must be a valid JSON object or array."],
  ];
  for (const [body, detail] of DETAILS) {
    it(`PUT of a job with the body ${body} names the fault`, async () => {
      const { text } = await send("PUT", `/api/jobs/${randomUUID()}`, body);

      expect(JSON.parse(text).detail).to.equal(detail);
    });
  }

  const refusal = ({ status, text }: { status: number; text: string }) => [status, JSON.parse(text).code];

  for (const [method, path, around] of DOORS) {
    it(`${method} ${path().slice(0, 9)}: refuses bytes that are not UTF-8 and what is neither object nor array`, async () => {
      for (const body of [
        Buffer.from(around('{"a":"\xff"}'), "latin1"),
        Buffer.from(around('{"a":"\xed\xa0\xbd"}'), "latin1"),
        Buffer.from(around("{}"), "utf16le"),
        '"x"',
        "7",
        "null",
        "  ",
        around('{"a":1}}'),
        around('{"a":01}'),
      ]) {
        expect(refusal(await send(method, path(), body)), String(body)).to.deep.equal([400, "invalid_json"]);
      }
    });
  }

  it("in jobs keep the digits of numbers that JavaScript would change, and find them", async () => {
    const path = `/api/jobs/${randomUUID()}`;
    const metadata =
      '{"id":12345678901234567890,"inf":1e400,"tiny":-1e-400,"n":1.5,"big":1e300,"a":[9007199254740993]}';

    const { status } = await send("PUT", path, `\ufeff{"metadata":${metadata}}`);

    expect(status).to.equal(201);
    const { body } = await app.call("GET", path);
    expect(body.metadata).to.deep.equal({
      id: "12345678901234567890",
      inf: "1e400",
      tiny: "-1e-400",
      n: 1.5,
      big: 1e300,
      a: ["9007199254740993"],
    });
    const found = await app.call("GET", "/api/jobs?metadata.id=12345678901234567890");
    expect(found.body.jobs.map(({ jobId }: { jobId: string }) => `/api/jobs/${jobId}`)).to.deep.equal([path]);
  });

  it("in jobs have U+FFFD for half a surrogate pair, which strict readers of the answer refuse", async () => {
    const path = `/api/jobs/${randomUUID()}`;
    const half = '{"k\\ud83d":["x\\ud83d","\\udc4d","\\ud83d\\udc4d","\\\\ud83d"]}';

    await send("PUT", path, `{"metadata":${half},"input":${half},"name":"n\\ud83d"}`);
    await send("PUT", path, `{"status":"completed","progress":100,"output":${half}}`);

    const answer = await fetch(app.url + path);
    const text = await answer.text();
    expect(text).to.not.match(/(?<!\\)\\ud[89a-f]/i);
    const whole = { "k\ufffd": ["x\ufffd", "\ufffd", "👍", "\\ud83d"] };
    expect(JSON.parse(text)).to.deep.include({ metadata: whole, input: whole, name: "n\ufffd" });
  });

  it("in compressed requests are read alike", async () => {
    const body = gzipSync('{"metadata":{"id":12345678901234567890}}');

    const { text } = await send("PUT", `/api/jobs/${randomUUID()}`, body, { "Content-Encoding": "gzip" });

    expect(JSON.parse(text).metadata).to.deep.equal({ id: "12345678901234567890" });
  });
});
