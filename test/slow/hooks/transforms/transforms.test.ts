import { expect } from "chai";
import { TransformFixture, thrownBy } from "../../../hooks/transforms/transformFixture.ts";

describe("Transforms of every kind", () => {
  let fixture: TransformFixture;
  before(() => {
    fixture = new TransformFixture();
  });
  after(() => fixture.close());

  describe("load the function", () => {
    const message = (text: string) => `({ message: ${JSON.stringify(text)} })`;
    const cases: [string, string, string | undefined][] = [
      ["named.js", `export const other = async () => ${message("named.js")}`, "other"],
      ["a.mjs", `await null; export default async () => ${message("a.mjs")}`, undefined],
      ["a.cjs", `module.exports = () => ${message("a.cjs")}`, undefined],
      ["named.cjs", `exports.other = () => ${message("named.cjs")}`, "other"],
      ["hidden.cjs", `module.exports = Object.fromEntries([["other", () => ${message("hidden.cjs")}]])`, "other"],
      ["compiled.cjs", `exports.__esModule = true; exports.default = () => ${message("compiled.cjs")}`, undefined],
      ["named.mts", `export function other(a: unknown): object { return ${message("named.mts")} }`, "other"],
      ["sub/with space.ts", `export default () => ${message("sub/with space.ts")}`, undefined],
    ];
    for (const [module, source, name] of cases) {
      it(`that is the ${name ? `export ${name}` : "default export"} of ${module}`, async () => {
        const outcome = await fixture.runSource(module, source, name ? { export: name } : {});

        expect(outcome).to.deep.equal({ kind: "result", value: { message: module } });
      });
    }
  });

  describe("fail as transform_failed", () => {
    const cases: [string, string, RegExp][] = [
      [
        "odd (100%)#é.mjs",
        "export default () => { throw new Error('odd') }",
        / failed: Error at odd \(100%\)#é\.mjs:1:30: odd\.$/,
      ],
      [
        "odd (100%)#é.cjs",
        "module.exports = () => { throw new Error('odd') }",
        / failed: Error at odd \(100%\)#é\.cjs:1:32: odd\.$/,
      ],
      [
        "text.js",
        "export default () => { throw 'some text' }",
        /failed: "some text" was thrown, which is not an Error\.$/,
      ],
      ["odd.js", "export default () => { throw { get message() { throw 1 } } }", /failed: an object was thrown/],
      [
        "proxy.js",
        "export default () => { throw new Proxy(new Error(), { get() { throw 1 } }) }",
        /the thrown value cannot be read\.$/,
      ],
      [
        "syntax.cjs",
        "module.exports = () => {\n  return {;\n};",
        /not be loaded: SyntaxError at syntax\.cjs:2:11: Unexpected/,
      ],
      [
        "syntax.ts",
        "type A = string;\nexport default () => {\n  return {;\n};",
        /SyntaxError at syntax\.ts:3:11: Unexpected/,
      ],
      [
        "enum.ts",
        "export default () => 1;\nenum A { B }",
        /SyntaxError at enum\.ts:2:1: TypeScript enum is not supported/,
      ],
      [
        "within.mjs",
        'import "./syntax.mjs";\nexport default () => {};',
        /within\.mjs could not be loaded: SyntaxError at syntax\.mjs:2:11/,
      ],
      ["top.mjs", "\nthrow new Error('at once');", /could not be loaded: Error at top\.mjs:2:7: at once\.$/],
      ["none.cjs", "exports.other = 1;", /^The transform none\.cjs has no default export that is a function\.$/],
      ["number.js", "export default () => 3", /returned a number: it may return an object, null .* or undefined/],
      ["error.js", "export default () => new Error('x')", /returned an Error: it may return an object/],
      ["date.js", "export default () => new Date()", /returned a Date/],
      ["map.js", "export default () => new Map([['message', 'x']])", /returned a Map/],
      ["function.js", "export default () => () => 1", /returned a function/],
      [
        "inner.js",
        "export default () => ({ message() {} })",
        /returned a value that cannot be passed on: .* could not be cloned\.$/,
      ],
      [
        "huge.js",
        "export default () => ({ message: 'x'.repeat(17_000_000) })",
        /returned a value that cannot be passed on: .* larger than 16 MiB\.$/,
      ],
      [
        "timer.js",
        "export default () => new Promise(() => {\n  setImmediate(() => { throw new Error('late') });\n})",
        /ended by an uncaught error: Error at timer\.js:2:\d+: late\.$/,
      ],
    ];
    for (const [module, source, expected] of cases) {
      it(`with the fault and its place: ${module}`, async () => {
        fixture.put(
          "lib/fail.cjs",
          'exports.fail = () => {\n  throw new RangeError("of itself", { cause: new Error("the cause") });\n};',
        );
        fixture.put("syntax.mjs", "export default () => {\n  return {;\n};");

        const thrown = await thrownBy(fixture.runSource(module, source, { payload: { secret: "the payload" } }));

        expect(thrown).to.include({ code: "transform_failed", retry: false });
        expect(thrown.message).to.match(expected);
        expect(thrown.message).to.not.include("the payload").and.not.include(fixture.dir);
      });
    }
  });

  describe("load each file anew", () => {
    const changes: [string, Record<string, string>, string][] = [
      ["the module itself", { "changed.ts": `export default () => ({ text: "old" as string })` }, "changed.ts"],
      [
        "a file that it imports",
        {
          "imports.mjs": `import { text } from "./lib/text.ts";\nexport default () => ({ text })`,
          "lib/text.ts": 'export const text = "old";',
        },
        "lib/text.ts",
      ],
      [
        "a file that it requires",
        {
          "requires.cjs": 'const { text } = require("./lib/data.json");\nmodule.exports = () => ({ text })',
          "lib/data.json": '{ "text": "old" }',
        },
        "lib/data.json",
      ],
    ];
    for (const [title, files, changed] of changes) {
      it(`so that a change of ${title} counts at once`, async () => {
        const [module = ""] = Object.keys(files);
        for (const [name, source] of Object.entries(files)) fixture.put(name, source);
        expect(await fixture.valueOf({ module })).to.deep.equal({ text: "old" });

        fixture.put(changed, (files[changed] as string).replace("old", "new"));

        expect(await fixture.valueOf({ module })).to.deep.equal({ text: "new" });
      });
    }

    it("also after a failed load, since the missing file may exist now", async () => {
      fixture.put("mended.mjs", 'export { default } from "./lib/later.mjs"');
      await thrownBy(fixture.run({ module: "mended.mjs" }));

      fixture.put("lib/later.mjs", "export default () => null");

      expect(await fixture.run({ module: "mended.mjs" })).to.deep.equal({ kind: "dropped" });
    });
  });

  describe("pass output to onOutput", () => {
    const printedBy = (label: string) =>
      fixture.printed.filter((line) => line.startsWith(`${label} `)).map((line) => line.slice(label.length + 1));

    const floods: [string, string, number][] = [
      ["lines", 'for (let i = 0; i < 100_000; i++) console.log("x")', 1_000],
      ["bytes", 'for (let i = 0; i < 100_000; i++) console.log("x".repeat(1023))', 64],
      ["bytes without a line break", 'for (let i = 0; i < 100_000; i++) process.stdout.write("x".repeat(1023))', 1],
    ];
    for (const [title, source, kept] of floods) {
      it(`and replace a flood of ${title} by a note`, async () => {
        fixture.put("floods.js", `export default () => { ${source}; return null; }`);

        expect(await fixture.run({ module: "floods.js", label: title })).to.deep.equal({ kind: "dropped" });

        const lines = printedBy(title);
        expect(lines).to.have.length(kept + 1);
        expect(lines.at(-1)).to.equal("stderr … (this run printed more)");
        expect(lines.join("").length).to.be.below(80 * 1024);
      });
    }
  });
});
