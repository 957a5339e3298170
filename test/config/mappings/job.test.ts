import { expect } from "chai";
import { ConfigError, parseConfig } from "../../../src/config/load.ts";

const STATUS = { path: "payload.state", completed: ["done"] };
const JOB = { id: "deploy/{{payload.id}}", status: STATUS };
const mapping = (more: object = {}) => ({ match: { path: "deploys" }, action: "job", job: JOB, ...more });
const withJob = (more: object) => mapping({ job: { ...JOB, ...more } });

function problemsOf(...mappings: readonly object[]): readonly string[] {
  try {
    parseConfig(JSON.stringify({ hooks: { enabled: true, token: "a-hook-token-of-length", mappings } }), {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("hooks.mappings with action job: the check", () => {
  for (const [title, faulty, problem] of [
    ["a missing job", mapping({ job: undefined }), "job is missing: action job needs it"],
    ["a missing id", mapping({ job: { status: STATUS } }), "job.id is missing"],
    ["a faulty template", withJob({ links: [{ title: "Log", url: "{{payload.log" }] }), "job.links.0.url: line 1"],
    ["a faulty path", withJob({ output: "payload." }), "job.output: line 1"],
    ["a status without words", withJob({ status: { path: "payload.state" } }), "job.status has no words"],
    [
      "a word in two lists",
      withJob({ status: { ...STATUS, failed: ["done"] } }),
      'job.status has "done" in two lists: leave it in one',
    ],
    ["a step with half a range", withJob({ step: { key: "{{a}}", from: 5 } }), "job.step needs both from and to"],
    ["a range that goes back", withJob({ step: { key: "{{a}}", from: 9, to: 5 } }), "job.step.to must not be less"],
    ["an empty idPrefix", mapping({ idPrefix: "" }), "idPrefix must not be empty"],
  ] as const) {
    it(`reports ${title}`, () => {
      const [found, ...others] = problemsOf(faulty);

      expect(others).to.deep.equal([]);
      expect(found).to.match(/^hooks\.mappings\.0\./);
      expect(found?.slice("hooks.mappings.0.".length).startsWith(problem), found).to.equal(true);
    });
  }

  for (const prefix of ["a/", "a/b/", "a"]) {
    it(`reports the prefix ${prefix} beside a/, with which a sender could name the jobs of another`, () => {
      const [found] = problemsOf(mapping({ id: "a" }), mapping({ id: "b", match: { path: "b" }, idPrefix: prefix }));

      expect(found).to.match(/^hooks\.mappings\.1\.idPrefix a\S* overlaps with a\/ of the mapping a, /);
    });
  }

  it("accepts mappings that both state their common prefix, and prefixes of others", () => {
    const one = (id: string, more: object = {}) => mapping({ id, match: { path: id }, ...more });

    expect(problemsOf(one("a", { idPrefix: "ci/" }), one("b", { idPrefix: "ci/" }), one("c"), one("cc"))).to.deep.equal(
      [],
    );
  });
});
