import { expect } from "chai";
import { jobQuery } from "../../../../src/models/jobs/search/jobFilter.ts";
import { stagesOf } from "../../../support/queryPlan.ts";
import { useApp } from "../../../support/useApp.ts";

describe("the search for jobs", () => {
  const app = useApp();

  const found = async (query: Record<string, string>): Promise<string[]> => {
    const { body } = await app.call("GET", `/api/jobs?${new URLSearchParams(query)}&fields=name`);
    return body.jobs.map(({ jobId }: { jobId: string }) => jobId).sort();
  };
  const put = (jobId: string, body: object) => app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body);

  it("finds words of the message of a failed job, in upper or lower case of any letters", async () => {
    await put("german", { status: "failed", message: "Kein Platz für ÄPFEL und Öl" });
    await put("turkish", { status: "failed", message: "İstanbul'da hata" });
    await put("russian", { status: "failed", message: "Ошибка ДИСКА" });
    await put("composed", { status: "failed", message: "E\u0301chec total" });
    await put("long", { status: "failed", message: Array.from({ length: 60 }, (_, i) => `word${99 - i}`).join(" ") });
    await put("done", { status: "completed", message: "Äpfel" });
    await put("running", { message: "Äpfel" });
    const search = async (text: string) => found({ search: text });

    for (const [job, texts] of Object.entries({
      german: ["äpfel", "Äpfel", "ÄPFEL", "öl äpf", "FÜR platz", "a\u0308pfel"],
      turkish: ["İstanbul", "İSTANBUL", "hata"],
      russian: ["ошибка", "ОШИБКА", "Ошиб диска", "Диска"],
      composed: ["échec", "ÉCHEC", "e\u0301ch"],
      long: ["word99", "word41 WORD40"],
    }))
      for (const text of texts) expect(await search(text), text).to.deep.equal([job]);
    expect(await search("äpfel hata")).to.deep.equal([]);
    await put("german", { status: "running" });
    expect(await search("äpfel")).to.deep.equal([]);
  });

  it("reads words from indexes, in whatever letters", async () => {
    for (const search of ["platz", "äpfel öl", "ОШИБКА"]) {
      const query = app.stores.jobs.collection.native.find(jobQuery({ search }, app.clock.now()));
      const { queryPlanner } = await query.sort({ createdAt: -1, _id: -1 }).explain("queryPlanner");

      expect(stagesOf(queryPlanner.winningPlan), search).to.include("IXSCAN").and.not.include("COLLSCAN");
    }
  });

  it("distinguishes a key with an equals sign from a value with one, also in a deletion", async () => {
    await put("in-key", { metadata: { "a=b": "c" } });
    await put("in-value", { metadata: { a: "b=c" } });
    await put("in-nested-key", { metadata: { a: { "x=y": 'say "z":1' } } });

    expect(await found({ "metadata.a=b": "c" })).to.deep.equal(["in-key"]);
    expect(await found({ "metadata.a": "b=c" })).to.deep.equal(["in-value"]);
    expect(await found({ "metadata.a.x=y": 'say "z":1' })).to.deep.equal(["in-nested-key"]);
    expect(await found({ "metadata.a.x": 'y=say "z":1' })).to.deep.equal([]);
    await app.call("DELETE", `/api/jobs?${new URLSearchParams({ "metadata.a": "b=c" })}`);
    expect(await found({})).to.deep.equal(["in-key", "in-nested-key"]);
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

  it("finds words anywhere in a name, and the beginning of an id", async () => {
    await put("report-1", { name: "Nightly Straßen-report, ÉTÉ" });
    await put("weekly", { name: "Weekly report" });
    await put("ci/build 7", {});
    await put("ci/build 70", { name: null });
    await put("renamed", { name: "report" });
    await put("renamed", { name: "Something else" });

    const search = async (text: string) => found({ search: text });

    expect(await search("REPORT")).to.deep.equal(["report-1", "weekly"]);
    expect(await search("weekly REP")).to.deep.equal(["weekly"]);
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
});
