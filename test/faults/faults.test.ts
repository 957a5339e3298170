import { expect } from "chai";
import { SEED } from "../support/random.ts";
import { type AttackSettings, attack } from "./attack.ts";
import { KIND_NAMES } from "./plan.ts";
import { report } from "./report.ts";

/** The plan has each kind once, however short the time. */
const SHORT = { seed: SEED, seconds: 1, mostSeconds: 2 };

/** Each kind once; those of MongoDB divided between the two, which are attacked side by side. */
const ATTACKS: Pick<AttackSettings, "topology" | "kinds">[] = [
  {
    topology: "single",
    kinds: ["kill-web", "pause-worker", "kill-redis", "flush-redis", "cut-redis", "kill-mongod", "fill-disk"],
  },
  {
    topology: "set",
    kinds: ["kill-worker", "jump-clock", "pause-redis", "slow-redis", "kill-primary", "pause-mongod", "cut-mongod"],
  },
];

describe("the short form of the fault suite", function () {
  this.timeout(300_000);

  it("brings every kind of fault about, and finds every promise kept", async () => {
    const said: string[] = [];

    const attacks = ATTACKS.map((one) => attack({ ...SHORT, ...one, say: (line) => said.push(line) }));
    await Promise.allSettled(attacks); // neither is left behind
    const attacked = await Promise.all(attacks);

    const faults = attacked.flatMap((one) => one.faults);
    const broken = attacked.filter(({ violations }) => violations.length > 0);
    expect(broken.map(report).join("\n"), said.join("\n")).to.equal("");
    expect(faults.map(({ kind }) => kind)).to.have.members(KIND_NAMES);
    expect(faults.filter(({ isDone }) => !isDone)).to.deep.equal([]);
    for (const { figures } of attacked) expect(figures.acknowledged).to.be.greaterThan(50);
  });
});
