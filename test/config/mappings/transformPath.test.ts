import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { resolveTransform } from "../../../src/config/mappings/transformPath.ts";

describe("resolveTransform", () => {
  let top: string;
  let dir: string;
  before(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-path-")));
    dir = join(top, "transforms");
    mkdirSync(join(dir, "lib"), { recursive: true });
    mkdirSync(join(top, "transforms-more"));
    for (const file of ["a.js", "..b.ts", "lib/a.mjs", "lib/a.cjs", "lib/a.mts", "a.json", "a.cts", "plain"]) {
      writeFileSync(join(dir, file), "");
    }
    for (const file of ["outside.js", "transforms-more/a.js"]) writeFileSync(join(top, file), "");
    const links: Record<string, string> = {
      "transforms/within.js": "lib/a.mjs",
      "transforms/out.js": "../outside.js",
      "transforms/way": "..",
      "transforms/broken.js": "nowhere.js",
      "transforms/loop.js": "loop.js",
      "transforms/renamed.js": "a.json",
      linked: "transforms",
    };
    for (const [link, target] of Object.entries(links)) symlinkSync(target, join(top, link));
  });
  after(() => rmSync(top, { recursive: true }));

  const found: [string, string][] = [
    ["a.js", "a.js"],
    ["./a.js", "a.js"],
    ["lib/../a.js", "a.js"],
    ["..b.ts", "..b.ts"],
    ["lib/a.mjs", "lib/a.mjs"],
    ["lib/a.cjs", "lib/a.cjs"],
    ["lib/a.mts", "lib/a.mts"],
    ["../transforms/a.js", "a.js"],
    ["within.js", "lib/a.mjs"],
    ["way/transforms/a.js", "a.js"],
  ];
  for (const [module, file] of found) {
    it(`finds ${module}`, () => {
      expect(resolveTransform(dir, module)).to.deep.equal({ ok: true, path: join(dir, file) });
    });
  }

  it("finds absolute paths inside the folder, and a folder that is a symbolic link", () => {
    const expected = { ok: true, path: join(dir, "a.js") };

    expect(resolveTransform(dir, join(dir, "a.js"))).to.deep.equal(expected);
    expect(resolveTransform(join(top, "linked"), "a.js")).to.deep.equal(expected);
    expect(resolveTransform(join(top, "linked"), join(top, "linked/a.js"))).to.deep.equal(expected);
    expect(resolveTransform(join(top, "linked"), join(dir, "a.js"))).to.deep.equal(expected);
  });

  const refused: [string, string][] = [
    ["../outside.js", 'The transform module "../outside.js" lies outside hooks.transformsDir.'],
    ["../transforms-more/a.js", 'The transform module "../transforms-more/a.js" lies outside hooks.transformsDir.'],
    ["../nowhere.js", 'The transform module "../nowhere.js" lies outside hooks.transformsDir.'],
    ["/etc/hostname", 'The transform module "/etc/hostname" lies outside hooks.transformsDir.'],
    ["out.js", 'The transform module "out.js" is a link out of hooks.transformsDir.'],
    ["way/outside.js", 'The transform module "way/outside.js" is a link out of hooks.transformsDir.'],
    ["lib", 'The transform module "lib" is a directory: name a file in it.'],
    ["", 'The transform module "" is a directory: name a file in it.'],
    ["a.json", 'The transform module "a.json" must end in one of .js, .mjs, .cjs, .ts, .mts.'],
    ["a.cts", 'The transform module "a.cts" must end in one of .js, .mjs, .cjs, .ts, .mts.'],
    ["plain", 'The transform module "plain" must end in one of .js, .mjs, .cjs, .ts, .mts.'],
    ["renamed.js", 'The transform module "renamed.js" must end in one of .js, .mjs, .cjs, .ts, .mts.'],
    ["nowhere.js", 'The transform module "nowhere.js" does not exist in hooks.transformsDir.'],
    ["a.js/b.js", 'The transform module "a.js/b.js" does not exist in hooks.transformsDir.'],
    ["broken.js", 'The transform module "broken.js" does not exist in hooks.transformsDir.'],
    ["loop.js", 'The transform module "loop.js" cannot be looked up (ELOOP) in hooks.transformsDir.'],
    [
      "a\0.js",
      'The transform module "a\\u0000.js" cannot be looked up (ERR_INVALID_ARG_VALUE) in hooks.transformsDir.',
    ],
  ];
  for (const [module, reason] of refused) {
    it(`refuses ${JSON.stringify(module)}`, () => {
      expect(resolveTransform(dir, module)).to.deep.equal({ ok: false, reason });
    });
  }

  it("reports a missing folder", () => {
    const reason = `hooks.transformsDir does not exist: ${join(top, "nowhere")}`;

    expect(resolveTransform(join(top, "nowhere"), "a.js")).to.deep.equal({ ok: false, reason });
  });
});
