import { expect } from "chai";
import { redact, redactWithNames } from "../../src/channels/redact.ts";

describe("redact", () => {
  const LONG = 'The deployment of shop-api failed: see the log for $HOME and "more".';
  const cases: [string, unknown, string[], string][] = [
    ["returns text on one line", " Not\n  found. ", [LONG], "Not found."],
    ["returns at most 300 characters", "x".repeat(400), [LONG], "x".repeat(300)],
    ["returns nothing for a value that is not a string", { toString: 1 }, [LONG], ""],
    ["ignores empty secrets", "Not found.", ["", " "], "Not found."],
    ["returns text that shares some words with a message", "The log failed", [LONG], "The log failed"],
    ["omits text that quotes a message", `Cannot send: ${LONG}`, [LONG], ""],
    ["omits text that quotes a part of a message", "near 'of shop-api failed'", [LONG], ""],
    ["omits text that quotes a message escaped for a shell", 'see the log for \\$HOME and \\\\"more\\\\".', [LONG], ""],
    ["omits text that quotes a message in another case", "LOG FOR $HOME AND", [LONG], ""],
    ["omits text that quotes a short message", 'Cannot send "Done 🚂!"', ["done!"], ""],
    ["omits text that quotes a message without letters", "Cannot send 🚂", ["🚂"], ""],
    ["omits text that contains a password", "GET /?password=p%40ss", ["p@ss", "p%40ss"], ""],
  ];
  for (const [title, words, secrets, shown] of cases) {
    it(title, () => {
      expect(redact(words, ...secrets)).to.equal(shown);
    });
  }

  const NUMBER = "+4915111111111";
  const about: [string, string, string[], string][] = [
    ["replaces the recipient", `The user ${NUMBER} is not registered.`, [NUMBER], "The user … is not registered."],
    ["replaces each name", `anna.42 (iMessage;-;${NUMBER})`, [`iMessage;-;${NUMBER}`, "anna.42"], "… (…)"],
    ["omits text with the recipient in another notation", "to (+49) 151 1111-1111", [NUMBER], ""],
    ["omits text that also quotes the message", `${NUMBER}: ${LONG}`, [NUMBER], ""],
    ["ignores empty names", "Not found.", ["", " "], "Not found."],
  ];
  for (const [title, words, names, shown] of about) {
    it(`with names ${title}`, () => {
      expect(redactWithNames(names, words, LONG)).to.equal(shown);
    });
  }
});
