import { expect } from "chai";
import fc from "fast-check";
import { reportStep } from "../../../../src/models/jobs/reports/reportStep.ts";
import { runs } from "../../../support/random.ts";
import { useReports } from "../useReports.ts";

// Letters that every supported version of MongoDB takes for letters: the regular expressions of old ones lack later additions.
const character = fc.constantFrom(..."aZ9 -_.éÉßİ日👍🏽\u0301\u0300ΣЖ\t\n$%");
const message = fc.oneof(
  fc.array(character, { maxLength: 40 }).map((characters) => characters.join("")),
  fc.constantFrom("", "!", "x".repeat(2_100), "👍".repeat(2_100), "aB ".repeat(1_000), `${"a ".repeat(999)}日本語`),
);

describe("words of the message of a failed job", () => {
  const { app } = useReports();

  it("are the same whether MongoDB cuts them from a stored message or the service from that of a report", async () => {
    const { jobs } = app.stores;
    await reportStep(app.stores, (await jobs.put("failed", { status: "failed" })).job.jobId, "s", { stepName: "S" });
    const words = async () => (await jobs.collection.findOne({ jobId: "failed" }))?.failedWords;

    await fc.assert(
      fc.asyncProperty(message, async (text) => {
        await jobs.put("failed", { message: text });
        const byMongo = await words();
        await jobs.put("failed", { message: "other" });
        await reportStep(app.stores, "failed", "s", { message: text });
        expect((await words())?.sort()).to.deep.equal(byMongo?.sort());
      }),
      runs(150),
    );
  });

  it("are missing for a job that runs or completes", async () => {
    const { jobs } = app.stores;
    const words = async () => (await jobs.collection.findOne({ jobId: "j" }))?.failedWords;
    await jobs.put("j", {});
    await reportStep(app.stores, "j", "s", { stepName: "S", message: "out of memory" });
    expect(await words()).to.equal(undefined);
    await reportStep(app.stores, "j", "s", { status: "failed", failJob: true });
    expect(await words()).to.have.members(["out", "of", "memory"]);
    await jobs.put("j", { status: "completed", output: {} });
    expect(await words()).to.equal(undefined);
  });
});
