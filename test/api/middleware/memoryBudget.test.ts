import { expect } from "chai";
import { MemoryBudget } from "../../../src/api/middleware/memoryBudget.ts";

const destroyed: string[] = [];
const client = (name: string) => ({ destroy: () => destroyed.push(name) });

describe("MemoryBudget", () => {
  beforeEach(() => {
    destroyed.length = 0;
  });

  it("destroys the oldest holders when a reservation exceeds the limit", () => {
    const budget = new MemoryBudget({ maxBytes: 100, graceMs: 0 });
    for (const name of ["first", "second"]) budget.reserve(client(name), 40);

    budget.reserve(client("third"), 90);
    budget.reserve(client("larger than the limit"), 200);

    expect(destroyed).to.deep.equal(["first", "second", "third"]);
  });

  it("counts released bytes as free, once however often they are released", () => {
    const budget = new MemoryBudget({ maxBytes: 100, graceMs: 0 });
    const release = budget.reserve(client("first"), 60);

    release();
    release();
    budget.reserve(client("second"), 60);
    budget.reserve(client("third"), 40);

    expect(destroyed).to.deep.equal([]);
  });

  it("remembers a slow holder however many others come and go", () => {
    const budget = new MemoryBudget({ maxBytes: 100, graceMs: 0 });
    budget.reserve(client("slow"), 60);

    for (let i = 0; i < 1_000; i++) budget.reserve(client(`quick ${i}`), 40)();
    budget.reserve(client("next"), 40);
    budget.reserve(client("one more"), 40);

    expect(destroyed).to.deep.equal(["slow"]);
  });

  it("destroys at most eight holders for one reservation", () => {
    const budget = new MemoryBudget({ maxBytes: 100, graceMs: 0 });
    for (let i = 0; i < 10; i++) budget.reserve(client(String(i)), 10);

    budget.reserve(client("large"), 100);

    expect(destroyed).to.deep.equal(["0", "1", "2", "3", "4", "5", "6", "7"]);
  });

  it("destroys nobody within the grace period", () => {
    const budget = new MemoryBudget({ maxBytes: 100, graceMs: 60_000 });

    for (const name of ["first", "second", "third"]) budget.reserve(client(name), 90);

    expect(destroyed).to.deep.equal([]);
  });
});
