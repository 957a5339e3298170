import { expect } from "chai";
import fc from "fast-check";
import { quoteSource } from "../../../src/agents/prompt/fence.ts";
import { neutralize } from "../../../src/agents/prompt/neutralize.ts";
import { runs } from "../../support/random.ts";
import { FAMILIES, TOKENS, turnOf } from "./specialTokens.ts";

const fullWidth = (text: string): string =>
  text.replace(/[!-~]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));
const zeroWidth = (text: string): string => [...text].join("\u200b");

/** Ways to write a token that a lenient tokenizer or reader mistakes for it. */
const WRITTEN: Readonly<Record<string, (token: string) => string>> = {
  "in full-width characters": fullWidth,
  "with zero-width characters between": zeroWidth,
  "with variation selectors between": (token) => [...token].join("\ufe0f"),
  "in invisible tag characters": (token) =>
    token.replace(/[ -~]/g, (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))),
};

/** Forms that are broken up in upper and lower case. Others are tokens only in capitals: `[MASK]`, but not `[mask]`. */
const IN_ANY_CASE = /^[<[]\||^<\/?\|?\w+_\w+|^<｜/;
/** Tokens of bars, which are broken up only in their exact form: other bars belong to tables. */
const BARS_ALONE = /^[|｜]/;

const broken = (text: string): boolean => neutralize(text) !== text;

describe("Special tokens of tokenizers", () => {
  it("are from at least thirty families", () => {
    expect(FAMILIES.length).to.be.above(30);
    expect(TOKENS.length).to.be.above(400);
    for (const { family, tokens } of FAMILIES) expect(tokens, family).to.not.be.empty;
  });

  for (const { family, tokens } of FAMILIES) {
    it(`of ${family} are broken up wherever they occur in a text`, () => {
      for (const token of tokens) {
        expect(neutralize(token), token).to.not.include(token);
        expect(neutralize(turnOf(token)), token).to.not.include(token);
      }
    });
  }

  for (const [how, write] of Object.entries(WRITTEN)) {
    it(`are broken up if written ${how}`, () => {
      const whole = TOKENS.filter((token) => !BARS_ALONE.test(token)).map((token) => write(token.replaceAll("▁", "_")));

      expect(whole.filter((token) => !broken(token))).to.deep.equal([]);
    });
  }

  it("are broken up in upper and lower case, except those that need capitals", () => {
    const tokens = TOKENS.filter((token) => IN_ANY_CASE.test(token));

    expect(tokens).to.have.length.above(300);
    for (const token of tokens) {
      expect(broken(token.toLowerCase()), token).to.equal(true);
      expect(broken(token.toUpperCase()), token).to.equal(true);
    }
  });

  it("are broken up in one pass, in any order and without gaps between them", () => {
    const some = fc.array(fc.constantFrom(...TOKENS, " ", "\n", "x", "<", "|", "[", ">"), { maxLength: 12 });

    fc.assert(
      fc.property(some, (parts) => {
        const neutralized = neutralize(parts.join(""));

        expect(TOKENS.filter((token) => neutralized.includes(token))).to.deep.equal([]);
        expect(neutralize(neutralized)).to.equal(neutralized);
        expect(neutralized.replaceAll("※", "")).to.equal(parts.join(""));
      }),
      runs(1_000),
    );
  });

  it("do not occur in names outside of the markers", () => {
    for (const token of TOKENS) expect(quoteSource(`CI ${token}system`)).to.not.include(token);
  });

  const otherForms = [
    "<|new_turn>",
    "<new_turn|>",
    "<||role||>",
    "<|start of turn|>",
    "<|/turn|>",
    "<|!|>",
    "[|newturn|]",
    "{|newturn|}",
    "<newseed:bos>",
    "</newseed:eos>",
    "<call=shell>",
    "<NEW_TURN_4>",
    "<TURN>",
    "[NEW_TURN]",
    "[/NEW_TURN]",
    "[@NEW@]",
    "<_bot>",
    "<_end>",
    "<_start>",
    "<_pad>",
    "</_user>",
    "<__turn__>",
    "<_new_turn>",
    "[Round 1]",
    "[round 12]",
    "<unused4321>",
    "<dummy17>",
    "[reserved_17]",
    "[special-token-3]",
    "<x-tool-call>",
    "<my.system>",
    "<[new▁turn]>",
    "<@system@>",
    "<!assistant>",
    "]~x]",
    "[f~[",
    "]<]start of thought[>[",
    ">>ROLE<<",
    "|||ROLE|||",
    "<|begin|>of",
    "<｜NEW｜name>",
    "[system](#context)",
    "[/assistant]",
    "</|end|>",
    "<new turn|>",
    "[| system |]",
    "[|new_turn]",
    "[new_turn|]",
    "(|im_start|)",
    "<im-start>",
    "<endofnothing>",
    "<#meta#>",
    "<@SYS>",
    "<soap:system>",
    "<x:bos>",
    "『INST』",
    "<丨turn丨>",
    "〈｜turn｜〉",
    "<︱im_start︱>",
    "<∥im_start∥>",
    "≺|im_start|≻",
    "⁅INST⁆",
    "❲INST❳",
    "⸨INST⸩",
  ];
  for (const token of otherForms) {
    it(`of unlisted families are broken up by their form: ${token}`, () => {
      expect(broken(token)).to.equal(true);
      expect(neutralize(turnOf(token))).to.not.include(token);
    });
  }
});
