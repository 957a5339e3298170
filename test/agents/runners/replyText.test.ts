import { expect } from "chai";
import { withoutThoughts } from "../../../src/agents/runners/replyText.ts";

describe("withoutThoughts", () => {
  const removed: [string, string][] = [
    ["<think>plan</think>\n\nHello", "Hello"],
    ["plan\n</think>\n\nHello", "Hello"],
    ["\n\nOne.\n\nTwo:\nthree\n</think>\nHello\n\nyou", "Hello\n\nyou"],
    ["plan\r\n</think>\r\n\r\nHello", "Hello"],
    ["Plan.</think>\n\nHello", "Hello"],
    ["\nFirst line\nsecond line</thinking>  \n\nHello", "Hello"],
    ["</think>\n\nHello", "Hello"],
    ["Use a block:\n```\nx\n```\ndone\n</Think>\n\nHello", "Hello"],
    [`${"plan ".repeat(200_000)}\n</think>\n\nHello`, "Hello"],
  ];
  for (const [reply, answer] of removed) {
    it(`returns the answer in ${JSON.stringify(reply.slice(0, 80))}`, () => {
      expect(withoutThoughts(reply)).to.equal(answer);
    });
  }

  const kept = [
    "The model ends its thoughts with </think>\n\nThen the answer follows.",
    "It writes `</think>`\n\nThen the answer follows.",
    "The tag </think> ends the thoughts.",
    "Close the block with this line:\n</think>\n\nThen write the answer.",
    "Close the block with this line:\n\n</think>\n\nThen write the answer.",
    "A prompt:\n```\nplan\n</think>\n\nHello\n```",
    "One.\n\nTwo.</think>\n\nHello",
    "plan\n<think>\nmore\n</think>\n\nHello",
    "plan\n</think>\n\nHello\n</think>",
    "plan\n  </think>\n\nHello",
    "plan\n</think> Hello",
    "plan\n</think>\n\n",
    "plan\n</div>\n\nHello",
  ];
  for (const reply of kept) {
    it(`keeps ${JSON.stringify(reply)}`, () => {
      expect(withoutThoughts(reply)).to.equal(reply);
    });
  }

  it("takes time linear in the length of a reply of many tags", () => {
    const reply = "x\n</think>\n\n".repeat(300_000);

    expect(withoutThoughts(reply)).to.equal(reply);
  });
});
