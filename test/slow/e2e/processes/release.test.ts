import { expect } from "chai";
import { prepareDatabase } from "../../../../src/cli/commands/service/release.ts";
import { eventually } from "../../../support/eventually.ts";
import { useApp } from "../../../support/useApp.ts";

describe("signalbox release", () => {
  const app = useApp();

  it("creates a missing index while a service accepts reports, of which none fails", async () => {
    const { jobs } = app.database.collections;
    await jobs.insertMany(
      Array.from({ length: 20_000 }, (_, i) => ({ jobId: `old-${i}`, updatedMinute: new Date() })) as never[],
    );
    await jobs.dropIndex("updatedMinute_-1"); // It stands for an index that only the next version has.
    await app.call("PUT", "/api/jobs/running", { name: "Running" });
    const answers: number[] = [];
    let isOver = false;
    const reporter = async (_: unknown, i: number) => {
      for (let n = 0; !isOver; n++) {
        const report = { stepName: "S", progress: n % 100 };
        answers.push((await app.call("PUT", `/api/jobs/running/steps/s-${i}-${n}`, report)).status);
      }
    };

    const reporting = Promise.all(Array.from({ length: 8 }, reporter));
    await eventually(() => answers.length > 20, "reports to be answered");
    await prepareDatabase(app.mongoUri);
    const during = answers.length;
    await eventually(() => answers.length > during + 20, "reports to go on");
    isOver = true;
    await reporting;

    expect(new Set(answers)).to.deep.equal(new Set([201]));
    expect(await jobs.indexExists("updatedMinute_-1")).to.equal(true);
    const { steps } = (await app.call("GET", "/api/jobs/running?include=steps")).body;
    expect(steps).to.have.length(answers.length);
  });
});
