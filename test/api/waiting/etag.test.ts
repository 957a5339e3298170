import { expect } from "chai";
import { etagOf, matchesETag } from "../../../src/api/etag.ts";
import { createJob, report } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

describe("the ETag of GET /api/jobs/:jobId", () => {
  const app = useSharedApp();

  const etagAt = async (path: string) => {
    const { status, headers } = await app.call("GET", path);
    expect(status).to.equal(200);
    return headers.get("ETag") ?? "";
  };

  const changes: [title: string, change: (path: string) => Promise<unknown>][] = [
    ["the first report of a step", (path) => report(app, path, "load", {})],
    ["a report that changes only the current step", (path) => report(app, path, "read", { progress: 5 })],
    ["an output of a step", (path) => report(app, path, "read", { output: { rows: 1 } })],
    ["a change of the metadata", (path) => app.call("PUT", path, { metadata: { team: "data" } })],
    ["a large input", (path) => app.call("PUT", path, { input: { text: "x".repeat(40_000) } })],
    ["the end", (path) => app.call("PUT", path, { status: "completed" })],
    ["staleness", async () => app.clock.advance(901_000)],
  ];
  for (const [title, change] of changes) {
    it(`changes with ${title}, and not otherwise`, async () => {
      const { path } = await createJob(app);
      await report(app, path, "read", { progress: 1 });
      const before = [await etagAt(path), await etagAt(`${path}?include=steps`)];
      const again = [await etagAt(path), await etagAt(`${path}?include=steps`)];

      await change(path);
      const after = [await etagAt(path), await etagAt(`${path}?include=steps`)];

      expect(again).to.deep.equal(before);
      expect(after[0]).to.not.equal(before[0]);
      expect(after[1]).to.not.equal(before[1]);
    });
  }

  it("of ?include=steps changes with a step that the plain response does not show", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", { status: "completed" });
    await app.call("PUT", path, { status: "completed" });
    const before = [await etagAt(path), await etagAt(`${path}?include=steps`)];
    const update = { $set: { "steps.a.message": "corrected" } };
    await app.stores.jobs.collection.native.updateOne({ jobId: path.split("/").at(-1) ?? "" }, update);

    const after = [await etagAt(path), await etagAt(`${path}?include=steps`)];

    expect(after[0]).to.equal(before[0]);
    expect(after[1]).to.not.equal(before[1]);
  });

  for (const method of ["GET", "HEAD"]) {
    it(`makes a ${method} with If-None-Match and without a wait 304 at once`, async () => {
      const { path } = await createJob(app);
      const etag = await etagAt(path);

      const { status, body, headers } = await app.call(method, path, undefined, { "If-None-Match": `"x", ${etag}` });

      expect([status, body, headers.get("ETag")]).to.deep.equal([304, "", etag]);
      expect(headers.get("Preference-Applied")).to.equal(null);
      expect(headers.get("Cache-Control")).to.equal("no-store");
    });
  }

  describe("matchesETag", () => {
    const etag = etagOf('{"jobId":"a"}');
    const strong = etag.replace("W/", "");
    const cases: [header: string | undefined, expected: boolean][] = [
      [undefined, false],
      ["", false],
      [etag, true],
      [strong, true],
      [`"other", ${etag}`, true],
      [`"other",${strong}`, true],
      ["*", true],
      [strong.replace(/"$/, '-gzip"'), true],
      [strong.replace(/"$/, '0"'), false],
      [strong.slice(0, -2), false],
      ['W/""', false],
      [etagOf('{"jobId":"b"}'), false],
    ];
    for (const [header, expected] of cases) {
      it(`${expected ? "accepts" : "rejects"} ${header}`, () => {
        expect(matchesETag(header, etag)).to.equal(expected);
      });
    }
  });
});
