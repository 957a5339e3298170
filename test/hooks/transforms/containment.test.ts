import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { hasExited, TransformFixture, thrownBy } from "./transformFixture.ts";

const OTHER = "export default () => ({ other: true })";
const HANGS = 'export default () => { console.log("pid", process.pid); for (;;); }';

/** A thread in an endless loop is ended by its processor time, of which a busy machine gives it little. */
const STARVED_MS = 150_000;

describe("A faulty transform", function () {
  this.timeout(2 * STARVED_MS);
  let fixture: TransformFixture;
  beforeEach(() => {
    fixture = new TransformFixture({ timeoutMs: 45_000 });
  });
  afterEach(() => fixture.close());
  /** Waits for the process id that a run with this label prints first. */
  const pidOf = async (label: string) =>
    Number((await fixture.lines(new RegExp(`^${label} stdout pid `), 1))[0]?.split(" ").at(-1));

  it("is ended alone when it uses too much memory", async () => {
    fixture.put("other.js", OTHER);
    expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal({ other: true });

    const hog = "const b = Buffer.alloc(1e9, 1); for (;;) b[0]++;";
    const thrown = await thrownBy(fixture.runSource("hog.js", `export default async () => { ${hog} }`));

    expect(thrown).to.include({ code: "transform_failed" });
    expect(thrown.message).to.equal("The transform hog.js used more memory than 64 MiB.");
    expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal({ other: true });
  });

  it("is ended at the time limit", async () => {
    const short = new TransformFixture({ timeoutMs: 250 });

    const thrown = await thrownBy(short.runSource("hangs.mjs", HANGS).finally(() => short.close()));

    expect(thrown).to.include({ code: "transform_failed" });
    expect(thrown.message).to.equal("The transform hangs.mjs took longer than hooks.transformTimeoutSeconds (0.25 s).");
  });

  it("is ended when the signal is aborted, and the run rejects with the signal's reason", async () => {
    const stop = new AbortController();
    const running = thrownBy(fixture.runSource("hangs.mjs", HANGS, { signal: stop.signal }));
    const pid = await pidOf("run");
    const reason = new AppError("cancelled");

    stop.abort(reason);

    expect(await running).to.equal(reason);
    expect(await hasExited(pid)).to.equal(true);
  });

  it("is not started if the signal was aborted before", async () => {
    const reason = new AppError("cancelled");

    const thrown = await thrownBy(fixture.runSource("hangs.mjs", HANGS, { signal: AbortSignal.abort(reason) }));

    expect(thrown).to.equal(reason);
    expect(fixture.printed).to.deep.equal([]);
  });

  it("that ends the whole process ends no other run", async () => {
    fixture.put(
      "waits.js",
      "export default () => new Promise((resolve) => setTimeout(resolve, 500, { waited: true }));",
    );
    // The thread has reported its start when the process ends; a process that ends before that is tried again.
    fixture.put(
      "kills.js",
      "export default () => void setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300) ?? new Promise(() => {});",
    );
    const waiting = fixture.valueOf({ module: "waits.js" });

    const thrown = await thrownBy(fixture.run({ module: "kills.js" }));

    expect(thrown).to.include({ code: "transform_failed" });
    expect(thrown.message).to.equal("The transform kills.js ended its process with SIGKILL.");
    expect(await waiting).to.deep.equal({ waited: true });
  });

  it("does not block the next run by an endless loop after it has returned", async () => {
    fixture.put("busy.js", "export default () => { setImmediate(() => { for (;;); }); return null; }");
    await fixture.run({ module: "busy.js" });

    expect(await fixture.run({ module: "busy.js" })).to.deep.equal({ kind: "dropped" });
  });

  it("that replaces built-in functions affects no other run", async () => {
    fixture.put(
      "other.js",
      "export default ({ payload }) => ({ text: JSON.stringify(payload), list: [1].map(String) })",
    );
    const expected = { text: '{"a":1}', list: ["1"] };
    expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal(expected);
    await fixture.runSource(
      "replaces.js",
      `export default () => {
        JSON.stringify = () => "gotcha";
        Array.prototype.map = () => { throw new Error("gotcha") };
        globalThis.setTimeout = undefined;
        process.stdout.write = () => {};
      }`,
    );

    expect(await fixture.valueOf({ module: "other.js" })).to.deep.equal(expected);
    expect(JSON.stringify([1].map(String))).to.equal('["1"]');
  });

  it("is ended together with its child processes", async () => {
    const short = new TransformFixture({ timeoutMs: 1_000 });
    const running = thrownBy(
      short.runSource(
        "starts.mjs",
        `import { spawn } from "node:child_process";
        export default () => {
          const child = spawn("sleep", ["1000"]);
          console.log("pid", child.pid);
          return new Promise(() => {});
        }`,
      ),
    );
    const [line] = await short.lines(/stdout pid/, 1);

    expect((await running).message).to.include("transformTimeoutSeconds");
    await eventually(() => hasExited(Number(line?.split(" ").at(-1))), "the child to be gone");
    await short.close();
  });

  it("does not outlive a killed service", async () => {
    fixture.put("hangs.js", HANGS);
    const service = spawn(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `import { Transforms } from "./src/hooks/transforms/transforms.ts";
        const onOutput = (label, stream, line) => console.log(line);
        const transforms = new Transforms({
          dir: ${JSON.stringify(fixture.dir)}, timeoutMs: 60_000, maxMemoryMiB: 64, maxThreads: 1, env: {}, onOutput });
        await transforms.run({ module: "hangs.js", label: "", input: {} }, new AbortController().signal);`,
      ],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [line] = await once(createInterface(service.stdout), "line");

    service.kill("SIGKILL");

    await eventually(() => hasExited(Number(line.split(" ")[1])), "the thread to be gone");
  });
});

describe("The threads of transforms", () => {
  const open: TransformFixture[] = [];
  const fixtureOf = (...options: ConstructorParameters<typeof TransformFixture>) => {
    const fixture = new TransformFixture(...options);
    open.push(fixture);
    return fixture;
  };
  afterEach(() => Promise.all(open.splice(0).map((fixture) => fixture.close())));

  it("are ended by close, which rejects running, waiting and later runs", async () => {
    const openProcesses = () => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
    const before = openProcesses();
    const fixture = fixtureOf({ maxThreads: 2 });
    fixture.put("hangs.js", HANGS);
    await fixture.runSource("idle.js", 'export default () => { console.log("pid", process.pid) }');
    const waiting = ["one", "two", "three"].map((label) => thrownBy(fixture.run({ module: "hangs.js", label })));
    const lines = await fixture.lines(/stdout pid/, 2);

    await fixture.transforms.close();

    const later = thrownBy(fixture.run({ module: "hangs.js" }));
    for (const { code } of await Promise.all([...waiting, later])) expect(code).to.equal("unavailable");
    for (const line of lines) expect(await hasExited(Number(line.split(" ").at(-1)))).to.equal(true);
    await eventually(() => openProcesses() <= before, "nothing to be left open");
  });
});
