import { expect } from "chai";
import { mongo } from "mongoose";
import { foldReports } from "../../../../src/models/jobs/reports/foldReports.ts";
import type { Report } from "../../../../src/models/jobs/reports/reportUpdate.ts";

let number = 0;
const report = (fields: Partial<Report> = {}): Report => ({
  reportId: new mongo.ObjectId(),
  jobId: "job",
  stepKey: "a",
  stepId: `id-${number++}`,
  stepName: "A",
  payloads: [],
  ...fields,
});
const now = new Date(0);

describe("foldReports", () => {
  it("folds reports that follow each other on one step into the last values and the greatest progress of the job", () => {
    const first = report({ progress: 40, jobProgress: 20, message: "first" });
    const last = report({ stepName: undefined, progress: 30, jobProgress: 10, links: [] });
    const other = report({ jobId: "other" });
    const folded = foldReports([first, other, last]);
    expect(folded.map(({ members }) => members)).to.deep.equal([[first, last], [other]]);
    const { stepId } = first;
    const { reportId } = last;
    expect(folded[0]?.report).to.include({ stepId, reportId, stepName: "A", progress: 30, jobProgress: 20 });
    expect(folded[0]?.report).to.deep.include({ message: "first", links: [] });
  });

  const apart: Record<string, [Report, Report]> = {
    "on two steps of a job": [report(), report({ stepKey: "b" })],
    "of which only the second may create the step": [report({ stepName: undefined }), report()],
    "of which one ends the step": [report(), report({ status: "completed" })],
    "of which one ends the job": [report({ ends: { status: "failed" } }), report()],
    "of which one has an output": [report(), report({ output: { payload: new mongo.ObjectId() } as never })],
    "of which one has an order": [report({ order: 1 }), report()],
    "of which one states a time": [report({ at: now }), report()],
    "of which one counts steps": [report(), report({ countsSteps: true })],
  };
  for (const [what, reports] of Object.entries(apart))
    it(`applies reports one by one ${what}`, () => {
      const folded = foldReports(reports);
      expect(folded.map(({ report: one }) => one)).to.deep.equal(reports);
    });

  it("never moves a report before one on another step of its job", () => {
    const [first, between, last] = [report(), report({ stepKey: "b" }), report()];
    expect(foldReports([first, between, last]).map(({ report: one }) => one)).to.deep.equal([first, between, last]);
  });
});
