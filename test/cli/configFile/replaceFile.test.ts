import { execFileSync } from "node:child_process";
import {
  closeSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { writePrivateFile } from "../../../src/cli/configFile/privateFile.ts";
import { replaceFile } from "../../../src/cli/configFile/replaceFile.ts";

describe("the writers of the configuration and the credentials", () => {
  let folder: string;
  let file: string;
  let link: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-files-"));
    [file, link] = [join(folder, "file"), join(folder, "link")];
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const replacePrivate = (path: string, text: string) => writePrivateFile(path, text, { replace: true });

  for (const [name, write] of Object.entries({ replaceFile, replacePrivate })) {
    it(`${name}: replaces the target of a symbolic link`, () => {
      writeFileSync(file, "old", { mode: 0o600 });
      symlinkSync("file", link);
      write(link, "new");

      expect(readFileSync(file, "utf8")).to.equal("new");
      expect([lstatSync(link).isSymbolicLink(), statSync(file).mode & 0o777]).to.deep.equal([true, 0o600]);
      expect(readdirSync(folder)).to.deep.equal(["file", "link"]);
    });
  }

  it("replaceFile: refuses a pipe, which keeps no text", () => {
    execFileSync("mkfifo", [file]);
    symlinkSync("file", link);

    for (const path of [file, link]) expect(() => replaceFile(path, "new")).to.throw("is not a file");
    expect(lstatSync(file).isFIFO()).to.equal(true);
    expect(readdirSync(folder)).to.deep.equal(["file", "link"]);
  });

  it("replacePrivate: writes into a pipe as it is", () => {
    execFileSync("mkfifo", [file]);
    symlinkSync("file", link);
    const reader = openSync(file, "r+"); // Linux opens a pipe for both without a wait
    try {
      for (const path of [file, link]) replacePrivate(path, "new");
      const bytes = Buffer.alloc(16);

      expect(bytes.toString("utf8", 0, readSync(reader, bytes))).to.equal("newnew");
    } finally {
      closeSync(reader);
    }
    expect(lstatSync(file).isFIFO()).to.equal(true);
    expect(readdirSync(folder)).to.deep.equal(["file", "link"]);
  });

  it("replacePrivate: writes a new file at the end of a link", () => {
    symlinkSync("file", link);
    replacePrivate(link, "new");

    expect(readFileSync(file, "utf8")).to.equal("new");
    expect(lstatSync(link).isSymbolicLink()).to.equal(true);
  });
});
