import { Script } from "node:vm";
import { isSpecType } from "@modelcontextprotocol/client";
import { expect } from "chai";
import sinon from "sinon";
import { createJob } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });

/** The examples of MCP's elicitation in the revisions of 2025-06-18 and 2025-11-25, each with content that fits. */
const MCP_EXAMPLES = [
  [object({ name: { type: "string" } }, ["name"]), { name: "octocat" }],
  [
    object(
      {
        name: { type: "string", description: "Your full name" },
        email: { type: "string", format: "email", description: "Your email address" },
        age: { type: "number", minimum: 18, description: "Your age" },
      },
      ["name", "email"],
    ),
    { name: "Monalisa Octocat", email: "octocat@github.com", age: 30 },
  ],
  [
    object({
      text: {
        type: "string",
        title: "Display Name",
        description: "Description text",
        minLength: 3,
        maxLength: 50,
        pattern: "^[A-Za-z]+$",
        default: "user",
      },
    }),
    { text: "Octocat" },
  ],
  [object({ n: { type: "number", title: "Count", minimum: 0, maximum: 100, default: 50 } }), { n: 12.5 }],
  [object({ n: { type: "integer", title: "Count", minimum: 0, maximum: 100, default: 50 } }), { n: 12 }],
  [object({ ok: { type: "boolean", title: "Display Name", default: false } }), { ok: true }],
  [object({ c: { type: "string", title: "Color", enum: ["Red", "Green", "Blue"], default: "Red" } }), { c: "Green" }],
  [
    object({ c: { type: "string", enum: ["option1", "option2"], enumNames: ["Option 1", "Option 2"] } }),
    { c: "option2" },
  ],
  [
    object({
      c: {
        type: "string",
        oneOf: [
          { const: "#FF0000", title: "Red" },
          { const: "#00FF00", title: "Green" },
        ],
        default: "#FF0000",
      },
    }),
    { c: "#00FF00" },
  ],
  [
    object({
      c: {
        type: "array",
        minItems: 1,
        maxItems: 2,
        items: { type: "string", enum: ["Red", "Green"] },
        default: ["Red"],
      },
    }),
    { c: ["Red", "Green"] },
  ],
  [
    object({
      c: {
        type: "array",
        items: {
          anyOf: [
            { const: "#FF0000", title: "Red" },
            { const: "#00FF00", title: "Green" },
          ],
        },
      },
    }),
    { c: ["#FF0000"] },
  ],
] as const;

describe("requestedSchema", () => {
  const app = useSharedApp();
  let path: string;
  let number = 0;
  before(async () => {
    ({ path } = await createJob(app));
  });

  const open = async (requestedSchema: unknown) => {
    const gate = `${path}/gates/g${number++}`;
    return { gate, opened: await app.call("PUT", gate, { title: "Which?", requestedSchema }) };
  };
  const accept = (gate: string, content?: object | null) =>
    app.call("POST", `${gate}/answer`, { action: "accept", ...(content !== undefined && { content }) });

  for (const [schema, content] of MCP_EXAMPLES) {
    it(`takes MCP's example ${JSON.stringify(schema.properties).slice(0, 60)}, and an answer that fits it`, async () => {
      const { gate, opened } = await open(schema);
      expect(opened.status, JSON.stringify(opened.body)).to.equal(201);
      expect(opened.body.requestedSchema).to.deep.equal(schema);
      const answered = await accept(gate, content);
      expect(answered.status, JSON.stringify(answered.body)).to.equal(200);
      expect(answered.body.content).to.deep.equal(content);
      const { title: message, requestedSchema } = opened.body;
      const { action, content: entered } = answered.body;
      const request = { method: "elicitation/create", params: { message, requestedSchema } };
      expect(isSpecType.ElicitRequest(request)).to.equal(true);
      expect(isSpecType.ElicitResult({ action, content: entered })).to.equal(true);
    });
  }

  for (const [field, fitting, wrong] of [
    [{ type: "string" }, "x", 1],
    [{ type: "string", minLength: 2 }, "xy", "x"],
    [{ type: "string", maxLength: 2 }, "xy", "xyz"],
    [{ type: "string", pattern: "^v\\d+$" }, "v1", "1"],
    [{ type: "string", format: "email" }, "a@example.com", "a.example.com"],
    [{ type: "string", format: "uri" }, "https://example.com", "example"],
    [{ type: "string", format: "date" }, "2026-02-28", "2026-02-30"],
    [{ type: "string", format: "date-time" }, "2026-02-28T12:00:00Z", "2026-02-28 12:00"],
    [{ type: "string", enum: ["a", "b"] }, "b", "c"],
    [{ type: "string", oneOf: [{ const: "a", title: "A" }] }, "a", "A"],
    [{ type: "number", minimum: 0.5 }, 0.5, 0.4],
    [{ type: "number", maximum: 2 }, 2, 3],
    [{ type: "integer" }, 2, 2.5],
    [{ type: "integer" }, -(2 ** 53 - 1), -(2 ** 53)],
    [{ type: "boolean" }, false, "false"],
    [{ type: "array", items: { type: "string", enum: ["a", "b"] } }, ["a"], ["c"]],
    [{ type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1 }, ["a"], []],
  ] as const) {
    it(`checks content against ${JSON.stringify(field)}`, async () => {
      const { gate } = await open(object({ value: field }, ["value"]));
      for (const [content, pointer] of [
        [{ value: wrong }, /^\/content\/value/],
        [{}, /^\/content\/value$/],
        [undefined, /^\/content\/value$/],
        [{ value: fitting, other: 1 }, /^\/content\/other$/],
      ] as const) {
        const { status, body } = await accept(gate, content);
        expect([status, body.code]).to.deep.equal([400, "invalid_body"]);
        expect(body.errors[0].pointer).to.match(pointer);
      }
      expect((await accept(gate, { value: fitting })).status).to.equal(200);
    });
  }

  for (const [digits, detail] of [
    ["9007199254740993", "must be at most 9007199254740991"],
    ["-9007199254740993", "must be at least -9007199254740991"],
    ["12345678901234567890123", "must be at most 9007199254740991"],
    ['"1234567890123456"', "must be an integer"],
  ] as const) {
    it(`refuses the integer ${digits}, and names the limit`, async () => {
      const { gate } = await open(object({ value: { type: "integer" } }));

      const answer = await fetch(`${app.url}${gate}/answer`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: `{"action":"accept","content":{"value":${digits}}}`,
      });

      expect(answer.status).to.equal(400);
      const { errors } = (await answer.json()) as { errors: unknown };
      expect(errors).to.deep.equal([{ pointer: "/content/value", detail }]);
    });
  }

  for (const [name, schema, pointer] of [
    ["no object", "text", "/requestedSchema"],
    ["another type", { type: "array", properties: {} }, "/requestedSchema/type"],
    ["no properties", { type: "object" }, "/requestedSchema/properties"],
    ["an unknown keyword", { type: "object", properties: {}, anyOf: [] }, "/requestedSchema/anyOf"],
    ["a nested object", object({ a: { type: "object" } }), "/requestedSchema/properties/a/type"],
    ["a field without a type", object({ a: {} }), "/requestedSchema/properties/a/type"],
    [
      "a keyword of another type",
      object({ a: { type: "number", format: "email" } }),
      "/requestedSchema/properties/a/format",
    ],
    ["an unknown format", object({ a: { type: "string", format: "ipv4" } }), "/requestedSchema/properties/a/format"],
    ["an empty enum", object({ a: { type: "string", enum: [] } }), "/requestedSchema/properties/a/enum"],
    [
      "too few names",
      object({ a: { type: "string", enum: ["x", "y"], enumNames: ["X"] } }),
      "/requestedSchema/properties/a/enumNames",
    ],
    ["a bad pattern", object({ a: { type: "string", pattern: "(" } }), "/requestedSchema/properties/a/pattern"],
    [
      "a default that does not fit",
      object({ a: { type: "integer", minimum: 3, default: 2 } }),
      "/requestedSchema/properties/a/default",
    ],
    ["a list without choices", object({ a: { type: "array", items: {} } }), "/requestedSchema/properties/a/items"],
    ["a required field that is missing", object({ a: { type: "string" } }, ["b"]), "/requestedSchema/required/0"],
  ] as const) {
    it(`refuses ${name}, and names the place`, async () => {
      const { opened } = await open(schema);
      expect([opened.status, opened.body.code]).to.deep.equal([400, "invalid_body"]);
      expect(opened.body.errors.map((error: { pointer: string }) => error.pointer)).to.include(pointer);
    });
  }

  it("refuses names that an answer could not use", async () => {
    for (const name of ['"__proto__"', '"a\\nb"', '"a\\u0000"']) {
      const { opened } = await open(JSON.parse(`{"type":"object","properties":{${name}:{"type":"string"}}}`));
      expect([opened.status, opened.body.detail], name).to.satisfy(
        ([status, detail]: [number, string]) => status === 400 && detail.includes("must have another name"),
      );
    }
  });

  const choices = (...values: string[]) => values.map((value) => ({ const: value, title: value }));
  for (const [field, keyword] of [
    [{ type: "string", minLength: 3, maxLength: 2 }, "minLength"],
    [{ type: "string", minLength: 1_001 }, "minLength"],
    [{ type: "string", format: "date", minLength: 11 }, "minLength"],
    [{ type: "string", format: "date", maxLength: 9 }, "maxLength"],
    [{ type: "string", format: "date-time", maxLength: 19 }, "maxLength"],
    [{ type: "string", format: "email", maxLength: 4 }, "maxLength"],
    [{ type: "string", format: "uri", maxLength: 2 }, "maxLength"],
    [{ type: "string", enum: ["a", "b"], minLength: 2 }, "minLength"],
    [{ type: "string", enum: ["a", "b"], maxLength: 0 }, "maxLength"],
    [{ type: "string", enum: ["a", "b"], pattern: "^c$" }, "pattern"],
    [{ type: "string", oneOf: choices("a"), format: "email" }, "format"],
    [{ type: "string", enum: ["a"], oneOf: choices("b") }, "enum"],
    [{ type: "string", oneOf: choices("a", "a") }, "oneOf"],
    [{ type: "number", minimum: 2, maximum: 1 }, "minimum"],
    [{ type: "integer", minimum: 2, maximum: 1 }, "minimum"],
    [{ type: "integer", minimum: 1.2, maximum: 1.8 }, "minimum"],
    [{ type: "array", items: { enum: ["a", "b"] }, minItems: 3 }, "minItems"],
    [{ type: "array", items: { anyOf: choices("a", "b") }, minItems: 2, maxItems: 1 }, "minItems"],
    [{ type: "array", items: { anyOf: choices("a", "a") } }, "items"],
  ] as const) {
    it(`refuses a field that nobody can answer: ${JSON.stringify(field)}`, async () => {
      const { opened } = await open(object({ a: field }));
      expect([opened.status, opened.body.errors?.[0].pointer]).to.deep.equal([
        400,
        `/requestedSchema/properties/a/${keyword}`,
      ]);
    });
  }

  it("refuses an integer that could only be one whose digits change", async () => {
    const { gate } = await open(undefined);
    const question =
      '{"title":"x","requestedSchema":{"type":"object","properties":{"a":{"type":"integer","minimum":1e17}}}}';
    const { status, body } = await app.call("PUT", `${gate}-2`, question, { "Content-Type": "application/json" });
    expect([status, body.errors?.[0].pointer]).to.deep.equal([400, "/requestedSchema/properties/a/minimum"]);
  });

  for (const [field, value] of [
    [{ type: "string", minLength: 1_000, maxLength: 1_000 }, "x".repeat(1_000)],
    [{ type: "string", format: "date", minLength: 10, maxLength: 10 }, "2026-02-28"],
    [{ type: "string", format: "date-time", maxLength: 20 }, "2026-02-28T12:00:00Z"],
    [{ type: "string", format: "email", maxLength: 5 }, "a@b.c"],
    [{ type: "string", format: "uri", maxLength: 3 }, "a:b"],
    [{ type: "integer", minimum: 1, maximum: 1 }, 1],
    [{ type: "array", items: { enum: ["a", "b"] }, minItems: 2, maxItems: 2 }, ["a", "b"]],
  ] as const) {
    it(`takes bounds that one answer fits: ${JSON.stringify(field)}`, async () => {
      const { gate, opened } = await open(object({ a: field }, ["a"]));
      expect(opened.status, JSON.stringify(opened.body)).to.equal(201);
      expect((await accept(gate, { a: value })).status).to.equal(200);
    });
  }

  it("allows content only with accept, and only when the gate asks for some", async () => {
    const plain = (await open(undefined)).gate;
    const declined = await app.call("POST", `${plain}/answer`, { action: "decline", content: { a: 1 } });
    expect([declined.status, declined.body.errors[0].pointer]).to.deep.equal([400, "/content"]);
    expect((await accept(plain, { a: 1 })).body.errors[0].pointer).to.equal("/content");
    expect((await accept(plain, {})).body).to.include({ status: "answered", content: null });
    const form = (await open(object({ a: { type: "string" } }))).gate;
    expect((await accept(form)).body.content).to.deep.equal({});
  });

  it("answers in time when a pattern would take for ever", async () => {
    const { gate } = await open(object({ a: { type: "string", pattern: "^(a+)+$" } }));
    const { status } = await accept(gate, { a: `${"a".repeat(40)}!` });
    expect(status).to.equal(400);
  });

  it("repeats a match whose time passed while the process waited for a busy CPU", async () => {
    const { gate } = await open(object({ a: { type: "string", pattern: "^a+$" } }));
    const timedOut = Object.assign(new Error("timed out"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
    const run = sinon.stub(Script.prototype, "runInContext").callThrough().onFirstCall().throws(timedOut);
    try {
      expect((await accept(gate, { a: "aaa" })).status).to.equal(200);
      // On a busy machine the time of the second try may pass too.
      expect(run.callCount).to.be.at.least(2);
    } finally {
      run.restore();
    }
  });

  it("answers in the same time however many patterns of a form would take for ever", async () => {
    const form = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: "string", pattern: "^(a+)+$" }]));
    const content = (count: number) =>
      Object.fromEntries(Object.keys(form(count)).map((name) => [name, `${"a".repeat(40)}!`]));
    const msFor = async (count: number) => {
      const { gate } = await open(object(form(count)));
      const started = process.cpuUsage();
      const { status, body } = await accept(gate, content(count));
      expect([status, body.errors.length]).to.deep.equal([400, count]);
      return process.cpuUsage(started).user;
    };

    const [one, all] = [await msFor(1), await msFor(50)];

    expect(all / one).to.be.below(15); // 50 when each has its own time limit
  });

  it("opens in the same time however many defaults match slowly", async () => {
    const field = { type: "string", pattern: "^(?:(a+)+b|a+!)$", default: `${"a".repeat(16)}!` };
    const msFor = async (count: number) => {
      const started = process.cpuUsage();
      await open(object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, field]))));
      return process.cpuUsage(started).user;
    };

    const [one, all] = [await msFor(1), await msFor(50)];

    expect(all / one).to.be.below(15); // up to 50 when each has its own time limit
  });

  it("stores fields with names that mean something to JavaScript", async () => {
    const { gate, opened } = await open(JSON.parse('{"type":"object","properties":{"constructor":{"type":"string"}}}'));
    expect(opened.status).to.equal(201);
    expect((await accept(gate, { constructor: "x" })).body.content).to.deep.equal({ constructor: "x" });
  });
});
