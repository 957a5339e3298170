import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readBuiltFiles } from "../../../src/api/pages/builtFiles.ts";

describe("the files of a build", () => {
  it("are read once per process, so that a reload of the configuration serves no mixture of two builds", () => {
    const directory = mkdtempSync(join(tmpdir(), "signalbox-built-"));
    writeFileSync(join(directory, "index.html"), "first");
    const before = readBuiltFiles(directory);
    writeFileSync(join(directory, "index.html"), "second");

    const after = readBuiltFiles(directory);
    rmSync(directory, { recursive: true });

    expect(String(before.get("index.html")?.bodies.identity)).to.equal("first");
    expect(after).to.equal(before);
  });
});
