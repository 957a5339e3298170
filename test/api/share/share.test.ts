import { expect } from "chai";
import { reportStep } from "../../../src/models/jobs/reports/reportStep.ts";
import { bearer, startApp, type TestApp } from "../../support/app.ts";

const API = "an-api-token-of-length";
const SOON = "a-token-that-ends-in-an-hour";
const TEAM = "the-token-of-another-team";
const REPORTER = "a-token-that-only-reports";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("share links", () => {
  let app: TestApp;
  before(async () => {
    const soon = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + HOUR_MS).toISOString();
    const tokens = [
      { name: "soon", token: SOON, scopes: ["jobs:read"], expiresAt: soon },
      { name: "team", token: TEAM, scopes: ["jobs:read"], jobs: { idPrefix: "team/" } },
      { name: "reporter", token: REPORTER, scopes: ["jobs:report"] },
    ];
    const config = JSON.stringify({ server: { apiToken: API, tokens } });
    app = await startApp({ config, countFailure: async () => {} });
  });
  after(() => app.close());

  let path: string;
  beforeEach(async () => {
    path = `/api/jobs/job-${Math.random()}`;
    await app.call(
      "PUT",
      path,
      { name: "Import <b>orders</b>", input: { key: "in-secret" }, metadata: { a: "meta-secret" } },
      bearer(API),
    );
  });

  const share = async (body: object = {}, by = API) => app.call("POST", `${path}/share`, body, bearer(by));
  const link = async (body?: object): Promise<string> => (await share(body)).body.url;
  const revoke = (by = API) => app.call("DELETE", `${path}/share`, undefined, bearer(by));
  const report = (body: object) => app.call("PUT", `${path}/steps/load`, body, bearer(API));
  async function visit(url: string, headers = {}) {
    const response = await fetch(url, { headers, redirect: "manual" });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  it("creates a link for a week, which shows the job without a log-in, and neither input nor metadata", async () => {
    await report({
      stepName: "Load <rows>",
      progress: 40,
      jobProgressStart: 0,
      jobProgressEnd: 50,
      message: "4 of <10>",
    });
    const { status, body } = await share();

    expect(status).to.equal(201);
    expect(Date.parse(body.expiresAt) - app.clock.now().getTime()).to.be.closeTo(7 * DAY_MS, 60_000);
    expect(body.url).to.match(new RegExp(`^${app.url}/s/sbs_`));
    const page = await visit(body.url);
    expect(page.status).to.equal(200);
    expect(page.text).to.include("Import &#60;b&#62;orders&#60;/b&#62;").and.include("Load &#60;rows&#62;");
    expect(page.text).to.include("4 of &#60;10&#62;").and.include('value="20"').and.include("Running");
    expect(page.text).not.to.match(/<script|<b>|secret/);
    expect(page.text).to.include('<meta http-equiv="refresh" content="5">');
    const data = JSON.parse((await visit(`${body.url}.json`)).text);
    expect(data).to.deep.include({ title: "Import <b>orders</b>", status: "running", progress: 20, stepCount: 1 });
    expect(data.steps[0]).to.deep.include({ stepName: "Load <rows>", progress: 40 });
    expect(data).to.not.have.any.keys("input", "metadata", "output", "jobId");
    expect(JSON.stringify(data)).not.to.include("secret");
  });

  it("shows an ended job without a refresh, and its output only if the link includes it", async () => {
    const [without, included] = [await link(), await link({ include: ["output"] })];
    const output = { rows: "<i>1</i>" };
    await report({
      stepName: "Load",
      status: "completed",
      progress: 100,
      jobProgressStart: 0,
      jobProgressEnd: 100,
      output,
    });
    const [plain, full] = [await visit(without), await visit(included)];

    for (const { text } of [plain, full]) expect(text).to.include("Completed").and.not.include("http-equiv");
    expect(plain.text).not.to.include("rows");
    expect(full.text).to.include("&#60;i&#62;1");
    expect(JSON.parse((await visit(`${without}.json`)).text)).to.not.have.property("output");
    expect(JSON.parse((await visit(`${included}.json`)).text).output).to.deep.equal(output);
  });

  it("shows the end of the log only if the link includes it, without colours", async () => {
    await report({ stepName: "Load" });
    const lines = "\u001b[31mred <b>\u001b[0m\nlast\n";
    const sent = await fetch(`${app.url}${path}/steps/load/log`, {
      method: "POST",
      body: lines,
      headers: { ...bearer(API), "Content-Type": "text/plain" },
    });
    expect(sent.status).to.equal(204);
    const [without, included] = [await link(), await link({ include: ["log"] })];

    expect((await visit(included)).text).to.include("red &#60;b&#62;\nlast");
    const data = JSON.parse((await visit(`${included}.json`)).text);
    expect(data.log.map(({ text }: { text: string }) => text)).to.deep.equal(["red <b>", "last"]);
    expect((await visit(without)).text).not.to.include("red");
    expect(JSON.parse((await visit(`${without}.json`)).text)).to.not.have.property("log");
  });

  it("shows the last 200 of many steps, and their number", async () => {
    const jobId = decodeURIComponent(path.slice("/api/jobs/".length));
    const steps = Array.from({ length: 205 }, (_, i) => `Step ${i + 1}`);
    for (const stepName of steps) await reportStep(app.stores, jobId, stepName, { stepName });
    const url = await link();
    const data = JSON.parse((await visit(`${url}.json`)).text);

    expect([data.steps.length, data.stepCount]).to.deep.equal([200, 205]);
    expect(data.steps.at(-1).stepName).to.equal("Step 205");
    expect((await visit(url)).text).to.include("The last 200 of 205 steps");
  });

  it("forbids to keep, index, refer from and frame what it shows, in every form", async () => {
    const url = await link();
    for (const form of ["", ".json", ".svg"]) {
      const { status, headers } = await visit(url + form);
      expect(status).to.equal(200);
      expect(headers.get("Cache-Control"), form).to.equal("private, no-store");
      expect(headers.get("Referrer-Policy"), form).to.equal("no-referrer");
      expect(headers.get("X-Robots-Tag"), form).to.include("noindex");
      expect(headers.get("X-Frame-Options"), form).to.equal("DENY");
      expect(headers.get("Content-Security-Policy"), form)
        .to.include("frame-ancestors 'none'")
        .and.include("default-src 'none'");
    }
  });

  it("shows a badge, whose texts are escaped", async () => {
    const { headers, text } = await visit(`${await link()}.svg`);

    expect(headers.get("Content-Type")).to.equal("image/svg+xml; charset=utf-8");
    expect(text).to.include("Import &#60;b&#62;").and.include("running 0 %").and.not.include("<b>");
  });

  it("ends with DELETE, for all links of the job, and with no other job's", async () => {
    const [one, other] = [await link(), await link()];
    expect((await revoke()).status).to.equal(200);

    for (const url of [one, other]) {
      for (const form of ["", ".json", ".svg"]) expect((await visit(url + form)).status, form).to.equal(404);
    }
    expect((await visit(one)).text)
      .to.include("not valid any more")
      .and.not.include("Import");
    expect((await visit(`${one}.svg`)).text).to.include("no longer shared");
    expect((await visit(await link())).status).to.equal(200);
  });

  it("ends with its time, and with its job, also if it is created again", async () => {
    const [short, long] = [await link({ ttlSeconds: 60 }), await link({ ttlSeconds: 365 * 86_400 })];
    app.clock.advance(61_000);
    expect([(await visit(short)).status, (await visit(long)).status]).to.deep.equal([404, 200]);

    await app.call("DELETE", path, undefined, bearer(API));
    expect((await visit(long)).status).to.equal(404);
    await app.call("PUT", path, {}, bearer(API));
    expect((await visit(long)).status).to.equal(404);
  });

  it("ends no later than the token that creates it", async () => {
    const { body } = await share({ ttlSeconds: 30 * 86_400 }, SOON);
    expect(Date.parse(body.expiresAt) - app.clock.now().getTime()).to.be.at.most(HOUR_MS);
  });

  it("is good for nothing else, and no job token is good for it", async () => {
    const url = await link();
    const token = url.slice(url.indexOf("sbs_"));
    const jobToken = (await app.call("POST", `${path}/token`, { scope: "read" }, bearer(API))).body.token;

    for (const forged of [token, token.replace("sbs_", "sbj_")]) {
      expect((await app.call("GET", path, undefined, bearer(forged))).status).to.equal(401);
    }
    for (const forged of [jobToken, jobToken.replace("sbj_", "sbs_"), `${token.slice(0, -3)}AAA`]) {
      expect((await visit(`${app.url}/s/${forged}`)).status).to.equal(404);
    }
  });

  it("counts a forged link as a failed authentication, and not one that has ended", async () => {
    const failures: string[] = [];
    const limited = await startApp({
      apiToken: API,
      mongo: app.mongoUri,
      countFailure: async (ip) => void failures.push(ip),
    });
    const ended = (await link()).replace(app.url, limited.url);
    await revoke();
    await visit(ended);
    expect(failures).to.have.length(0);
    await visit(`${limited.url}/s/sbs_x.${"A".repeat(43)}`);
    expect(failures).to.have.length(1);
    await limited.close();
  });

  it("needs jobs:read, and the job within the jobs of the token, to create and to revoke", async () => {
    for (const call of [(by: string) => share({}, by), revoke]) {
      expect((await call(REPORTER)).body.code).to.equal("forbidden");
      expect((await call(TEAM)).body.code).to.equal("forbidden");
      expect((await call(SOON)).status).to.be.oneOf([200, 201]);
    }
    const missing = await app.call("POST", "/api/jobs/none/share", {}, bearer(API));
    expect([missing.status, missing.body.code]).to.deep.equal([404, "job_not_found"]);
    for (const body of [{ ttlSeconds: 365 * 86_400 + 1 }, { include: ["input"] }, { include: ["metadata"] }]) {
      expect((await share(body)).status).to.equal(400);
    }
  });

  it("leaves the token out of the log", async () => {
    const url = await link();
    await visit(`${url}.json`);
    expect(app.log.some(({ path }) => path === "/s/[token]")).to.equal(true);
    expect(JSON.stringify(app.log)).not.to.include(url.slice(url.indexOf("sbs_"), url.indexOf("sbs_") + 30));
  });

  it("has the address of the service in front, and may be framed by the sites of the configuration", async () => {
    const server = {
      apiToken: API,
      basePath: "/signalbox",
      publicUrl: "https://jobs.example.com/signalbox",
      shareFrameAncestors: ["self", "https://*.example.com:8443"],
    };
    const other = await startApp({ config: JSON.stringify({ server }), mongo: app.mongoUri });
    const { body } = await other.call("POST", `${path}/share`, {}, bearer(API));
    expect(body.url).to.match(/^https:\/\/jobs\.example\.com\/signalbox\/s\/sbs_/);
    const { status, headers } = await visit(body.url.replace("https://jobs.example.com/signalbox", other.url));
    expect(status).to.equal(200);
    expect(headers.get("Content-Security-Policy")).to.include("frame-ancestors 'self' https://*.example.com:8443;");
    expect(headers.get("X-Frame-Options")).to.equal(null);
    await other.close();
  });
});
