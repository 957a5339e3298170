import { expect } from "chai";
import fc from "fast-check";
import { sanitizeText, stripEscapeSequences } from "../../../src/shared/text/sanitizeText.ts";
import { expectLinearTime } from "../../support/linearTime.ts";

describe("sanitizeText", () => {
  const CASES: [what: string, text: string, expected: string][] = [
    ["colours", "\x1b[32mDone\x1b[0m", "Done"],
    ["colours of 256 and 24 bits", "\x1b[38;5;208ma\x1b[48:2::1:2:3mb\x1b[m", "ab"],
    ["movements and modes", "\x1b[2J\x1b[1;1Ha\x1b[?25lb\x1b[>4;2mc\x1b[0 qd", "abcd"],
    ["8-bit control sequences", "\x9b32mDone\x9b0m", "Done"],
    ["a title that ends with BEL", "\x1b]0;title\x07a", "a"],
    ["a title that ends with ST", "\x1b]2;Ünïcode\x1b\\a\x9d0;t\x9cb", "ab"],
    ["links", "\x1b]8;;https://example.org/\x1b\\here\x1b]8;;\x1b\\!", "here!"],
    [
      "device control, privacy and application strings",
      "\x1bPq#0\n~\x1b\\a\x1b^x\x1b\\b\x1b_Gx\x1b\\c\x1bXy\x1b\\d",
      "abcd",
    ],
    ["8-bit strings", "\x90x\x9ca\x98y\x9cb\x9ez\x9cc\x9fz\x9cd", "abcd"],
    ["character sets, keypad and reset", "\x1b(Ba\x1b)0b\x1b=c\x1b>d\x1bce\x1b7\x1b8\x1b#8\x1b%Gf", "abcdef"],
    ["a sequence that is cut off", "a\x1b[3", "a"],
    ["a lone ESC", "a\x1b\nb\x1b", "a\nb"],
    ["only the introducer of a string without an end", "\x1b]0;title\n\nwords", "0;title\n\nwords"],
    ["brackets without ESC as they are", "[32m ]0; a[0m", "[32m ]0; a[0m"],
    ["line ends of all kinds", "a\r\nb\rc\vd\fe\x85f\x1cg\x1dh\x1ei", "a\nb\nc\nd\ne\nf\ng\nh\ni"],
    ["no control character but tabs and line ends", "\0\x01\x08\t\x0e\x19\x1f\x7f\x80\x84\x86\x8fa", "\ta"],
    ["half a surrogate pair", "a\ud83db\udc4d", "a\ufffdb\ufffd"],
  ];
  for (const [what, text, expected] of CASES) {
    it(`sanitizes ${what}`, () => expect(sanitizeText(text)).to.equal(expected));
  }

  it("leaves no control character but tabs and line ends in any text, and changes nothing a second time", () => {
    const unit = fc.oneof(
      fc.string({ unit: "binary", maxLength: 1 }),
      fc.constantFrom(..."\x1b\x9b\x9d\x9c\x07[]\\;m0\r\n\f"),
    );
    fc.assert(
      fc.property(fc.string({ unit }), (text) => {
        const sanitized = sanitizeText(text);

        expect(sanitized).not.to.match(/[^\P{Cc}\n\t]/u);
        expect(sanitizeText(sanitized)).to.equal(sanitized);
      }),
    );
  });

  it("takes linear time for sequences that never end", () => {
    for (const unit of ["\x1b]", "\x9d", "\x9dx", "\x1b[0", "\x1b[ ", "\x1b(", "\x1bPa\n"])
      expectLinearTime((times) => stripEscapeSequences(unit.repeat(times)), 64_000, JSON.stringify(unit));
    expectLinearTime((length) => stripEscapeSequences(`\x1b]${"x".repeat(length)}`), 256_000);
  });
});
