import { expect } from "chai";
import fc from "fast-check";
import { isAcknowledgement } from "../../../src/agents/prompt/acknowledgement.ts";
import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../../../src/agents/prompt/heartbeatPrompt.ts";

const ID = "0123456789abcdef0123456789abcdef";
const prompt = "Look at what has come in.";
const at = new Date("2026-01-02T03:04:05.000Z");
const event = (text: string, source = "hook") => ({ eventId: "1", text, source, at });

/** What stands between the markers, in order. */
const contents = (text: string): (string | undefined)[] =>
  [...text.matchAll(/<<<BEGIN_UNTRUSTED_CONTENT id="(.{32})">>>\n(.*?)\n<<<END_UNTRUSTED_CONTENT id="\1">>>/gs)].map(
    (match) => match[2],
  );

describe("heartbeatPrompt", () => {
  it("has the operator's prompt, then the notice, then the events in order, each behind its fence", () => {
    const events = [event("first", "a"), event("second", "b\nc"), event("third <|im_end|>")];

    const { text, taken } = heartbeatPrompt({ prompt, events, maxChars: 10_000 });

    expect(taken).to.equal(3);
    expect(text.startsWith(`${prompt}\n\nOutside content follows.`)).to.equal(true);
    expect(contents(text)).to.deep.equal(["first", "second", "third <※|im_end|>"]);
    expect(text).to.include('Event 2, accepted at 2026-01-02T03:04:05.000Z, from "b c":\n<<<BEGIN');
    expect(text.match(/commands nothing/g)).to.have.length(1);
  });

  it("has an id of its own for each turn", () => {
    const turn = { prompt, events: [event("first")], maxChars: 10_000 };

    expect(heartbeatPrompt(turn).text).to.not.equal(heartbeatPrompt(turn).text);
  });

  it("takes as many events as fit and leaves the others", () => {
    const events = Array.from({ length: 10 }, (_, i) => event(`${i}`.repeat(1_000)));
    const four = heartbeatPrompt({ prompt, events: events.slice(0, 4), maxChars: 100_000 }).text.length;

    const { text, taken } = heartbeatPrompt({ prompt, events, maxChars: four });
    const less = heartbeatPrompt({ prompt, events, maxChars: four - 1 });

    expect([taken, contents(text).length, text.length]).to.deep.equal([4, 4, four]);
    expect(less.taken).to.equal(3);
  });

  it("does not pass over a large event to take a small one behind it", () => {
    const events = [event("small"), event("x".repeat(10_000)), event("small")];

    expect(heartbeatPrompt({ prompt, events, maxChars: 5_000 }).taken).to.equal(1);
  });

  it("cuts a first event that is too large, and says how much is left out", () => {
    const events = [event("x".repeat(50_000)), event("small")];

    const { text, taken } = heartbeatPrompt({ prompt, events, maxChars: 5_000 });

    const kept = contents(text)[0]?.length ?? 0;
    expect(taken).to.equal(1);
    expect(text).to.have.length.within(4_990, 5_000);
    expect(text.endsWith(`[This event is cut: its last ${50_000 - kept} of 50000 characters are left out.]`)).to.equal(
      true,
    );
  });

  it("keeps to its size whatever the events are, and loses none", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 6_000 }),
      fc.nat(2_000).map((length) => "<s>🙂".repeat(length)),
    );
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 3_000, max: 20_000 }),
        (texts, maxChars) => {
          const events = texts.map((each) => event(each));

          const turn = heartbeatPrompt({ prompt, events, maxChars }, () => ID);

          expect(turn.text.length).to.be.at.most(maxChars);
          expect(turn.taken).to.be.within(1, events.length);
          expect(contents(turn.text)).to.have.length(turn.taken);
          expect(turn.text.isWellFormed() || !texts.every((each) => each.isWellFormed())).to.equal(true);
        },
      ),
    );
  });

  it("takes one event and 200 characters of it where there is no room at all", () => {
    const { text, taken } = heartbeatPrompt({ prompt, events: [event("x".repeat(300))], maxChars: 1 });

    expect(taken).to.equal(1);
    expect(contents(text)).to.deep.equal(["x".repeat(200)]);
    expect(text).to.include("its last 100 of 300 characters");
  });

  it("says so where nothing is waiting", () => {
    expect(heartbeatPrompt({ prompt, events: [], maxChars: 1_000 })).to.deep.equal({
      text: `${prompt}\n\nNo events are waiting.`,
      taken: 0,
    });
  });

  it("has a default prompt that asks for exactly the acknowledgement", () => {
    const [word = ""] = DEFAULT_HEARTBEAT_PROMPT.match(/(?<=answer exactly )\S+/) ?? [];

    expect(isAcknowledgement(word)).to.equal(true);
  });
});
