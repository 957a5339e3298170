import { expect } from "chai";
import { redact, redactWithNames } from "../../src/channels/redact.ts";

describe("a service's own words", () => {
  const LONG = 'The deployment of shop-api failed: see the log for $HOME and "more".';
  const cases: [string, unknown, string[], string][] = [
    ["are on one line", " Not\n  found. ", [LONG], "Not found."],
    ["are 300 characters at most", "x".repeat(400), [LONG], "x".repeat(300)],
    ["are none where they are no text", { toString: 1 }, [LONG], ""],
    ["are shown beside secrets that are empty", "Not found.", ["", " "], "Not found."],
    ["may have some words in common with a message", "The log failed", [LONG], "The log failed"],
    ["are left out where they quote a message", `Cannot send: ${LONG}`, [LONG], ""],
    ["are left out where they quote a piece of it", "near 'of shop-api failed'", [LONG], ""],
    ["are left out where they quote it for a shell", 'see the log for \\$HOME and \\\\"more\\\\".', [LONG], ""],
    ["are left out where they quote it in other cases", "LOG FOR $HOME AND", [LONG], ""],
    ["are left out where they quote a short message", 'Cannot send "Done 🚂!"', ["done!"], ""],
    ["are left out where they quote one without a letter", "Cannot send 🚂", ["🚂"], ""],
    ["are left out where they hold a password", "GET /?password=p%40ss", ["p@ss", "p%40ss"], ""],
  ];
  for (const [title, words, secrets, shown] of cases) {
    it(title, () => {
      expect(redact(words, ...secrets)).to.equal(shown);
    });
  }

  const NUMBER = "+4915111111111";
  const about: [string, string, string[], string][] = [
    ["leave the recipient out", `The user ${NUMBER} is not registered.`, [NUMBER], "The user … is not registered."],
    ["leave out each name", `anna.42 (iMessage;-;${NUMBER})`, [`iMessage;-;${NUMBER}`, "anna.42"], "… (…)"],
    ["are left out where they write the recipient otherwise", "to (+49) 151 1111-1111", [NUMBER], ""],
    ["are left out where they quote the message as well", `${NUMBER}: ${LONG}`, [NUMBER], ""],
    ["are shown where nobody is known", "Not found.", ["", " "], "Not found."],
  ];
  for (const [title, words, names, shown] of about) {
    it(`about a recipient ${title}`, () => {
      expect(redactWithNames(names, words, LONG)).to.equal(shown);
    });
  }
});
