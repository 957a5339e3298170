import { expect } from "chai";
import fc from "fast-check";
import { MAX_WAIT_SECONDS, waitSeconds } from "../../../src/api/wait.ts";

describe("waitSeconds", () => {
  const cases: [header: string, seconds: number][] = [
    ["", 0],
    ["wait=30", 30],
    ["wait=0", 0],
    ["wait=60", 60],
    ["wait=61", 60],
    ["wait=99999999999999999999", 60],
    ["Wait = 5", 5],
    ['wait="7"', 7],
    ["wait=8; foo=bar", 8],
    ["respond-async, wait=9", 9],
    ["return=minimal,wait=10,handling=lenient", 10],
    ["wait=11, wait=12", 11],
    ["wait=soon, wait=12", 0],
    ["wait", 0],
    ["wait=", 0],
    ["wait=-1", 0],
    ["wait=1.5", 0],
    ["wait=1e1", 0],
    ["wait=13s", 0],
    ["await=5", 0],
    ['foo="a, wait=5"', 0],
    ['foo="wait=5", wait=6', 6],
    [",,;;==", 0],
  ];
  for (const [header, seconds] of cases) {
    it(`reads ${seconds} from ${JSON.stringify(header)}`, () => {
      expect(waitSeconds(header)).to.equal(seconds);
    });
  }

  it("returns a number of seconds within the limit for any header", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[wait=0-9",; ]*$/)), (header) => {
        const seconds = waitSeconds(header);
        return Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_WAIT_SECONDS;
      }),
    );
  });
});
