import { expect } from "chai";
import { OutputLog } from "../../../../../src/cli/commands/jobs/run/outputLog.ts";

describe("the log of a program's output", () => {
  it("has whole lines of both streams, in the order in which they end", () => {
    const log = new OutputLog();

    log.add("stdout", Buffer.from("one\ntw"));
    log.add("stderr", Buffer.from("warning\n"));
    const first = log.take();
    log.add("stdout", Buffer.from("o\nth"));

    expect(first).to.equal("one\nwarning\n");
    expect(log.take()).to.equal("two\n");
    expect(log.take(true)).to.equal("th\n");
  });

  it("keeps the end of fast output, and says how much is missing", () => {
    const log = new OutputLog();
    for (let i = 0; i < 10; i++) log.add("stdout", Buffer.from(`${"x".repeat(63)}\n`.repeat(1_024)));
    log.add("stdout", Buffer.from("last\n"));

    const text = log.take();

    expect(text).to.match(/^\[\d+ bytes of output are left out\]\n/);
    expect(text).to.match(/\nlast\n$/);
    expect(text.length).to.be.within(60_000, 62_000);
    expect(log.take()).to.equal("");
  });
});
