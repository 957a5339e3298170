import { expect } from "chai";
import { prepareDatabase } from "../../../src/cli/commands/service/release.ts";
import type { FreeObject } from "../../../src/models/jobs/freeObject.ts";
import { searchTerms } from "../../../src/models/jobs/search/searchKeys.ts";
import { parseConfig } from "../../../src/shared/config/load.ts";
import { startApp, type TestApp } from "../../support/app.ts";

/** A text that makes its metadata too large to be stored in the job. */
const LARGE = { text: "x".repeat(40_000) };

describe("the search for jobs", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  const found = async (query: Record<string, string>): Promise<string[]> => {
    const { body } = await app.call("GET", `/api/jobs?${new URLSearchParams(query)}&fields=name`);
    return body.jobs.map(({ jobId }: { jobId: string }) => jobId).sort();
  };
  const put = (jobId: string, body: object) => app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body);
  /** Stores a job as the version before did. */
  const putFormer = async (jobId: string, { name, metadata = {} }: { name?: string; metadata?: FreeObject }) => {
    await put(jobId, { ...(name !== undefined && { name }), metadata });
    const terms = searchTerms(metadata).map((term) => (typeof term === "string" ? term : `${term.key}=${term.value}`));
    const former = { nameKey: name?.toLowerCase() ?? null, metadataTerms: terms };
    await app.stores.jobs.collection.native.updateOne({ jobId }, { $set: former, $unset: { nameWords: 1 } });
  };
  const release = () => prepareDatabase(app.mongoUri, parseConfig(undefined, {}));

  it("distinguishes a key with an equals sign from a value with one, also in a deletion", async () => {
    await put("in-key", { metadata: { "a=b": "c" } });
    await put("in-value", { metadata: { a: "b=c" } });

    expect(await found({ "metadata.a=b": "c" })).to.deep.equal(["in-key"]);
    expect(await found({ "metadata.a": "b=c" })).to.deep.equal(["in-value"]);
    await app.call("DELETE", `/api/jobs?${new URLSearchParams({ "metadata.a": "b=c" })}`);
    expect(await found({})).to.deep.equal(["in-key"]);
  });

  it("by the beginning of a name depends on neither case nor composition, wherever a letter stands", async () => {
    await put("greek", { name: "ΟΔΟΣΑ" });
    await put("german", { name: "Große Straße" });
    await put("french", { name: "E\u0301te\u0301" });

    for (const name of ["ΟΔΟΣ", "οδος", "οδοσ", "ΟΔΟΣΑ"]) expect(await found({ name }), name).to.deep.equal(["greek"]);
    for (const name of ["GROSSE STRASSE", "grosse straß"])
      expect(await found({ name }), name).to.deep.equal(["german"]);
    for (const name of ["ét", "É", "e\u0301"]) expect(await found({ name }), name).to.deep.equal(["french"]);
  });

  it("finds no other job among those that an earlier version stored, before and after a release", async () => {
    await putFormer("in-key", { metadata: { "a=b": "c" } });
    await putFormer("in-nested-key", { metadata: { a: { "x=y": 'say "z":1' } } });
    await putFormer("in-value", { metadata: { a: "b=c", text: 'he said "k=v": "w"\\'.repeat(800) } });
    await putFormer("large", { metadata: { "a=b": "c", ...LARGE } });
    await putFormer("large-value", { metadata: { a: "b=c", ...LARGE } });
    await put("new", { metadata: { a: "b=c", "k=v": 1 } });

    const before = await found({ "metadata.a": "b=c" });
    await release();

    expect(before).to.deep.equal(["in-value", "new"]);
    expect(await found({ "metadata.a": "b=c" })).to.deep.equal(["in-value", "large-value", "new"]);
    expect(await found({ "metadata.a=b": "c" })).to.deep.equal(["in-key", "large"]);
    expect(await found({ "metadata.a.x=y": 'say "z":1' })).to.deep.equal(["in-nested-key"]);
    expect(await found({ "metadata.a.x": 'y=say "z":1' })).to.deep.equal([]);
  });

  it("finds the names that an earlier version stored as it did, and after a release all", async () => {
    await putFormer("german", { name: "Straße" });
    await putFormer("greek", { name: "ΟΔΟΣΑ" });
    await putFormer("french", { name: "E\u0301te\u0301" });

    const before = [await found({ name: "straße" }), await found({ name: "ΟΔΟΣΑ" }), await found({ name: "e\u0301T" })];
    await release();

    expect(before).to.deep.equal([["german"], ["greek"], ["french"]]);
    expect(await found({ name: "STRASS" })).to.deep.equal(["german"]);
    expect(await found({ name: "ΟΔΟΣ" })).to.deep.equal(["greek"]);
    expect(await found({ name: "ÉT" })).to.deep.equal(["french"]);
  });

  it("finds words anywhere in a name, and jobs of an earlier version as before until a release", async () => {
    await put("report-1", { name: "Nightly Straßen-report, ÉTÉ" });
    await putFormer("former", { name: "Weekly report" });
    await put("ci/build 7", {});
    await put("ci/build 70", { name: null });
    await put("renamed", { name: "report" });
    await put("renamed", { name: "Something else" });

    const search = async (text: string) => found({ search: text });
    const before = [await search("report"), await search("weekly REP")];
    await release();

    expect(before).to.deep.equal([["report-1"], ["former"]]);
    expect(await search("REPORT")).to.deep.equal(["former", "report-1"]);
    expect(await search("rep night")).to.deep.equal(["report-1"]);
    expect(await search("strasse été")).to.deep.equal(["report-1"]);
    expect(await search("eport")).to.deep.equal([]);
    expect(await search("report absent")).to.deep.equal([]);
    expect(await search("ci/build 7")).to.deep.equal(["ci/build 7", "ci/build 70"]);
    expect((await app.call("DELETE", "/api/jobs?search=report")).body.code).to.equal("invalid_query");
  });

  it("counts the jobs that match it, in each state", async () => {
    await put("1", { name: "Nightly report", metadata: { team: "a" } });
    await put("2", { name: "Weekly report", metadata: { team: "a" }, status: "failed" });
    await put("3", { name: "Report", metadata: { team: "b" }, status: "completed" });
    await put("4", { name: "Backup", status: "failed" });

    const all = (await app.call("GET", "/api/stats?search=report")).body;
    const some = (await app.call("GET", "/api/stats?search=report&metadata.team=a")).body;

    expect(all.jobs).to.deep.equal({ total: 3, running: 1, completed: 1, failed: 1, stale: 0 });
    expect(all.lastHour).to.deep.equal({ created: 3, completed: 1, failed: 1 });
    expect(all).to.include({ capped: false, usageLastHour: null });
    expect(some.jobs).to.include({ total: 2, running: 1, failed: 1 });
    expect((await app.call("GET", "/api/stats")).body.jobs.total).to.equal(4);
    app.clock.advance(86_400_000);
    expect((await app.call("GET", "/api/stats?search=report")).body.jobs.stale).to.equal(1);
  });

  it("is migrated once, and leaves other jobs unchanged", async () => {
    await putFormer("former", { name: "Straße", metadata: { "a=b": "c", plain: 1 } });
    await put("present", { name: "Straße", metadata: { "a=b": "c", url: "http://x?y=z" } });
    const { collection } = app.stores.jobs;
    const present = await collection.findOne({ jobId: "present" });

    await release();
    const once = await collection.findOne({ jobId: "former" });
    await release();

    expect(once).to.include({ nameKey: "strasse" });
    expect(once?.nameWords).to.deep.equal(["strasse"]);
    expect(once?.metadataTerms).to.deep.equal([{ key: "a=b", value: "c" }, "plain=1"]);
    expect(await collection.findOne({ jobId: "former" })).to.deep.equal(once);
    expect(await collection.findOne({ jobId: "present" })).to.deep.equal(present);
  });
});
