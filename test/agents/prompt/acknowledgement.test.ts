import { expect } from "chai";
import { isAcknowledgement } from "../../../src/agents/prompt/acknowledgement.ts";

const words = (length: number): string => "All quiet. ".repeat(40).slice(0, length).replace(/ $/, ".");

describe("isAcknowledgement", () => {
  const acknowledgements: [string, string][] = [
    ["alone", "HEARTBEAT_OK"],
    ["between spaces and line ends", " \n\tHEARTBEAT_OK\r\n"],
    ["in bold", "**HEARTBEAT_OK**"],
    ["in italics by underscores", "_HEARTBEAT_OK_"],
    ["in bold by underscores", "__HEARTBEAT_OK__"],
    ["as code", "`HEARTBEAT_OK`"],
    ["in a code block", "```\nHEARTBEAT_OK\n```"],
    ["quoted", "> “HEARTBEAT_OK”"],
    ["with a full stop", "HEARTBEAT_OK."],
    ["with a sign", "HEARTBEAT_OK ✅"],
    ["with its underscore escaped", "HEARTBEAT\\_OK"],
    ["at the start", "HEARTBEAT_OK: nothing new since noon."],
    ["at the start, in bold", "**HEARTBEAT_OK** — nothing new since noon."],
    ["at the end", "Nothing new since noon.\n\nHEARTBEAT_OK"],
    ["at the end, with a full stop", "Nothing new since noon. (HEARTBEAT_OK.)"],
    ["at the start of 300 characters", `HEARTBEAT_OK ${words(300)}`],
    ["at the end of 300 characters", `${words(300)}\nHEARTBEAT_OK`],
    ["at the start of 300 characters that take two units each", `HEARTBEAT_OK ${"𝐱".repeat(300)}`],
    ["at the start, after a sign", "✅ HEARTBEAT_OK: nothing new since noon."],
    ["at the start of 300 exclamation marks", `HEARTBEAT_OK ${"!".repeat(300)}`],
    ["at the end of 300 emoji", `${"👍".repeat(300)} HEARTBEAT_OK`],
    ["at the start of 300 characters between line ends", `\n HEARTBEAT_OK ${words(300)} \n`],
    ["in any number of marks, which are not counted", `${"* ".repeat(500)}**HEARTBEAT_OK**\n\n${words(300)}`],
    ["as a quoted heading with a mark struck through", `> # ~~HEARTBEAT_OK~~ ${words(300)}`],
  ];
  for (const [what, reply] of acknowledgements) {
    it(`accepts the word ${what}`, () => {
      expect(isAcknowledgement(reply)).to.equal(true);
    });
  }

  const messages: [string, string][] = [
    ["nothing", ""],
    ["a text without the word", "The build is broken."],
    ["the word amid a sentence", "The agent said HEARTBEAT_OK an hour ago."],
    ["the word in lower case", "heartbeat_ok"],
    ["a longer word", "HEARTBEAT_OKAY"],
    ["a longer word by an underscore", "HEARTBEAT_OK_LATER"],
    ["a word that ends in it", "NOT_HEARTBEAT_OK"],
    ["301 other characters after it", `HEARTBEAT_OK ${words(301)}`],
    ["301 other characters before it", `${words(301)} HEARTBEAT_OK`],
    ["a long text around it", `${words(200)} HEARTBEAT_OK ${words(200)}`],
    ["301 exclamation marks after it", `HEARTBEAT_OK ${"!".repeat(301)}`],
    ["301 emoji before it", `${"👍".repeat(301)} HEARTBEAT_OK`],
    ["301 emoji around it", `${"👍".repeat(150)} **HEARTBEAT_OK** ${"👍".repeat(151)}`],
    ["301 other characters including marks apart from the word", `**HEARTBEAT_OK** ${words(297)} ***`],
  ];
  for (const [what, reply] of messages) {
    it(`does not accept ${what}`, () => {
      expect(isAcknowledgement(reply)).to.equal(false);
    });
  }
});
