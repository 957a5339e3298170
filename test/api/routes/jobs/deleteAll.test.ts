import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { runInProcess } from "../../../support/cli.ts";
import { createJob } from "../../../support/factories.ts";

/** The status and code of `DELETE /api/jobs` by its query, for each value of `jobs.deleteAll`. */
const ANSWERS = {
  allow: { "": "200", "?all=true": "200", "?status=failed": "200" },
  "require-all": { "": "400 invalid_query", "?all=true": "200", "?status=failed": "200" },
  forbid: { "": "403 deletion_forbidden", "?all=true": "403 deletion_forbidden", "?status=failed": "200" },
} as const;

describe("jobs.deleteAll", () => {
  for (const [policy, answers] of Object.entries(ANSWERS)) {
    describe(policy, () => {
      let app: TestApp;
      beforeEach(async () => {
        app = await startApp({ config: `{ jobs: { deleteAll: "${policy}" } }` });
      });
      afterEach(() => app.close());

      for (const [query, expected] of Object.entries(answers)) {
        it(`answers DELETE /api/jobs${query} with ${expected}`, async () => {
          await createJob(app, { status: "failed" });

          const { status, body } = await app.call("DELETE", `/api/jobs${query}`);

          expect([status, body.code].filter(Boolean).join(" ")).to.equal(expected);
          const { jobs } = (await app.call("GET", "/api/jobs")).body;
          expect(jobs).to.have.length(status === 200 ? 0 : 1);
          if (status !== 200) expect(body.detail).to.include("status=failed");
          if (status === 400) expect(body.errors[0].parameter).to.equal("all");
        });
      }

      it("applies to `jobs delete --all`, which sends all=true", async () => {
        await createJob(app);

        const { code, stdout, stderr } = await runInProcess(["jobs", "delete", "--all", "--yes"], {
          SIGNALBOX_URL: app.url,
        });

        if (policy === "forbid")
          expect([code, stderr]).to.deep.equal([3, stderr.match(/^.*`forbid`.*filter.*\n$/)?.[0]]);
        else expect([code, stdout]).to.deep.equal([0, "deleted 1 job\n"]);
      });
    });
  }
});
