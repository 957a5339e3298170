import { expect } from "chai";
import { readBackup, restoreBackup } from "../../../src/models/backup.ts";
import { answerUrl } from "../../../src/models/gates/answerLinks.ts";
import { startApp } from "../../support/app.ts";
import { createJob } from "../../support/factories.ts";
import { acquireDatabase } from "../../support/servers/databases.ts";
import { useSharedApp } from "../../support/useApp.ts";

const HOUR_MS = 3_600_000;
const SCHEMA = {
  type: "object",
  properties: {
    version: { type: "string", title: "Version", pattern: "^v\\d+$" },
    mail: { type: "string", format: "email" },
    at: { type: "string", format: "date-time" },
    rows: { type: "integer", minimum: 1 },
    price: { type: "number" },
    notify: { type: "boolean", title: "Notify <everybody>" },
    color: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    regions: {
      type: "array",
      items: {
        anyOf: [
          { const: "eu", title: "Europe" },
          { const: "us", title: "America" },
        ],
      },
    },
  },
  required: ["version", "rows"],
};
const FILLED = {
  "field.version": "v7",
  "field.mail": "",
  "field.at": "2026-02-28T12:30",
  "field.rows": "12",
  "field.price": "1.5",
  "field.notify": "true",
  "field.color": "g",
  "field.regions": "eu",
};

describe("answer page", () => {
  const app = useSharedApp({ apiToken: "an-api-token-of-length", countFailure: async () => {} });
  let path: string;
  const headers = { Authorization: "Bearer an-api-token-of-length" };
  beforeEach(async () => {
    path = `/api/jobs/job-${Math.random()}`;
    await app.call("PUT", path, {}, headers);
  });

  /** Opens a gate and returns its link. */
  async function open(body: object = {}, of = app): Promise<string> {
    const question = { title: "Publish <b>now</b>?", message: "Line 1\nLine 2", ...body };
    const { status } = await of.call("PUT", `${path}/gates/publish`, question, headers);
    expect(status).to.be.oneOf([200, 201]);
    return linkOf(of);
  }
  async function linkOf(of = app): Promise<string> {
    const gate = await of.stores.gates.collection.native.findOne({
      jobId: decodeURIComponent(path.split("/")[3] ?? ""),
    });
    if (!gate) throw new Error("there is no gate");
    return answerUrl(of.stores.answerLinks, of.url, gate);
  }
  const gate = async () => (await app.call("GET", `${path}/gates/publish`, undefined, headers)).body;
  async function visit(link: string, init: RequestInit = {}) {
    const response = await fetch(link, { redirect: "manual", ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
  const post = (link: string, form: Record<string, string>, more: Record<string, string> = {}) =>
    visit(link, { method: "POST", body: new URLSearchParams({ revision: "1", ...form }), headers: more });
  const anHour = () => new Date(app.clock.now().getTime() + HOUR_MS).toISOString();

  it("shows the question and the form without a log-in, and GET and HEAD change nothing", async () => {
    const link = await open({ requestedSchema: SCHEMA });
    const before = await gate();
    const page = await visit(link);
    expect(page.status).to.equal(200);
    expect(page.text).to.contain("Publish &#60;b&#62;now&#60;/b&#62;?").and.contain("Notify &#60;everybody&#62;");
    expect(page.text).not.to.contain("<script").and.not.to.contain("<b>now");
    for (const _ of [1, 2, 3]) await visit(link);
    expect((await visit(link, { method: "HEAD" })).status).to.equal(200);
    expect(await gate()).to.deep.equal(before);
    expect(page.headers.get("Content-Security-Policy")).to.contain("default-src 'none'").and.not.contain("script-src");
    expect(page.headers.get("Referrer-Policy")).to.equal("no-referrer");
    expect(page.headers.get("X-Robots-Tag")).to.contain("noindex");
    expect(page.headers.get("Cache-Control")).to.equal("no-store");
    expect(Buffer.byteLength(page.text)).to.be.below(10_000);
  });

  it("records a posted form, and then shows what was answered and by whom", async () => {
    const link = await open({ requestedSchema: SCHEMA });
    const answered = await post(link, { ...FILLED, action: "accept", answeredBy: " Ann " });
    expect(answered.status).to.equal(303);
    expect(new URL(answered.headers.get("Location") ?? "", link).href).to.equal(link);
    expect(await gate()).to.deep.include({
      status: "answered",
      action: "accept",
      answeredBy: "Ann (by link)",
      content: {
        version: "v7",
        at: "2026-02-28T12:30:00Z",
        rows: 12,
        price: 1.5,
        notify: true,
        color: "g",
        regions: ["eu"],
      },
    });
    const page = await visit(link);
    expect(page.status).to.equal(200);
    expect(page.text).to.contain("Ann (by link)").and.contain("Green").and.contain("Europe").and.contain("yes");
    const second = await post(link, { ...FILLED, action: "decline" });
    expect([second.status, second.text.includes("Ann (by link)")]).to.deep.equal([409, true]);
    expect((await gate()).action).to.equal("accept");
  });

  it("keeps what was entered when the form does not fit, and names each fault at its field", async () => {
    const link = await open({ requestedSchema: SCHEMA });
    const { status, text } = await post(link, { ...FILLED, "field.version": '7"', "field.rows": "", action: "accept" });
    expect(status).to.equal(400);
    expect(text).to.contain('value="7&#34;"').and.contain("Version must match").and.contain("rows is required");
    expect(text.match(/aria-invalid="true"/g)).to.have.length(2);
    expect(text.match(/name="field\.price"[^>]* value="1\.5"/)).not.to.equal(null);
    expect((await gate()).status).to.equal("open");
    expect((await post(link, {})).status).to.equal(400);
    expect((await post(link, { action: "decline" })).status).to.equal(303);
    expect(await gate()).to.include({ action: "decline", content: null, answeredBy: "link" });
  });

  for (const number of [" ", "0x10", "1e2", "0b11", " 5"]) {
    it(`does not read ${JSON.stringify(number)} as a number`, async () => {
      const link = await open({ requestedSchema: SCHEMA });
      const entered = { ...FILLED, "field.rows": number, "field.price": number, action: "accept" };
      const { status, text } = await post(link, entered);

      expect(status).to.equal(400);
      expect(text).to.contain("rows must be an integer").and.contain("price must be a number");
      expect((await gate()).status).to.equal("open");
    });
  }

  it("refuses an integer whose digits would change", async () => {
    const link = await open({ requestedSchema: SCHEMA });
    const { status, text } = await post(link, { ...FILLED, "field.rows": "9007199254740993", action: "accept" });

    expect(status).to.equal(400);
    expect(text).to.contain("rows must be at most 9007199254740991").and.contain('value="9007199254740993"');
    expect((await gate()).status).to.equal("open");
  });

  it("does not take an answer for one to a question that has changed", async () => {
    const link = await open();
    const revision = /name="revision" value="(\d+)"/.exec((await visit(link)).text)?.[1] ?? "";
    await open({ title: "Delete?" });
    const changed = await post(link, { revision, action: "accept" });
    expect([changed.status, changed.text.includes("The question has changed")]).to.deep.equal([409, true]);
    expect((await gate()).status).to.equal("open");
  });

  it("says what has become of the question: expired, withdrawn, deleted", async () => {
    const expiring = await open({ expiresAt: anHour() });
    app.clock.advance(HOUR_MS);
    for (const { status, text } of [await visit(expiring), await post(expiring, { action: "accept" })])
      expect([status, text.includes("expired")]).to.deep.equal([410, true]);
    expect((await gate()).status).to.equal("expired");

    path = `${path}-2`;
    await app.call("PUT", path, {}, headers);
    const withdrawn = await open();
    await app.call("DELETE", `${path}/gates/publish`, undefined, headers);
    expect((await visit(withdrawn)).status).to.equal(410);
    await app.call("DELETE", path, undefined, headers);
    const deleted = await visit(withdrawn);
    expect([deleted.status, deleted.text.includes("no longer exists")]).to.deep.equal([410, true]);
  });

  it("keeps a link as long as its gate, also when its time is extended", async () => {
    const link = await open({ expiresAt: anHour() });
    await open({ expiresAt: new Date(app.clock.now().getTime() + 3 * HOUR_MS).toISOString() });
    app.clock.advance(2 * HOUR_MS);
    expect((await visit(link)).status).to.equal(200);
    app.clock.advance(2 * HOUR_MS);
    expect((await visit(link)).status).to.equal(410);
  });

  it("says what silence means, and takes no answer without the revision of what was shown", async () => {
    const link = await open({ expiresAt: anHour(), onExpiry: "accept" });
    const shown = await visit(link);
    const body = new URLSearchParams({ action: "accept" });
    const { status } = await visit(link, { method: "POST", body });
    expect(shown.text).to.contain("Without an answer by then, it counts as accepted.");
    expect([status, (await gate()).status]).to.deep.equal([400, "open"]);
  });

  it("refuses every token that differs from the sealed one, and never logs a token", async () => {
    const link = await open();
    const token = link.split("/").at(-1) ?? "";
    for (let i = 0; i < token.length; i++) {
      const changed = token.slice(0, i) + (token[i] === "A" ? "B" : "A") + token.slice(i + 1);
      expect((await visit(link.replace(token, changed))).status, `character ${i}`).to.equal(404);
    }
    for (const wrong of ["x", token.slice(1), `${token}A`, `${token}=`])
      expect((await visit(link.replace(token, wrong))).status).to.equal(404);
    await visit(link, { method: "PUT" });
    await visit(`${link}/`);
    await visit(link.replace("/answer/", "/ANSWER/"));
    const log = JSON.stringify(app.log);
    expect(log).to.contain('"/answer/[token]"').and.not.to.contain(token.slice(0, 40));
  });

  it("refuses a form that a page of another site posts, and takes it where the browser hides the origin", async () => {
    const link = await open();
    for (const more of [{ "Sec-Fetch-Site": "cross-site" }, { Origin: "https://evil.example" }])
      expect((await post(link, { action: "accept" }, more)).status).to.equal(403);
    expect((await gate()).status).to.equal("open");
    expect((await post(link, { action: "accept" }, { Origin: "null" })).status).to.equal(303);
  });

  it("records one of ten forms posted at once", async () => {
    const link = await open();
    const all = await Promise.all(Array.from({ length: 10 }, () => post(link, { action: "accept" })));
    expect(all.filter(({ status }) => status === 303)).to.have.length(1);
    expect(all.filter(({ status }) => status === 409)).to.have.length(9);
  });

  it("accepts a link in a database that was restored from a backup, and shows the state of the backup", async () => {
    const link = await open();
    const bytes: Uint8Array[] = [];
    for await (const part of readBackup(app.database, "test")) bytes.push(part);
    await post(link, { action: "accept" });
    const { uri, database, release } = await acquireDatabase();
    try {
      await restoreBackup(iterate(bytes), database);
      const restored = await startApp({ mongo: uri });
      try {
        const moved = link.replace(app.url, restored.url);
        expect((await visit(moved)).status).to.equal(200);
        expect((await post(moved, { action: "decline" })).status).to.equal(303);
        expect((await restored.call("GET", path)).body.waitingFor).to.deep.equal([]);
      } finally {
        await restored.close();
      }
    } finally {
      await release();
    }
  });

  it("works below a base path, and on a service without a token whatever its host name", async () => {
    const below = await startApp({ basePath: "/sb" });
    try {
      await below.call("PUT", path, {});
      const link = await open({}, below);
      expect(new URL(link).pathname).to.match(/^\/sb\/answer\//);
      expect((await visit(link, { headers: { Host: "jobs.example.com" } })).status).to.equal(200);
      const answered = await post(link, { action: "accept" });
      expect(answered.headers.get("Location")).to.equal(new URL(link).pathname);
      expect(JSON.stringify(below.log)).not.to.contain(link.split("/").at(-1)?.slice(0, 40));
    } finally {
      await below.close();
    }
  });

  it("limits wrong tokens of one address, and says so on a page", async () => {
    const limited = await startApp();
    try {
      const { path: jobPath } = await createJob(limited);
      await limited.call("PUT", `${jobPath}/gates/publish`, { title: "Publish?" });
      let last = { status: 0, headers: new Headers(), text: "" };
      for (let i = 0; i < 21; i++) last = await visit(`${limited.url}/answer/wrong${i}`);
      expect([last.status, last.headers.has("Retry-After")]).to.deep.equal([429, true]);
      expect(last.headers.get("Content-Type")).to.contain("text/html");
    } finally {
      await limited.close();
    }
  });
});

async function* iterate(bytes: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void> {
  yield* bytes;
}
