import { expect } from "chai";
import { HeldBytes } from "../../src/api/heldBytes.ts";

const cutOff: string[] = [];
const client = (name: string) => ({ destroy: () => cutOff.push(name) });

describe("what slow clients keep in memory", () => {
  beforeEach(() => {
    cutOff.length = 0;
  });

  it("is bounded: those that have taken longest are cut off for one more", () => {
    const held = new HeldBytes({ mostBytes: 100, patienceMs: 0 });
    for (const name of ["first", "second"]) held.hold(client(name), 40);

    held.hold(client("third"), 90);
    held.hold(client("larger than all"), 200);

    expect(cutOff).to.deep.equal(["first", "second", "third"]);
  });

  it("has room again for what is over", () => {
    const held = new HeldBytes({ mostBytes: 100, patienceMs: 0 });
    const letGo = held.hold(client("first"), 60);

    letGo();
    letGo();
    held.hold(client("second"), 60);
    held.hold(client("third"), 40);

    expect(cutOff).to.deep.equal([]);
  });

  it("is known of one that is slow, however many have come and gone since", () => {
    const held = new HeldBytes({ mostBytes: 100, patienceMs: 0 });
    held.hold(client("slow"), 60);

    for (let i = 0; i < 1_000; i++) held.hold(client(`quick ${i}`), 40)();
    held.hold(client("next"), 40);
    held.hold(client("one more"), 40);

    expect(cutOff).to.deep.equal(["slow"]);
  });

  it("may be more for a while: nobody is cut off who is not slow", () => {
    const held = new HeldBytes({ mostBytes: 100, patienceMs: 60_000 });

    for (const name of ["first", "second", "third"]) held.hold(client(name), 90);

    expect(cutOff).to.deep.equal([]);
  });
});
