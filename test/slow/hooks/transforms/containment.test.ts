import { expect } from "chai";
import { AppError } from "../../../../src/shared/errors.ts";
import { TransformFixture, thrownBy } from "../../../hooks/transforms/transformFixture.ts";

const OTHER = "export default () => ({ other: true })";
const HANGS = 'export default () => { console.log("pid", process.pid); for (;;); }';

/** A thread in an endless loop is ended by its processor time, of which a busy machine gives it little. */
const STARVED_MS = 150_000;

describe("A faulty transform, in each way", function () {
  this.timeout(2 * STARVED_MS);
  let fixture: TransformFixture;
  beforeEach(() => {
    fixture = new TransformFixture({ timeoutMs: STARVED_MS });
  });
  afterEach(() => fixture.close());

  const hogs: [string, string][] = [
    ["many arrays", "const a = []; for (;;) a.push(new Array(1000).fill(1));"],
    ["one array that grows", "const a = []; for (;;) a.push(1);"],
    ["one large array", "new Array(5e7).fill(0).map((_, i) => ({ i }));"],
    ["many objects", "const a = []; for (;;) a.push({ a: 1 });"],
    ["a map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, i);"],
    ["an array larger than V8 can make", '"x".repeat(5e8).split("");'],
    ["strings", 'const a = []; for (;;) a.push("x".repeat(1e6) + Math.random());'],
    ["many Buffers", "const a = []; for (;;) a.push(Buffer.alloc(1e6, 1));"],
    ["many ArrayBuffers that it never touches", "const a = []; for (;;) a.push(new ArrayBuffer(1e6));"],
    ["Buffers kept between pauses", "const a = []; for (;;) { a.push(Buffer.alloc(1e6, 1)); await null; }"],
  ];
  for (const [title, source] of hogs) {
    it(`is ended alone when it uses too much memory with ${title}`, async () => {
      fixture.put("other.js", OTHER);
      expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal({ other: true });

      const thrown = await thrownBy(fixture.runSource("hog.js", `export default async () => { ${source} }`));

      expect(thrown).to.include({ code: "transform_failed" });
      expect(thrown.message).to.equal("The transform hog.js used more memory than 64 MiB.");
      expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal({ other: true });
    });
  }

  const hangs: [string, string][] = [
    ["a promise that never settles", "export default () => new Promise(() => {})"],
    ["an endless loop while it is loaded", "for (;;);"],
    ["an endless loop that prints", 'export default () => { for (;;) console.log("x"); }'],
    [
      "a call that waits",
      'import { execSync } from "node:child_process"; export default () => execSync("sleep 1000");',
    ],
  ];
  for (const [title, source] of hangs) {
    it(`is ended at the time limit in ${title}`, async () => {
      const short = new TransformFixture({ timeoutMs: 250 });

      const thrown = await thrownBy(short.runSource("hangs.mjs", source).finally(() => short.close()));

      expect(thrown).to.include({ code: "transform_failed" });
      expect(thrown.message).to.equal(
        "The transform hangs.mjs took longer than hooks.transformTimeoutSeconds (0.25 s).",
      );
    });
  }

  const afterwards: [string, string][] = [
    ["an error in a timer", "setImmediate(() => { throw new Error('late') });"],
    ["a rejected promise", "void Promise.reject(new Error('stray'));"],
    ["process.exit", "setImmediate(() => process.exit(3));"],
  ];
  for (const [title, source] of afterwards) {
    it(`fails no run by ${title} after it has returned`, async () => {
      fixture.put("late.js", `export default () => { ${source} return null; }`);

      for (let run = 1; run <= 3; run++) {
        expect(await fixture.run({ module: "late.js" })).to.deep.equal({ kind: "dropped" });
      }
    });
  }

  it("does not block other modules, however often it hangs", async () => {
    fixture.put("hangs.js", HANGS);
    fixture.put("other.js", OTHER);
    const stop = new AbortController();
    const hanging = Array.from({ length: 20 }, (_, i) =>
      thrownBy(fixture.run({ module: "hangs.js", label: `hung-${i}`, signal: stop.signal })),
    );
    await fixture.lines(/stdout pid/, 2);

    for (let count = 1; count <= 5; count++)
      expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal({ other: true });

    expect(fixture.printed, "it occupies half of the threads").to.have.length(2);
    stop.abort(new AppError("cancelled"));
    for (const thrown of await Promise.all(hanging)) expect(thrown.code).to.equal("cancelled");
  });
});

describe("The threads of many transforms", () => {
  const open: TransformFixture[] = [];
  const fixtureOf = (...options: ConstructorParameters<typeof TransformFixture>) => {
    const fixture = new TransformFixture(...options);
    open.push(fixture);
    return fixture;
  };
  afterEach(() => Promise.all(open.splice(0).map((fixture) => fixture.close())));

  it("serve many concurrent runs, each with its own result", async () => {
    const fixture = fixtureOf();
    fixture.put(
      "echo.js",
      "export default async ({ payload }) => { await new Promise(setImmediate); return payload; }",
    );
    const payloads = Array.from({ length: 50 }, (_, n) => ({ n }));

    expect(await Promise.all(payloads.map((payload) => fixture.valueOf({ module: "echo.js", payload })))).to.deep.equal(
      payloads,
    );
  });
});
