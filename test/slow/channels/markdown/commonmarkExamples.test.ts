import { parser } from "../../../../src/channels/markdown/parser.ts";
import { toParts } from "../../../../src/channels/markdown/parts.ts";
import { CHANNELS, EXAMPLES } from "../../../channels/markdown/commonmark.ts";
import { expectLinearTime } from "../../../support/linearTime.ts";

describe("The examples of CommonMark", () => {
  it("are divided into blocks in linear time when they are repeated", () => {
    for (const { number, markdown } of EXAMPLES) {
      const textOf = (length: number) => markdown.repeat(Math.ceil(length / markdown.length));

      expectLinearTime((length) => parser.parse(textOf(length), {}), 8 * 1024, `example ${number}`);
    }
  });

  it("are split into messages in linear time when they follow each other", () => {
    const all = EXAMPLES.map(({ markdown }) => markdown).join("\n\n");
    for (const [name, { style }] of CHANNELS) {
      expectLinearTime((times) => toParts(all.repeat(times), style), 2, name);
    }
  });
});
