import { expect } from "chai";
import { useApp } from "../../support/useApp.ts";

describe("a job's times", () => {
  const app = useApp();

  const report = async (progress: number) => {
    const { status } = await app.call("PUT", "/api/jobs/a/steps/s", { stepName: "S", progress });
    expect(status).to.be.oneOf([200, 201]);
  };
  const listed = async (query: string) =>
    (await app.call("GET", `/api/jobs?${query}`)).body.jobs.map(({ jobId }: { jobId: string }) => jobId);

  it("are exact to the millisecond after each report", async () => {
    await app.call("PUT", "/api/jobs/a", { staleAfterSeconds: 300 });
    for (const progress of [1, 2, 3, 4]) {
      app.clock.advance(25_000);
      const before = app.clock.now();
      await report(progress);

      const { updatedAt, lastReportAt, staleAt } = (await app.call("GET", "/api/jobs/a")).body;
      expect(new Date(updatedAt)).to.be.within(before, app.clock.now());
      expect(lastReportAt).to.equal(updatedAt);
      expect(Date.parse(staleAt) - Date.parse(updatedAt)).to.equal(300_000);
      expect(await listed(`updatedFrom=${updatedAt}`)).to.deep.equal(["a"]);
      expect(await listed(`updatedBefore=${updatedAt}`)).to.deep.equal([]);
    }
  });

  it("make a job stale at the right time and not before", async () => {
    await app.call("PUT", "/api/jobs/a", { staleAfterSeconds: 60 });
    for (const progress of [1, 2, 3, 4, 5, 6]) {
      app.clock.advance(24_000);
      await report(progress);
    }

    app.clock.advance(30_000);
    const before = [await listed("stale=true"), await listed("stale=false")];
    app.clock.advance(30_000);
    const after = [await listed("stale=true"), await listed("stale=false")];

    expect(before).to.deep.equal([[], ["a"]]);
    expect(after).to.deep.equal([["a"], []]);
    expect((await app.call("GET", "/api/jobs/a")).body).to.include({ stale: true });
  });
});
