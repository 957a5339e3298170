import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";

/** Maximum recorded time of a file of the first tier. What takes longer by nature belongs to test/slow. */
const MAX_SECONDS = 10;

const isSlow = (file: string) => file.startsWith("test/slow/");

describe("test/times.json", () => {
  const times: Record<string, number> = JSON.parse(readFileSync("test/times.json", "utf8"));
  const recorded = Object.entries(times).filter(([file]) => existsSync(file));

  it("has no file of the first tier above 10 seconds", () => {
    const tooLong = recorded.filter(([file, seconds]) => !isSlow(file) && seconds > MAX_SECONDS);

    expect(recorded).to.have.length.above(100);
    expect(tooLong).to.deep.equal([]);
  });
});
