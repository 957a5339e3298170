import { expect } from "chai";
import { bearer, startApp, type TestApp } from "../../support/app.ts";

const TOKEN = "a-token-of-the-data-team";
const MINUTE_MS = 60_000;

describe("GET /api/history", () => {
  let app: TestApp;
  before(async () => {
    const tokens = [{ name: "data", token: TOKEN, scopes: ["jobs:read"], jobs: { idPrefix: "data/" } }];
    const server = { apiToken: "an-api-token-of-length", tokens };
    const expected = [{ id: "backup", name: "back", every: "1d" }];
    app = await startApp({ config: JSON.stringify({ server, expect: expected }) });
  });
  after(() => app.close());
  beforeEach(() => app.database.collections.jobs.deleteMany({}));

  const read = async (query = "", token = "an-api-token-of-length") =>
    (await app.call("GET", `/api/history${query}`, undefined, bearer(token))).body;
  const put = (jobId: string, body: object) =>
    app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body, bearer("an-api-token-of-length"));
  const namesOf = ({ names }: { names: { name: string }[] }) => names.map(({ name }) => name);
  /** Creates a job, and ends it two minutes later. */
  const run = async (jobId: string, name: string, status: string, message?: string) => {
    await put(jobId, { name });
    app.clock.advance(2 * MINUTE_MS);
    await put(jobId, { status, ...(message && { message }) });
  };

  it("lists names with their newest jobs, the last failure and the next due time", async () => {
    for (let i = 0; i < 25; i++)
      await run(`import-${i}`, "Import", i === 20 ? "failed" : "completed", i === 20 ? "The disk is full" : "");
    await put("backup", { name: "Backup" });
    await app.stores.expectations.begin("backup", "back");
    const { names, nextCursor } = await read();
    expect([names.map(({ name }: { name: string }) => name), nextCursor]).to.deep.equal([["Backup", "Import"], null]);
    const [backup, imports] = names;
    expect(backup.runs[0]).to.include({ jobId: "backup", status: "running" });
    expect(backup.nextDueAt).to.be.a("string");
    expect(imports.runs.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal(
      Array.from({ length: 20 }, (_, i) => `import-${24 - i}`),
    );
    expect(imports.runs[0].durationMs).to.be.within(2 * MINUTE_MS, 2.5 * MINUTE_MS);
    expect(imports.lastFailure).to.include({ jobId: "import-20", message: "The disk is full" });
    expect(imports).to.include({ nextDueAt: null });
    expect(namesOf(await read("?name=Import"))).to.deep.equal(["Import"]);
  });

  it("lists names that differ only in case apart", async () => {
    for (const name of ["Import", "import", "IMPORT"]) await put(name, { name });
    const { names } = await read();
    expect(
      names.map(({ name, runs }: { name: string; runs: { jobId: string }[] }) => [name, runs.length]),
    ).to.deep.equal([
      ["IMPORT", 1],
      ["import", 1],
      ["Import", 1],
    ]);
    expect((await read("?name=Import")).names[0].runs[0].jobId).to.equal("Import");
    expect(
      (await app.call("GET", "/api/jobs?name=imp", undefined, bearer("an-api-token-of-length"))).body.jobs,
    ).to.have.length(3);
  });

  it("shows cancelled jobs as such, and the last failure before them, however many jobs came since", async () => {
    await run("broken", "Import", "failed", "The disk is full");
    for (let i = 0; i < 25; i++) await run(`import-${i}`, "Import", "completed");
    await put("cancelled", { name: "Import" });
    await app.call("POST", "/api/jobs/cancelled/cancel", { force: true }, bearer("an-api-token-of-length"));
    const [{ runs, lastFailure }] = (await read()).names;
    expect(runs[0]).to.include({ jobId: "cancelled", status: "cancelled" });
    expect(lastFailure).to.include({ jobId: "broken", message: "The disk is full" });
    expect((await read("?window=30m")).names[0].lastFailure).to.equal(null);
  });

  it("leaves out names without a job in the window, and jobs without a name", async () => {
    await put("old", { name: "Old" });
    app.clock.advance(50 * MINUTE_MS);
    await put("new", { name: "New" });
    await put("nameless", {});
    expect(namesOf(await read("?window=30m"))).to.deep.equal(["New"]);
    expect(namesOf(await read("?window=2h"))).to.deep.equal(["New", "Old"]);
    expect((await read("?window=soon")).code).to.equal("invalid_query");
  });

  it("folds the digits of more than five names that differ in them alone", async () => {
    for (let i = 0; i < 8; i++) await put(`shard-${i}`, { name: `Resize shard ${i}` });
    for (let i = 0; i < 5; i++) await put(`part-${i}`, { name: `Part ${i}` });
    const history = await read();
    expect(namesOf(history)).to.deep.equal(["Part 4", "Part 3", "Part 2", "Part 1", "Part 0", "Resize shard #"]);
    expect(history.names[5].runs).to.have.length(8);
    expect(namesOf(await read(`?name=${encodeURIComponent("Resize shard #")}`))).to.deep.equal(["Resize shard #"]);
  });

  it("pages through the names, each once", async () => {
    const created = Array.from("abcdefg", (letter) => `name ${letter}`);
    for (const name of created) await put(name, { name });
    const found: string[] = [];
    for (let cursor = ""; ; ) {
      const page = await read(`?limit=3${cursor && `&cursor=${cursor}`}`);
      found.push(...namesOf(page));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(found.toSorted()).to.deep.equal(created);
  });

  it("shows a confined token only its jobs", async () => {
    await put("data/1", { name: "Import" });
    await put("web/1", { name: "Import" });
    await put("web/2", { name: "Secret" });
    const { names } = await read("", TOKEN);
    expect(names).to.have.length(1);
    expect(names[0].runs.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal(["data/1"]);
  });

  it("reads one entry of the index for each name", async () => {
    for (let i = 0; i < 50; i++) await put(`many-${i}`, { name: "Many" });
    const { native } = app.stores.jobs.collection;
    const first = { $first: "$createdAt" };
    const stages = [
      { $sort: { nameKey: 1, createdAt: -1, _id: -1 } },
      { $group: { _id: "$nameKey", name: { $first: "$name" }, newest: first } },
    ];
    expect(JSON.stringify(await native.aggregate(stages).explain())).to.include("DISTINCT_SCAN");
  });
});
