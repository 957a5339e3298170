import { expect } from "chai";
import { faultsOf } from "../script/prose/faults.ts";
import { faultsInComments } from "../script/prose/sentences.ts";

describe("the check of the documents' sentences", () => {
  const faulty: [title: string, sentence: string, fault: RegExp][] = [
    ["a relative clause without a head", "What came is shown below.", /begins with "What"/],
    ["a verb of speech for data", "The agent is told the whole body.", /"told": data is sent/],
    ["a prohibition that reads as a possibility", "This may not be done twice.", /cannot or must not/],
    ["a server that is away", "Reports wait while the service is away.", /write unavailable/],
    ["the configuration of now", "A replay uses the configuration of now.", /write current/],
    ["a long sentence", `The service ${"sends and ".repeat(17)}stores it.`, /words are more than 35/],
  ];
  for (const [title, sentence, fault] of faulty) {
    it(`refuses ${title}`, () => {
      expect(faultsOf(sentence).join("\n")).to.match(fault);
    });
  }

  it("accepts questions, and plain sentences", () => {
    expect(["What does this word mean?", "A report never moves a job backwards."].flatMap(faultsOf)).to.deep.equal([]);
  });

  it("refuses comments that begin with such a word", () => {
    const source =
      "/** What it holds. */\nconst a = 1; // What follows counts.\n  // Which one? The first.\n * Of two.\n";

    expect(faultsInComments(source).map(({ line }) => line)).to.deep.equal([1, 4]);
  });
});
