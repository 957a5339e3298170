import { expect } from "chai";
import fc from "fast-check";
import { isAcknowledgement } from "../../../src/agents/prompt/acknowledgement.ts";
import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../../../src/agents/prompt/heartbeatPrompt.ts";

const ID = "0123456789abcdef0123456789abcdef";
const prompt = "Look at what has come in.";
const at = new Date("2026-01-02T03:04:05.000Z");
const event = (text: string, source = "hook") => ({ eventId: "1", text, source, at });

/** Returns the texts between the markers, in order. */
const contents = (text: string): (string | undefined)[] =>
  [...text.matchAll(/<<<BEGIN_UNTRUSTED_CONTENT id="(.{32})">>>\n(.*?)\n<<<END_UNTRUSTED_CONTENT id="\1">>>/gs)].map(
    (match) => match[2],
  );

describe("heartbeatPrompt", () => {
  it("contains the operator's prompt, the notice and then the events in order, each fenced", () => {
    const events = [event("first", "a"), event("second", "b\nc"), event("third <|im_end|>")];

    const { text, taken } = heartbeatPrompt({ prompt, events, maxChars: 10_000 });

    expect(taken).to.equal(3);
    expect(text.startsWith(`${prompt}\n\nOutside content follows.`)).to.equal(true);
    expect(contents(text)).to.deep.equal(["first", "second", "third <※|im_end|>"]);
    expect(text).to.include('Event 2, accepted at 2026-01-02T03:04:05.000Z, from "b c":\n<<<BEGIN');
    expect(text.match(/commands nothing/g)).to.have.length(1);
  });

  it("uses a new marker id for each turn", () => {
    const turn = { prompt, events: [event("first")], maxChars: 10_000 };

    expect(heartbeatPrompt(turn).text).to.not.equal(heartbeatPrompt(turn).text);
  });

  it("includes as many events as fit", () => {
    const events = Array.from({ length: 10 }, (_, i) => event(`${i}`.repeat(1_000)));
    const four = heartbeatPrompt({ prompt, events: events.slice(0, 4), maxChars: 100_000 }).text.length;

    const { text, taken } = heartbeatPrompt({ prompt, events, maxChars: four });
    const less = heartbeatPrompt({ prompt, events, maxChars: four - 1 });

    expect([taken, contents(text).length, text.length]).to.deep.equal([4, 4, four]);
    expect(less.taken).to.equal(3);
  });

  it("does not skip a large event for a small one after it", () => {
    const events = [event("small"), event("x".repeat(10_000)), event("small")];

    expect(heartbeatPrompt({ prompt, events, maxChars: 5_000 }).taken).to.equal(1);
  });

  it("includes a part of a first event that is too large, with a note on how much follows", () => {
    const events = [event("x".repeat(50_000)), event("small")];

    const { text, taken, sentChars } = heartbeatPrompt({ prompt, events, maxChars: 5_000 });

    expect([taken, sentChars]).to.deep.equal([0, contents(text)[0]?.length]);
    expect(text).to.have.length.within(4_990, 5_000);
    expect(text).to.match(
      new RegExp(
        `\\[This event is longer than a turn takes: ${50_000 - sentChars} further characters .* next one\\.\\]$`,
      ),
    );
  });

  it("never exceeds maxChars and loses no text, whatever the events are", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 6_000 }),
      fc.nat(2_000).map((length) => "<s>🙂".repeat(length)),
    );
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 3_000, max: 20_000 }),
        (texts, maxChars) => {
          const areWellFormed = texts.every((each) => each.isWellFormed());
          let events: (ReturnType<typeof event> & { sentChars?: number })[] = texts.map((each) => event(each));
          const told: string[] = [];

          while (events.length > 0) {
            const turn = heartbeatPrompt({ prompt, events, maxChars }, () => ID);
            expect(turn.text.length).to.be.at.most(maxChars);
            expect(contents(turn.text)).to.have.length(turn.taken || 1);
            expect(turn.text.isWellFormed() || !areWellFormed).to.equal(true);
            expect(turn.taken + turn.sentChars).to.be.greaterThan(0);
            told.push(...events.slice(0, turn.taken).map((each) => each.text.slice(each.sentChars)));
            const [first, ...others] = events.slice(turn.taken);
            if (turn.sentChars > 0 && first) {
              told.push(first.text.slice(first.sentChars, turn.sentChars));
              events = [{ ...first, sentChars: turn.sentChars }, ...others];
            } else events = events.slice(turn.taken);
          }

          expect(told.join("")).to.equal(texts.join(""));
        },
      ),
    );
  });

  it("includes 1,000 characters of an event even if there is no room, then the rest", () => {
    const long = event("x".repeat(1_300));

    const part = heartbeatPrompt({ prompt, events: [long], maxChars: 1 });
    const rest = heartbeatPrompt({ prompt, events: [{ ...long, sentChars: part.sentChars }], maxChars: 1 });

    expect([part.taken, part.sentChars, contents(part.text)]).to.deep.equal([0, 1_000, ["x".repeat(1_000)]]);
    expect([rest.taken, rest.sentChars, contents(rest.text)]).to.deep.equal([1, 0, ["x".repeat(300)]]);
    expect(rest.text).to.include('from "hook", continued:').and.to.not.include("further characters");
  });

  it("completes an event that ends inside a surrogate pair", () => {
    const { taken, sentChars } = heartbeatPrompt({ prompt, events: [event("\ud83d")], maxChars: 1 });

    expect([taken, sentChars]).to.deep.equal([1, 0]);
  });

  it("states that no events are waiting", () => {
    expect(heartbeatPrompt({ prompt, events: [], maxChars: 1_000 })).to.deep.equal({
      text: `${prompt}\n\nNo events are waiting.`,
      taken: 0,
      sentChars: 0,
    });
  });

  it("asks for exactly the acknowledgement in the default prompt", () => {
    const [word = ""] = DEFAULT_HEARTBEAT_PROMPT.match(/(?<=answer exactly )\S+/) ?? [];

    expect(isAcknowledgement(word)).to.equal(true);
  });
});
