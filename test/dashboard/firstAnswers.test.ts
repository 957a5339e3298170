import { expect } from "chai";
import { bearer, startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { createJob, report } from "../support/factories.ts";

const API = "an-api-token-of-length";
const TEAM = "a-token-of-team-a-of-length";
const CONFIG = `{ server: { apiToken: "${API}", tokens: [
  { name: "team", token: "${TEAM}", scopes: ["jobs:read"], jobs: { idPrefix: "a/" } },
] } }`;

/** Returns the answers in a document; null without any. */
const answersIn = (document: string) =>
  JSON.parse(/<script type="application\/json" id="first">(.*?)<\/script>/s.exec(document)?.[1] ?? "null");

describe("the document of the dashboard", () => {
  let app: TestApp;
  const contexts = new BrowserContexts();
  before(async () => {
    app = await startApp({ config: CONFIG });
    for (const jobId of ["a/1", "b/1"]) {
      const path = `/api/jobs/${encodeURIComponent(jobId)}`;
      await app.call("PUT", path, { name: `Job ${jobId} </script><b>` }, bearer(API));
      await app.call("PUT", `${path}/steps/s`, { stepName: "Load", progress: 10 }, bearer(API));
    }
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  const cookieOf = async (token: string) => {
    const { headers } = await app.call("POST", "/session", { token });
    return { Cookie: headers.get("Set-Cookie")?.split(";")[0] ?? "" };
  };
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await app.call("GET", path, undefined, headers);
    return { ...answer, answers: answersIn(answer.body) };
  };

  it("has the answers that its page reads first, for a browser that is logged in", async () => {
    const cookie = await cookieOf(API);

    const list = await open("/", cookie);
    const job = await open("/jobs/a%2F1?step=s", cookie);

    expect(list.answers.session).to.include({ access: "full", needsToken: true });
    expect(list.answers.jobs).to.deep.equal(
      (await app.call("GET", `/api/jobs?fields=${Object.keys(list.answers.jobs.jobs[0])}`, undefined, cookie)).body,
    );
    expect(job.answers.job).to.deep.equal((await app.call("GET", "/api/jobs/a%2F1", undefined, cookie)).body);
    expect(job.answers.urgent.steps[0]).to.include({ stepKey: "s", status: "running" });
    expect(job.answers.completed.steps).to.deep.equal([]);
    expect(list.headers.get("Cache-Control")).to.equal("no-store");
    expect(list.headers.get("Content-Security-Policy")).to.include("script-src 'self'");
    expect(list.body).to.not.include("</script><b>").and.not.include("preload");
  });

  it("has of the jobs only those that the caller may read, and nothing for a browser that has to log in", async () => {
    const team = await cookieOf(TEAM);

    const list = await open("/", team);
    const own = await open("/jobs/a%2F1", team);
    const other = await open("/jobs/b%2F1", team);
    const missing = await open("/jobs/none", await cookieOf(API));

    expect(list.answers.jobs.jobs.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal(["a/1"]);
    expect(own.answers.job.jobId).to.equal("a/1");
    expect(Object.keys(other.answers)).to.deep.equal(["session"]);
    expect([missing.status, Object.keys(missing.answers)]).to.deep.equal([200, ["session"]]);
    for (const headers of [{}, { Cookie: "signalbox_session=wrong" }]) {
      const { answers, headers: sent } = await open("/", headers);
      expect([answers, sent.get("Cache-Control")]).to.deep.equal([null, "no-cache"]);
    }
    expect((await open("/?status=failed", team)).answers).to.equal(null);
    expect((await open("/runs", team)).answers).to.equal(null);
  });

  it("leaves out an answer that is too large", async () => {
    const path = "/api/jobs/a%2Flarge";
    await app.call("PUT", path, { input: { text: "x".repeat(300_000) } }, bearer(API));

    const { answers } = await open("/jobs/a%2Flarge", await cookieOf(API));

    expect(Object.keys(answers)).to.deep.equal(["session", "urgent", "completed"]);
    await app.call("DELETE", path, undefined, bearer(API));
  });
});

describe("the first content of the dashboard", () => {
  let app: TestApp;
  const contexts = new BrowserContexts();
  before(async () => {
    app = await startApp();
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("needs no request to the API, and is brought up to date once the page is connected", async () => {
    const job = await createJob(app, { name: "Import", metadata: { team: "sales" } });
    await report(app, job.path, "a", { stepName: "Load", message: "40 rows" });
    await report(app, job.path, "b", { stepName: "Fetch", status: "completed" });
    const page = await contexts.open("about:blank");
    const held = Promise.withResolvers<void>();
    await page.route(/\/(api|session)\b/, async (route) => {
      await held.promise;
      await route.continue();
    });

    await page.goto(app.url);
    const row = page.getByRole("row").filter({ hasText: "Import" });
    await row.getByText("40 rows").waitFor();
    await row.getByText("team = sales").waitFor();
    await row.getByRole("link", { name: "Import" }).click();
    await page.goto(`${app.url}/jobs/${job.jobId}`);
    await page.getByRole("row").filter({ hasText: "Load" }).getByText("40 rows").waitFor();
    await page.getByRole("row").filter({ hasText: "Fetch" }).waitFor();

    await report(app, job.path, "a", { stepName: "Load", message: "50 rows" });
    held.resolve();
    await page.getByRole("row").filter({ hasText: "Load" }).getByText("50 rows").waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("is there before the script, with links that work, at the place where the script draws it", async () => {
    const job = await createJob(app, { name: "Export <b>" });
    await report(app, job.path, "a", { stepName: "Load & sort", status: "failed", message: "No rows" });
    const page = await contexts.open("about:blank");
    await page.route(/\.js$/, (route) => route.abort());

    await page.goto(app.url);
    const jobs = await page.locator(".row").filter({ hasText: "Export <b>" }).textContent();
    await page.getByRole("link", { name: "Export <b>" }).click();
    await page.getByRole("heading", { level: 1, name: "Export <b>" }).waitFor();
    const headline = await page.locator(".headline").textContent();
    const step = page.locator(".row").filter({ hasText: "Load & sort" });
    const [text, before] = [await step.textContent(), await step.boundingBox()];
    await page.unrouteAll();
    await step.getByRole("link").click();
    await page.getByRole("heading", { level: 2, name: "Load & sort" }).waitFor();

    expect(jobs).to.match(/Running/);
    expect(headline).to.match(/Running.*0 of 1 step, 1 failed/s);
    expect(text).to.match(/Load & sort.*No rows/s);
    const after = await page.getByRole("row").filter({ hasText: "Load & sort" }).boundingBox();
    expect(after?.y).to.be.closeTo(before?.y ?? 0, 40);
  });
});
