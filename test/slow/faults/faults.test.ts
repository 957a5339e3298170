import { expect } from "chai";
import { type AttackSettings, attack } from "../../faults/attack.ts";
import { KIND_NAMES } from "../../faults/plan.ts";
import { report } from "../../faults/report.ts";
import { SEED } from "../../support/random.ts";
import { FAULT_TIMINGS } from "../../support/timings.ts";

/** The plan contains each kind at min once, even in a short time. */
const SHORT = { seed: SEED, seconds: 1, maxSeconds: 2, load: { reporters: 3, sessions: 2, readEveryMs: 60 } };

/** Uses the time constants of tests: a worker that is stopped for 2 s loses its leases. */
const BRIEF = {
  web: "test/support/processes/web.ts",
  worker: "test/support/processes/worker.ts",
  heartbeat: "2s",
  sweep: FAULT_TIMINGS.sweep,
};

/** Divides the kinds between two concurrent attacks, one with two web processes and one with two workers. */
const ATTACKS: Pick<AttackSettings, "topology" | "processes" | "kinds">[] = [
  {
    topology: "single",
    processes: { ...BRIEF, webs: 2, workers: 1 },
    kinds: ["kill-web", "jump-clock", "kill-redis", "flush-redis", "cut-redis", "kill-mongod", "fill-disk"],
  },
  {
    topology: "set",
    processes: { ...BRIEF, webs: 1, workers: 2 },
    kinds: ["kill-worker", "pause-worker", "pause-redis", "slow-redis", "kill-primary", "pause-mongod", "cut-mongod"],
  },
];

describe("fault suite, short form", function () {
  this.timeout(300_000);

  it("injects every kind of fault and finds no violation", async () => {
    const lines: string[] = [];

    const attacks = ATTACKS.map((one) => attack({ ...SHORT, ...one, log: (line) => lines.push(line) }));
    await Promise.allSettled(attacks); // Both must end before the test does.
    const results = await Promise.all(attacks);

    const faults = results.flatMap((one) => one.faults);
    const broken = results.filter(({ violations }) => violations.length > 0);
    expect(broken.map(report).join("\n"), lines.join("\n")).to.equal("");
    expect(faults.map(({ kind }) => kind)).to.have.members(KIND_NAMES);
    expect(faults.filter(({ wasInjected }) => !wasInjected)).to.deep.equal([]);
    for (const { figures } of results) expect(figures.acknowledged).to.be.greaterThan(50);
  });

  it("notifies of every event within two sweeps while Redis is emptied again and again", async () => {
    const lines: string[] = [];
    const processes = { ...BRIEF, webs: 1, workers: 1 };
    const settings = { ...SHORT, topology: "single", seconds: 6, kinds: ["flush-redis"], processes } as const;

    const result = await attack({ ...settings, log: (line) => lines.push(line) });

    expect(result.violations.length === 0 ? "" : report(result), lines.join("\n")).to.equal("");
    expect(result.faults.length).to.be.above(2);
  });
});
