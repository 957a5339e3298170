import { expect } from "chai";
import { markedReply } from "../../../src/models/runs/cutOffReply.ts";

const NOTICE = "\n\n… (cut off: the model reached its length limit)";

describe("markedReply", () => {
  it("returns a whole reply unchanged", () => {
    expect(markedReply({ reply: "```\nAll. " })).to.equal("```\nAll. ");
  });

  const cut: [string, string][] = [
    ["One, two, thr", `One, two, thr${NOTICE}`],
    ["- one\n- tw \n", `- one\n- tw${NOTICE}`],
    ["```js\nlet a =", `\`\`\`js\nlet a =\n\`\`\`${NOTICE}`],
    ["~~~~\n~~~\n```\nx", `~~~~\n~~~\n\`\`\`\nx\n~~~~${NOTICE}`],
    ["```\na\n```\nb", `\`\`\`\na\n\`\`\`\nb${NOTICE}`],
    ["```\na\n```js\nb", `\`\`\`\na\n\`\`\`js\nb\n\`\`\`${NOTICE}`],
  ];
  for (const [reply, marked] of cut) {
    it(`ends ${JSON.stringify(reply)} with a notice outside of code`, () => {
      expect(markedReply({ reply, isCutOff: true })).to.equal(marked);
    });
  }
});
