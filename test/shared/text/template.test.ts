import { expect } from "chai";
import fc from "fast-check";
import { parseTemplate, renderTemplate, TemplateError, type TemplateScope } from "../../../src/shared/text/template.ts";
import { expectLinearTime } from "../../support/linearTime.ts";
import { runs } from "../../support/random.ts";

const NOW = new Date("2026-03-04T05:06:07.089Z");

const scope = (changes: Partial<TemplateScope> = {}): TemplateScope => ({
  payload: {},
  headers: {},
  query: {},
  path: "ci/build",
  now: NOW,
  ...changes,
});

const render = (text: string, changes?: Partial<TemplateScope>) => renderTemplate(parseTemplate(text), scope(changes));

const PAYLOAD = {
  name: "Ada",
  größe: 3,
  $id: "d1",
  "x-y_z": "dashed",
  "any key": { "it's": "quoted" },
  'say "hi"': "double",
  "": "no name",
  1: "one",
  deep: { list: [{ c: "first" }, { c: ["a", "b"] }] },
  grid: [
    [1, 2],
    [3, 4],
  ],
  zero: 0,
  big: 1e21,
  yes: true,
  no: false,
  none: null,
  empty: "",
  blank: " ",
  noItems: [],
  noKeys: {},
  path: { x: "of the body" },
  now: { x: "of the body" },
  headers: { x: "of the body" },
  query: { x: "of the body" },
  payload: { x: "of the body" },
  item: { x: "of the body" },
};

describe("renderTemplate", () => {
  const values: [template: string, text: string][] = [
    ["{{name}}", "Ada"],
    ["Dear {{name}}, {{yes}}!", "Dear Ada, true!"],
    ["{{name}}{{name}}", "AdaAda"],
    ["{{ name }}", "Ada"],
    ["{{\n\tname\u00a0}}", "Ada"],
    ["{{größe}}", "3"],
    ["{{$id}}", "d1"],
    ["{{x-y_z}}", "dashed"],
    ["{{1}}", "one"],
    ["{{deep.list[0].c}}", "first"],
    ["{{deep.list[1].c[1]}}", "b"],
    ["{{deep.list.0.c}}", "first"],
    ["{{grid[1][0]}}", "3"],
    ['{{["name"]}}', "Ada"],
    [`{{["any key"]["it's"]}}`, "quoted"],
    [`{{['say "hi"']}}`, "double"],
    ['{{[""]}}', "no name"],
    ['{{deep["list"][0]["c"]}}', "first"],
    ["{{payload.name}}", "Ada"],
    ['{{payload["any key"]["it\'s"]}}', "quoted"],
    ["{{zero}}", "0"],
    ["{{big}}", "1e+21"],
    ["{{yes}} {{no}}", "true false"],
    ["{{blank}}", " "],
    ["{{deep.list[1]}}", '{"c":["a","b"]}'],
    ["{{grid}}", "[[1,2],[3,4]]"],
    ["{{noItems}}{{noKeys}}", "[]{}"],
  ];
  for (const [template, text] of values) {
    it(`looks ${JSON.stringify(template)} up in the body`, () => {
      expect(render(template, { payload: PAYLOAD })).to.deep.equal({ text, missing: false });
    });
  }

  it("renders the whole body as JSON", () => {
    expect(render("{{payload}}", { payload: { a: ["ü", null] } }).text).to.equal('{"a":["ü",null]}');
  });

  const request: [template: string, text: string][] = [
    ["{{path}}", "ci/build"],
    ["{{now}}", "2026-03-04T05:06:07.089Z"],
    ["{{headers.x-github-event}}", "push"],
    ["{{headers.X-GitHub-Event}}", "push"],
    ['{{headers["X-GITHUB-EVENT"]}}', "push"],
    ["{{headers.accept}}", '["a","b"]'],
    ["{{headers.accept[1]}}", "b"],
    ["{{query.ref}}", "main"],
    ["{{query.tag[0]}}", "one"],
    ["{{headers}}", '{"x-github-event":"push","accept":["a","b"]}'],
  ];
  for (const [template, text] of request) {
    it(`looks ${template} up in the request`, () => {
      const headers = { "x-github-event": "push", accept: ["a", "b"] };
      const query = { ref: "main", tag: ["one", "two"] };

      expect(render(template, { payload: PAYLOAD, headers, query })).to.deep.equal({ text, missing: false });
    });
  }

  it("matches the names of query parameters case-sensitively", () => {
    expect(render("{{query.Ref}}", { query: { ref: "main" } })).to.deep.equal({ text: "", missing: true });
  });

  for (const word of ["headers", "query", "payload"]) {
    it(`treats ${word} as a reserved word, and as a key of the body behind payload`, () => {
      expect(render(`{{${word}.x}}`, { payload: { [word]: { x: "body" } } })).to.deep.equal({
        text: "",
        missing: true,
      });
      expect(render(`{{payload.${word}.x}}`, { payload: PAYLOAD }).text).to.equal("of the body");
      expect(render(`{{["${word}"].x}}`, { payload: PAYLOAD }).text).to.equal("of the body");
    });
  }

  for (const word of ["path", "now"]) {
    it(`treats ${word}, which has no parts, as a key of the body when a part is named`, () => {
      expect(render(`{{${word}.x}}`, { payload: PAYLOAD }).text).to.equal("of the body");
      expect(render(`{{${word}}}`, { payload: PAYLOAD }).text).not.to.include("body");
    });
  }

  const items: [template: string, value: unknown, text: string][] = [
    ["{{item.x}}", { x: "of the item" }, "of the item"],
    ["{{item}}", { x: 1 }, '{"x":1}'],
    ["{{item}}", "text", "text"],
    ["{{item[1].x}}", [0, { x: "second" }], "second"],
    ["{{item.x}}", { y: 1 }, ""],
    ["{{item}}", undefined, ""],
    ["{{payload.item.x}}", { x: "of the item" }, "of the body"],
    ["{{name}}", { name: "of the item" }, "Ada"],
  ];
  for (const [template, value, text] of items) {
    it(`renders "${text}" for ${template} of the item ${JSON.stringify(value)}`, () => {
      expect(render(template, { payload: PAYLOAD, item: { value } }).text).to.equal(text);
    });
  }

  it("treats item as a key of the body when there is no item", () => {
    expect(render("{{item.x}}", { payload: PAYLOAD }).text).to.equal("of the body");
  });

  const missing: [what: string, template: string][] = [
    ["a missing key", "{{nothing}}"],
    ["a key of a missing value", "{{nothing.at.all[0]}}"],
    ["null", "{{none}}"],
    ["a key of null", "{{none.x}}"],
    ["an empty string", "{{empty}}"],
    ["a key of a string", "{{name.x}}"],
    ["a character of a string", "{{name[0]}}"],
    ["a string's length", "{{name.length}}"],
    ["an array's length", "{{grid.length}}"],
    ["an item past the end", "{{grid[2]}}"],
    ["an item far past the end", "{{grid[99999999999999999999]}}"],
    ["a negative index", "{{grid.-1}}"],
    ["an index with a leading zero", "{{grid.00}}"],
    ["a key of a number", "{{zero.toFixed}}"],
    ["a method of an array", "{{grid.map}}"],
    ["a prototype", "{{__proto__}}"],
    ["a prototype's key", "{{__proto__.toString}}"],
    ["a prototype in brackets", '{{["__proto__"]["constructor"]}}'],
    ["a constructor", "{{constructor}}"],
    ["a constructor's name", "{{constructor.name}}"],
    ["a constructor's prototype", "{{payload.constructor.prototype}}"],
    ["an inherited method", "{{toString}}"],
    ["an inherited key of the headers", "{{headers.constructor}}"],
    ["an inherited key of the query", "{{query.__proto__}}"],
    ["a missing header", "{{headers.x-nothing}}"],
    ["a header that is undefined", "{{headers.gone}}"],
  ];
  for (const [what, template] of missing) {
    it(`renders nothing for ${what}`, () => {
      expect(render(`<${template}>`, { payload: PAYLOAD, headers: { gone: undefined } })).to.deep.equal({
        text: "<>",
        missing: true,
      });
    });
  }

  it("renders nothing for a __proto__ that JSON made an own key", () => {
    const payload = JSON.parse('{"__proto__":{"x":"forged"}}');

    expect(render("{{__proto__.x}}{{payload.__proto__}}", { payload })).to.deep.equal({ text: "", missing: true });
  });

  it("renders a body's own key that is named like an inherited one", () => {
    expect(render("{{constructor}}", { payload: { constructor: "Ferrari" } }).text).to.equal("Ferrari");
  });

  it("reports a missing value when one of several is missing", () => {
    expect(render("hook:{{name}}:{{nothing}}", { payload: PAYLOAD })).to.deep.equal({
      text: "hook:Ada:",
      missing: true,
    });
  });

  for (const payload of [null, undefined, "text", 7, true, []]) {
    it(`finds nothing in a body that is ${JSON.stringify(payload)}`, () => {
      expect(render("{{a.b}}{{length}}", { payload })).to.deep.equal({ text: "", missing: true });
    });
  }

  it("renders one template for several scopes", () => {
    const template = parseTemplate("{{name}}");

    expect(renderTemplate(template, scope({ payload: { name: "a" } })).text).to.equal("a");
    expect(renderTemplate(template, scope({ payload: { name: "b" } })).text).to.equal("b");
  });

  it("renders nothing for a value nested too deeply for JSON, and renders the values inside it", () => {
    const depth = 100_000;
    const payload = { a: JSON.parse(`${"[".repeat(depth)}"core"${"]".repeat(depth)}`) };

    expect(render("{{a}}", { payload })).to.deep.equal({ text: "", missing: true });
    expect(render(`{{a${"[0]".repeat(depth)}}}`, { payload })).to.deep.equal({ text: "core", missing: false });
  });
});

describe("parseTemplate", () => {
  const literals: [template: string, text: string][] = [
    ["", ""],
    ["plain", "plain"],
    ["a } b { c", "a } b { c"],
    ["{a} }} {", "{a} }} {"],
    ["{{name}}}", "Ada}"],
    ["${NAME} $& \\n", "${NAME} $& \\n"],
    ['{{"{{"}}name}}', "{{name}}"],
    ["{{ '{{' }}", "{{"],
    ["{{'a\"}}b'}}", 'a"}}b'],
    ['{{""}}', ""],
  ];
  for (const [template, text] of literals) {
    it(`treats ${JSON.stringify(template)} as text`, () => {
      expect(render(template, { payload: { name: "Ada" } })).to.deep.equal({ text, missing: false });
    });
  }

  const NEVER_CLOSED = "these braces are never closed: write }}";
  const broken: [template: string, where: string, what: string][] = [
    ["{{", "line 1, column 1", NEVER_CLOSED],
    ["a {{name", "line 1, column 3", NEVER_CLOSED],
    ["a {{name}", "line 1, column 3", NEVER_CLOSED],
    ["Dear {{name, hello", "line 1, column 6", NEVER_CLOSED],
    ["{{name}}\nand {{ name", "line 2, column 5", NEVER_CLOSED],
    ["{{}}", "line 1, column 3", "the braces are empty"],
    ["{{   }}", "line 1, column 6", "the braces are empty"],
    ["{{a..b}}", "line 1, column 5", "a name must follow the dot"],
    ["{{a.}}", "line 1, column 5", "a name must follow the dot"],
    ["{{a.[0]}}", "line 1, column 5", "a name must follow the dot"],
    ["{{.a}}", "line 1, column 3", '"." cannot stand here'],
    ["{{a[}}", "line 1, column 5", "brackets take an index"],
    ["{{a[]}}", "line 1, column 5", "brackets take an index"],
    ["{{a[x]}}", "line 1, column 5", "brackets take an index"],
    ["{{a[-1]}}", "line 1, column 5", "brackets take an index"],
    ["{{a[01]}}", "line 1, column 5", "brackets take an index"],
    ["{{a[ 0 ]}}", "line 1, column 5", "brackets take an index"],
    ['{{a["x]}}', "line 1, column 5", "brackets take an index"],
    ['{{a["x"}}', "line 1, column 8", "brackets take an index"],
    ["{{a]}}", "line 1, column 4", '"]" cannot stand here'],
    ["{{a[0]b}}", "line 1, column 7", '"b" cannot stand here'],
    ["{{a b}}", "line 1, column 5", '"b" cannot stand here'],
    ["{{a . b}}", "line 1, column 5", '"." cannot stand here'],
    ["{{a | upper}}", "line 1, column 5", '"|" cannot stand here'],
    ["{{{a}}}", "line 1, column 3", '"{" cannot stand here'],
    ["{{#each a}}", "line 1, column 3", '"#" cannot stand here'],
    ["{{a + 1}}", "line 1, column 5", '"+" cannot stand here'],
    ["{{a()}}", "line 1, column 4", '"(" cannot stand here'],
    ["{{😀}}", "line 1, column 3", '"😀" cannot stand here'],
    ['{{"a" b}}', "line 1, column 7", '"b" cannot stand here'],
    ['{{"a}}', "line 1, column 3", '"\\"" cannot stand here'],
    ["one\ntwo\n  {{a..b}}", "line 3, column 7", "a name must follow the dot"],
  ];
  for (const [template, where, what] of broken) {
    it(`refuses ${JSON.stringify(template)} at ${where}`, () => {
      expect(() => parseTemplate(template))
        .to.throw(TemplateError)
        .with.property("message")
        .that.satisfies((message: string) => message.startsWith(`${where}: ${what}`));
    });
  }
});

describe("parseTemplate and renderTemplate", () => {
  const NAMES = ["a", "b", "item", "headers", "payload", "path", "__proto__", "constructor", "length", "toString", "0"];
  const key = fc.oneof(fc.constantFrom(...NAMES), fc.string());
  const payload = fc
    .jsonValue({ maxDepth: 4 })
    .chain((value) =>
      fc.dictionary(key, fc.constant(value)).map((extra) => JSON.parse(JSON.stringify({ ...extra, a: value }))),
    );
  const quoted = fc.string().filter((text) => !text.includes('"'));
  const path = fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.array(
        fc.oneof(
          fc.constantFrom(...NAMES).map((name) => `.${name}`),
          fc.nat(3).map((index) => `[${index}]`),
          quoted.map((text) => `["${text}"]`),
        ),
        { maxLength: 5 },
      ),
    )
    .map(([first, rest]) => first + rest.join(""));

  it("treat a template without double braces as text", () => {
    const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("{{"));

    fc.assert(
      fc.property(text, (plain) => {
        expect(render(plain)).to.deep.equal({ text: plain, missing: false });
      }),
    );
  });

  it("never parse values as templates", () => {
    const value = fc
      .tuple(fc.string(), path, fc.string())
      .map(([before, inner, after]) => `${before}{{${inner}}}${after}`);

    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(render("{{a}}{{b}}", { payload: { a, b } }).text).to.equal(a + b);
      }),
    );
  });

  it("render any body", () => {
    fc.assert(
      fc.property(path, payload, fc.option(payload, { nil: undefined }), (one, body, value) => {
        const item = value === undefined ? undefined : { value };

        expect(render(`{{${one}}}`, { payload: body, item }).text).to.be.a("string");
      }),
      runs(1_000),
    );
  });

  it("never render inherited properties", () => {
    fc.assert(
      fc.property(path, (one) => {
        const inherited = Object.create({ a: "SEEN", b: { a: "SEEN" }, toString: "SEEN", 0: "SEEN", item: "SEEN" });

        expect(render(`{{${one}}}`, { payload: inherited, headers: inherited, query: inherited }).text).not.to.match(
          /SEEN|function|native/,
        );
      }),
    );
  });

  it("either throw a TemplateError or render, for any text", () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "{",
      "}",
      "[",
      "]",
      ".",
      '"',
      "'",
      "a",
      "0",
      " ",
      "\n",
      "-",
      "😀",
      "\ud83d",
    );

    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join("")),
        (text) => {
          try {
            expect(render(text, { payload: { a: ["b"] } }).text).to.be.a("string");
          } catch (error) {
            expect(error).to.be.instanceOf(TemplateError);
          }
        },
      ),
      runs(2_000),
    );
  });
});

describe("parseTemplate: duration", () => {
  const KIB = 1024;
  const units = ["{", "}", "{{a}}", "{{a}} ", '{{"a"}}', "{{a[0].b}}", "a{b}"];
  const runs: [start: string, unit: string, end: string][] = [
    ["{{", " ", "a}}"],
    ["{{a", " ", "}}"],
    ["{{a", " ", ""],
    ["{{", "a", "}}"],
    ["{{a", ".a", "}}"],
    ["{{a", "[0]", "}}"],
    ["{{a", '["b"]', "}}"],
    ['{{a["', "b", ""],
    ['{{"', "{{", ""],
    ["{{a", "{{", ""],
  ];
  const cases: [string, (length: number) => string][] = [
    ...units.map((unit): [string, (length: number) => string] => [unit, (length) => unit.repeat(length / unit.length)]),
    ...runs.map(([start, unit, end]): [string, (length: number) => string] => [
      `${start}${unit}…${end}`,
      (length) => start + unit.repeat(length / unit.length) + end,
    ]),
  ];

  const renderOrRefuse = (text: string): void => {
    try {
      render(text);
    } catch (error) {
      expect(error).to.be.instanceOf(TemplateError);
    }
  };

  for (const [what, make] of cases) {
    it(`grows at most linearly with the length: ${what}`, () => {
      expectLinearTime((length) => renderOrRefuse(make(length)), 64 * KIB);
    }).timeout(120_000);
  }
});
