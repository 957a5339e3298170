import { expect } from "chai";
import fc from "fast-check";
import stringWidth from "string-width";
import { cleanJson, cleanLine, cleanText } from "../../../src/cli/terminal/cleanText.ts";
import { cut } from "../../../src/cli/terminal/columns.ts";
import { tableLines } from "../../../src/cli/terminal/table.ts";
import { rowLines, section } from "../../../src/cli/terminal/words.ts";

/** Any text, often with characters that a terminal interprets. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "\x1b[31m",
        "\x1b]0;title\x07",
        "\x9b2J",
        "\x1bP$q\x1b\\",
        "\r",
        "\b\b",
        "\x7f",
        "\u202e",
        "\u2066",
      ),
      fc.constantFrom("漢字", "👨‍👩‍👧", "é", "\ud800", "\t", "\n", "\u2028", "\u0085"),
    ),
  )
  .map((parts) => parts.join(""));

/** Control characters except tab and line feed, single surrogates, and characters that change the direction of text. */
const OBEYED = /[^\P{Cc}\t\n]|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u;

describe("Untrusted texts on a terminal", () => {
  // the tests check texts only, so the colours of the terminal that runs them are turned off
  const { NO_COLOR, FORCE_COLOR } = process.env;
  before(() => {
    process.env.NO_COLOR = "1";
    delete process.env.FORCE_COLOR;
  });
  after(() => {
    delete process.env.NO_COLOR;
    Object.assign(process.env, { ...(NO_COLOR && { NO_COLOR }), ...(FORCE_COLOR && { FORCE_COLOR }) });
  });

  it("cleanText removes everything that a terminal interprets", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(cleanText(text)).to.not.match(OBEYED);
      }),
    );
  });

  it("cleanText does not change other characters", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(cleanText(text)).to.equal(text);
      }),
    );
  });

  it("cleanLine returns one line", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(cleanLine(text)).to.not.match(/[\n\t\u2028\u2029]|\p{Cc}/u);
      }),
    );
  });

  it("cleanJson returns the same value on one line, without characters that a terminal interprets", () => {
    fc.assert(
      fc.property(hostile, fc.jsonValue(), (text, value) => {
        const json = cleanJson({ text, value });

        expect(json).to.not.match(/\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/u);
        expect(JSON.parse(json)).to.deep.equal(JSON.parse(JSON.stringify({ text, value })));
      }),
    );
  });

  it("tableLines returns one line for each row, no wider than the terminal if its columns may be truncated", () => {
    const columns = [
      { title: "A", of: ([a]: string[]) => a ?? "", least: 3 },
      { title: "B", of: ([, b]: string[]) => b ?? "", least: 0 },
    ];
    fc.assert(
      fc.property(fc.array(fc.tuple(hostile, hostile)), fc.integer({ min: 10, max: 60 }), (rows, width) => {
        const lines = tableLines(rows, columns, { width });

        expect(lines).to.have.length(rows.length + 1);
        expect(lines.join("\n")).to.not.match(OBEYED);
        for (const line of lines) expect(stringWidth(line)).to.be.at.most(width);
      }),
    );
  });

  const ids = [
    { title: "ID", of: ([id]: string[]) => id ?? "" },
    { title: "NAME", of: ([, name]: string[]) => name ?? "", least: 4 },
  ];

  it("tableLines truncates a long cell where there is no terminal, unless the table is wide", () => {
    const rows = [["7", "n".repeat(1_024)]];

    expect(tableLines(rows, ids)[1]).to.equal(`7   ${"n".repeat(99)}…`);
    expect(tableLines(rows, ids, { wide: true })[1]).to.equal(`7   ${"n".repeat(1_024)}`);
    expect(tableLines([["7".repeat(256), "n"]], ids)[1]).to.equal(`${"7".repeat(256)}  n`);
  });

  it("rowLines and section return nothing that a terminal interprets", () => {
    fc.assert(
      fc.property(hostile, fc.jsonValue(), (text, value) => {
        const lines = [...rowLines([["Name", text]]), ...section("Reply", text), ...section("Input", { text, value })];

        expect(lines.join("\n")).to.not.match(OBEYED);
      }),
    );
  });

  const cuts = [
    ["short", 5, "short"],
    ["too long", 5, "too …"],
    ["漢字漢字", 5, "漢字…"],
    ["漢字漢字", 4, "漢…"],
    ["👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"],
    ["anything", 0, ""],
  ] as const;
  for (const [text, width, shown] of cuts) {
    it(`cut shortens ${text} to ${shown || "nothing"} in ${width} columns`, () => {
      expect(cut(text, width)).to.equal(shown);
    });
  }
});
