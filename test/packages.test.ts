import { readFileSync } from "node:fs";
import { expect } from "chai";

interface LockEntry {
  readonly resolved?: string;
  readonly optionalDependencies?: Record<string, string>;
}

describe("package-lock.json", () => {
  const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, LockEntry> };

  it("has the builds for every system, so that npm ci takes it everywhere (script/completeLock.mjs)", () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
      ),
    );

    expect(missing).to.deep.equal([]);
  });

  it("names no registry", () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith("http"))).to.deep.equal([]);
  });
});
