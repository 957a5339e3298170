import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { howToBuild, ownCommand } from "../../../src/shared/process/ownCommands.ts";

const SOURCES = globSync("src/**/*.{ts,tsx,mjs}").filter(
  (path) => path !== join("src", "shared", "process", "ownCommands.ts"),
);

/** Returns the lines that are not comments. */
const codeOf = (text: string) => text.split("\n").filter((line) => !/^\s*(\/?\*|\/\/)/.test(line));

describe("ownCommand", () => {
  it("returns the npm scripts of a clone, which the tests run in", () => {
    expect([ownCommand("start"), ownCommand("release")]).to.deep.equal(["npm start", "npm run release"]);
    expect(howToBuild()).to.equal("run `npm run build`");
  });

  it("returns commands that need no clone for the npm package", () => {
    const commands = [ownCommand("start", true), ownCommand("release", true)];

    expect(commands).to.deep.equal(["npx signalbox start", "npx signalbox release"]);
    expect(howToBuild(true)).to.equal("install the package `signalbox` again");
  });

  it("is the only place that names npm scripts to users", () => {
    const named = SOURCES.flatMap((path) =>
      codeOf(readFileSync(path, "utf8"))
        .filter((line) => /\bnpm (start|run)\b/.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );

    expect(SOURCES).to.include(join("src", "cli", "service.ts"));
    expect(named).to.deep.equal([]);
  });
});
