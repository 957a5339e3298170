import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);

const SPEC = "test/fixtures/tiers/failsOnce.ts";

describe("script/test.mjs", () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-tiers-"));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  /** Runs the spec, which fails once for each marker, and returns the closing lines. */
  async function testSpec(marker: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { MOCHA_WORKER_ID: _, ...inherited } = process.env; // It is not one of this run's processes.
    const variables = { ...inherited, ...env, TIERS_MARKER: join(dir, marker) };
    const { code = 0, stdout } = await run(process.execPath, ["script/test.mjs", ...args, SPEC], {
      env: variables,
    }).catch((error) => error);
    const lines = stripVTControlCharacters(stdout).split("\n");
    return { code, closing: lines.filter((line) => /^flaky: |^ {2}\d+ (passing|failing)\b/.test(line)) };
  }
  const withoutTime = (line: string) => line.replace(/ \(.*\)$/, "").trim();

  it("repeats a failing file of the slow tier once, and counts it as passed if it passes then", async () => {
    const { code, closing } = await testSpec("slow", ["--slow"]);

    expect(closing.map(withoutTime)).to.deep.equal([`flaky: ${SPEC}`, "3 passing"]);
    expect(code).to.equal(0);
  });

  it("counts only the repetition of a file that fails again", async () => {
    const { code, closing } = await testSpec("again", ["--slow"], { TIERS_ALWAYS: "1" });

    expect(closing.map(withoutTime)).to.deep.equal(["2 passing", "1 failing"]);
    expect(code).to.equal(1);
  });

  it("repeats nothing in the first tier", async () => {
    const { code, closing } = await testSpec("first", []);

    expect(closing.map(withoutTime)).to.deep.equal(["2 passing", "1 failing"]);
    expect(code).to.equal(1);
  });
});
