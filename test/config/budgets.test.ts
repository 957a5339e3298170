import { expect } from "chai";
import { periodOf } from "../../src/config/agents/budget.ts";
import { blindBudgets } from "../../src/config/agents/budgetChecks.ts";
import { parseConfig } from "../../src/config/load.ts";

const read = (agents: object, hooks: object = {}) => parseConfig(JSON.stringify({ agents, hooks }), {});

/** Returns the faults of budgets; empty if they have none. */
function faultsOf(budgets: object[], agents: object = {}): string {
  try {
    read({ budgets, ...agents }, { mappings: [{ match: { path: "ci" } }], presets: ["gmail"] });
    return "";
  } catch (error) {
    return String((error as Error).message);
  }
}

describe("the configuration of budgets", () => {
  const DAILY = { id: "daily", per: "day", usd: 5, then: "ask" };
  const CASES: readonly [title: string, budgets: object[], fault: RegExp][] = [
    ["one without a limit", [{ id: "a", per: "day", then: "ask" }], /agents\.budgets\.0 has no limit: set usd, tokens/],
    ["a limit of nothing", [{ ...DAILY, usd: 0 }], /agents\.budgets\.0\.usd must be/],
    ["one id for two", [DAILY, DAILY], /agents\.budgets\.1\.id is used twice/],
    ["an id with a space", [{ ...DAILY, id: "a b" }], /agents\.budgets\.0\.id must look like/],
    [
      "an unknown mapping",
      [{ ...DAILY, where: { mapping: "x" } }],
      /agents\.budgets\.0\.where\.mapping names no mapping: it must be one of ci, preset:gmail/,
    ],
    ["an unknown agent", [{ ...DAILY, where: { agentId: "x" } }], /agents\.budgets\.0\.where\.agentId names no agent/],
    ["an unknown act", [{ ...DAILY, then: "stop" }], /agents\.budgets\.0\.then must be one of warn, ask, refuse/],
  ];
  for (const [title, budgets, fault] of CASES)
    it(`refuses ${title}`, () => {
      expect(faultsOf(budgets)).to.match(fault);
    });

  it("refuses an unknown time zone", () => {
    expect(faultsOf([], { timezone: "Mars/Base" })).to.match(/agents\.timezone is no time zone/);
  });

  it("accepts budgets of a mapping, a preset and an agent", () => {
    const budgets = [
      { ...DAILY, where: { mapping: "ci" } },
      { ...DAILY, id: "mails", where: { mapping: "preset:gmail" } },
      { ...DAILY, id: "reviews", where: { agentId: "reviewer" } },
    ];

    expect(faultsOf(budgets, { list: { reviewer: {} } })).to.equal("");
  });

  it("names the limits that no agent can reach", () => {
    const budgets = [
      { ...DAILY, tokens: 1_000 },
      { ...DAILY, id: "claude", where: { agentId: "claude" } },
      { ...DAILY, id: "plain", where: { agentId: "plain" }, minutes: 5 },
    ];
    const list = {
      claude: { runner: "command", command: ["claude"], output: "json" },
      plain: { runner: "command", command: ["cat"] },
    };
    const ofServer = read({ defaults: { runner: "openai", model: "m" }, budgets: budgets.slice(0, 1) });

    expect(blindBudgets(ofServer.agents)).to.deep.equal([
      "The budget daily never reaches its limit of usd, because no agent that it counts reports them.",
    ]);
    expect(blindBudgets(read({ list, budgets }).agents).map((line) => line.split(" ", 3)[2])).to.deep.equal(["plain"]);
  });
});

describe("the period of a budget", () => {
  const CASES = [
    ["2026-03-31T22:30:00Z", "UTC", "2026-03-31", "2026-03"],
    ["2026-03-31T22:30:00Z", "Europe/Berlin", "2026-04-01", "2026-04"],
    ["2026-01-01T04:59:00Z", "America/New_York", "2025-12-31", "2025-12"],
    ["2026-10-24T22:00:00Z", "Europe/Berlin", "2026-10-25", "2026-10"],
  ] as const;
  for (const [time, zone, day, month] of CASES)
    it(`is ${day} at ${time} in ${zone}`, () => {
      expect(periodOf({ per: "day" }, new Date(time), zone)).to.equal(day);
      expect(periodOf({ per: "month" }, new Date(time), zone)).to.equal(month);
    });
});
