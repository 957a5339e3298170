import { appendFileSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { expect } from "chai";
import { TransformProcess } from "../../../src/hooks/transforms/process.ts";
import type { AgentOverrides } from "../../../src/hooks/transforms/transform.ts";
import { CHANNELS } from "../../../src/shared/channelNames.ts";
import { countAlive } from "../../support/garbage.ts";
import { INPUT, TransformFixture, thrownBy } from "./transformFixture.ts";

describe("Transforms", () => {
  let fixture: TransformFixture;
  before(() => {
    fixture = new TransformFixture();
  });
  after(() => fixture.close());

  describe("load the function", () => {
    const message = (text: string) => `({ message: ${JSON.stringify(text)} })`;
    const cases: [string, string, string | undefined][] = [
      ["esm.js", `export default () => ${message("esm.js")}`, undefined],
      ["cjs.js", `module.exports = () => ${message("cjs.js")}`, undefined],
      ["a.ts", `interface A { b: string }\nexport default (a: A): object => ${message("a.ts")}`, undefined],
    ];
    for (const [module, source, name] of cases) {
      it(`that is the ${name ? `export ${name}` : "default export"} of ${module}`, async () => {
        const outcome = await fixture.runSource(module, source, name ? { export: name } : {});

        expect(outcome).to.deep.equal({ kind: "result", value: { message: module } });
      });
    }

    it("of a module that imports ES modules, CommonJS and JSON", async () => {
      fixture.put("lib/one.ts", "export const one: number = 1;");
      fixture.put("lib/two.cjs", 'module.exports = require("./one.ts").one + require("./three.json").three;');
      fixture.put("lib/three.json", '{ "three": 3 }');
      fixture.put("both.mjs", 'import four from "./lib/two.cjs"; export default () => ({ four });');

      expect(await fixture.valueOf({ module: "both.mjs" })).to.deep.equal({ four: 4 });
    });
  });

  it("leave no result in the service's memory, while their process serves the next run", async () => {
    fixture.put("kept.js", "export default ({ payload }) => ({ n: payload.n, pid: process.pid })");
    const pids = new Set<unknown>();
    const results: WeakRef<object>[] = [];

    for (let n = 0; n < 20; n++) {
      const result = (await fixture.valueOf({ module: "kept.js", payload: { n } })) as { pid: number };
      pids.add(result.pid);
      results.push(new WeakRef(result));
    }

    expect(pids).to.have.property("size", 1);
    expect(await countAlive(results)).to.be.below(3);
  });

  it("return `unavailable` for a run if the process has ended", async () => {
    fixture.put("gone.js", "export default () => ({})");
    const settings = { timeoutMs: 15_000, maxMemoryMiB: 64, env: {}, onOutput: () => {} };
    const ended = new TransformProcess(settings);
    await ended.kill();
    const path = join(fixture.dir, "gone.js");
    const start = { dir: fixture.dir, path, name: undefined, input: serialize(INPUT) };

    const outcome = await ended.run({ start, label: "run" }, new AbortController().signal);

    expect(outcome).to.deep.equal({ kind: "unavailable", fault: "ended its process with SIGKILL" });
  });

  it("pass a copy of the request", async () => {
    fixture.put(
      "copy.js",
      "export default (input) => { input.payload.a = 2; delete input.headers; return { input }; }",
    );
    const payload = { a: 1, deep: [{ text: "ü🚂" }] };

    const value = await fixture.valueOf({ module: "copy.js", payload });

    expect(value).to.deep.equal({
      input: { payload: { ...payload, a: 2 }, url: INPUT.url, path: INPUT.path, query: INPUT.query },
    });
    expect(payload.a).to.equal(1);
    expect(INPUT.headers).to.deep.equal({ "x-a": "b" });
  });

  it("accept a body of 8 MiB", async () => {
    fixture.put("large.js", "export default ({ payload }) => ({ length: payload.text.length })");

    const value = await fixture.valueOf({ module: "large.js", payload: { text: "x".repeat(8 * 1024 * 1024) } });

    expect(value).to.deep.equal({ length: 8 * 1024 * 1024 });
  });

  it("reject an input that cannot be cloned", async () => {
    fixture.put("copied.js", "export default () => null");

    const refused = await fixture.run({ module: "copied.js", payload: { f: () => {} } }).catch((error) => error);

    expect(refused).to.be.an("error").with.property("message").that.includes("could not be cloned");
    expect(await fixture.run({ module: "copied.js" })).to.deep.equal({ kind: "dropped" });
  });

  it("keep the mapping's result for undefined and drop the request for null", async () => {
    expect(await fixture.runSource("keep.js", "export default async () => {}")).to.deep.equal({ kind: "kept" });
    expect(await fixture.runSource("drop.js", "export default async () => null")).to.deep.equal({ kind: "dropped" });
  });

  it("pass on only the configured environment variables", async () => {
    // Node itself passes NODE_V8_COVERAGE on while coverage is measured.
    const source = "export default () => ({ names: Object.keys(process.env).filter((n) => n !== 'NODE_V8_COVERAGE') })";
    fixture.put("env.js", source);

    expect(await fixture.valueOf({ module: "env.js" })).to.deep.equal({ names: ["PATH"] });
  });

  describe("fail as transform_failed", () => {
    const cases: [string, string, RegExp][] = [
      [
        "thrown.ts",
        "interface Body {\n  a?: { b: string };\n}\nexport default async ({ payload }: { payload: Body }) => {\n  await null;\n  return payload.a!.b.c;\n};",
        /^The transform thrown\.ts failed: TypeError at thrown\.ts:6:\d+: Cannot read properties of undefined \(reading 'b'\)\.$/,
      ],
      [
        "far.mjs",
        'import { fail } from "./lib/fail.cjs";\nexport default () => fail();',
        /^The transform far\.mjs failed: RangeError at lib\/fail\.cjs:2:9: of itself \(because of Error: the cause\)\.$/,
      ],
      [
        "syntax.mjs",
        "export default () => {\n  return {;\n};",
        /not be loaded: SyntaxError at syntax\.mjs:2:11: Unexpected/,
      ],
      [
        "absent.mjs",
        'import "./nowhere.mjs";',
        /could not be loaded: Error: Cannot find module 'nowhere\.mjs' imported from absent\.mjs\.$/,
      ],
      ["none.js", "export const other = 1;", /^The transform none\.js has no default export that is a function\.$/],
      ["array.js", "export default () => []", /returned an Array/],
      [
        "exit.js",
        "export default () => process.exit(3)",
        /^The transform exit\.js ended its own thread with exit code 3\.$/,
      ],
      [
        "stray.js",
        "export default () => {\n  Promise.reject(new Error('stray'));\n  return new Promise(() => {});\n}",
        /ended by an uncaught error: Error at stray\.js:2:18: stray\.$/,
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

    it("and name a missing export", async () => {
      const thrown = await thrownBy(fixture.runSource("names.js", "export default () => {}", { export: "nope" }));

      expect(thrown.message).to.equal("The transform names.js has no export nope that is a function.");
    });

    it("for a missing module and for a link that leads out of the folder", async () => {
      fixture.put("inside.js", "export default () => null");
      symlinkSync("inside.js", join(fixture.dir, "link.js"));
      expect(await fixture.run({ module: "link.js" })).to.deep.equal({ kind: "dropped" });
      unlinkSync(join(fixture.dir, "link.js"));
      symlinkSync(import.meta.filename, join(fixture.dir, "link.js"));

      const linkedOutside = await thrownBy(fixture.run({ module: "link.js" }));
      const absent = await thrownBy(fixture.run({ module: "absent.js" }));

      expect(linkedOutside).to.include({ code: "transform_failed" });
      expect(linkedOutside.message).to.match(/a link out of hooks\.transformsDir/);
      expect(absent).to.include({ code: "transform_failed" });
      expect(absent.message).to.match(/"absent.js" does not exist/);
    });
  });

  it("share nothing between runs, so that a changed file counts at once", async () => {
    fixture.put("fresh.js", "let count = 0;\nlet text = 1;\nexport default () => ({ count: ++count, text });\n");
    expect(await fixture.valueOf({ module: "fresh.js" })).to.deep.equal({ count: 1, text: 1 });

    appendFileSync(join(fixture.dir, "fresh.js"), "text = 2;\n");

    expect(await fixture.valueOf({ module: "fresh.js" })).to.deep.equal({ count: 1, text: 2 });
  });

  describe("pass output to onOutput", () => {
    const printedBy = (label: string) =>
      fixture.printed.filter((line) => line.startsWith(`${label} `)).map((line) => line.slice(label.length + 1));

    it("line by line, in order, with the run's label", async () => {
      fixture.put(
        "prints.js",
        `export default ({ payload }) => {
          console.log("one", { a: payload.a });
          console.error("two");
          process.stdout.write("th");
          process.stdout.write(Buffer.from("rée\\nfour").subarray(0, 2));
          process.stdout.write(Buffer.from("rée\\nfour").subarray(2));
          console.warn("five\\nsix");
        }`,
      );

      await Promise.all([
        fixture.run({ module: "prints.js", label: "run-1", payload: { a: 1 } }),
        fixture.run({ module: "prints.js", label: "run-2", payload: { a: 2 } }),
      ]);

      for (const a of [1, 2]) {
        expect(printedBy(`run-${a}`)).to.deep.equal([
          `stdout one { a: ${a} }`,
          "stderr two",
          "stdout thrée",
          "stderr five",
          "stderr six",
          "stdout four",
        ]);
      }
    });

    it("even if it is printed just before the process exits", async () => {
      await thrownBy(
        fixture.runSource(
          "last.js",
          'export default () => { console.log("last"); process.stdout.write("words"); process.exit(); }',
          { label: "exits" },
        ),
      );

      expect(printedBy("exits")).to.deep.equal(["stdout last", "stdout words"]);
    });

    it("with each of Node's own warnings in one line", async () => {
      await fixture.runSource(
        "warns.js",
        'export default () => { process.emitWarning("odd"); return new Promise(setImmediate).then(() => null) }',
        { label: "warns" },
      );

      expect(printedBy("warns")).to.deep.equal(["stderr Warning: odd"]);
    });
  });

  it("have a type that lists exactly the channels of the configuration", () => {
    const typed: Exclude<AgentOverrides["channel"], "last" | undefined>[] = [...CHANNELS];
    const configured: (typeof CHANNELS)[number][] = typed;

    expect(configured).to.deep.equal(CHANNELS);
  });
});
