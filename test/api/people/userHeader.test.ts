import { request } from "node:http";
import { expect } from "chai";
import type { Context } from "koa";
import { headerPerson } from "../../../src/api/people/userHeader.ts";
import { startApp, type TestApp } from "../../support/app.ts";

const TOKEN = "a-token-of-some-length";
const ROLES = [
  { groups: ["sre"], scopes: ["admin"] },
  { groups: ["sales"], scopes: ["jobs:read"], jobs: { idPrefix: "sales/" } },
];
const SETTINGS = { name: "Remote-User", groups: "Remote-Groups", from: ["127.0.0.1"], roles: ROLES };

describe("log-in by the header of a proxy", () => {
  let app: TestApp;
  const start = (userHeader: object = SETTINGS, more: object = {}) =>
    startApp({ config: JSON.stringify({ server: { userHeader, ...more } }) });
  beforeEach(async () => {
    app = await start();
  });
  afterEach(() => app.close());

  /** Sends a request with headers that may arrive several times. */
  const send = (method: string, path: string, headers: Record<string, string | string[]>) =>
    new Promise<number>((resolve, reject) => {
      const sent = request(app.url + path, { method, headers }, (res) => resolve(res.resume().statusCode ?? 0));
      sent.once("error", reject).end();
    });

  it("gives the person of the header the roles of their groups, and names them in the audit log", async () => {
    const headers = { "Remote-User": "ann", "Remote-Groups": "staff, sre" };
    await app.call("PUT", "/api/jobs/a", {}, headers);
    await app.call("DELETE", "/api/jobs/a", undefined, headers);
    const { body: session } = await app.call("GET", "/session", undefined, headers);
    const { body } = await app.call("GET", "/api/audit", undefined, headers);

    expect(session).to.deep.include({ needsToken: true, name: "ann", by: "proxy", scopes: ["admin"] });
    expect(body.entries[0]).to.include({ actor: "header:ann", action: "job.delete" });
  });

  it("never gives more than the roles, and nothing to a person without one", async () => {
    const as = (groups: string) => ({ "Remote-User": "ann", "Remote-Groups": groups });

    expect(await send("GET", "/api/jobs", as("sales"))).to.equal(200);
    expect(await send("DELETE", "/api/jobs/sales%2F1", as("sales"))).to.equal(403);
    expect(await send("GET", "/api/jobs/other", as("sales"))).to.equal(404);
    expect(await send("GET", "/api/jobs", as("staff"))).to.equal(403);
  });

  it("takes groups with commas where another separator divides them", async () => {
    await app.close();
    app = await start({ ...SETTINGS, roles: [{ groups: ["sre", "cn=ops,dc=example"], scopes: ["admin"] }] });
    const as = (groups: string) => send("GET", "/api/jobs", { "Remote-User": "ann", "Remote-Groups": groups });

    expect(await as("staff|sre")).to.equal(200);
    expect(await as("staff | cn=ops,dc=example")).to.equal(200);
    expect(await as("staff|x,sre")).to.equal(403);
  });

  for (const [title, headers] of [
    ["no header", {}],
    ["an empty header", { "Remote-User": " ", "Remote-Groups": "sre" }],
    ["a header that arrives twice", { "Remote-User": ["ann", "bob"], "Remote-Groups": "sre" }],
    ["groups that arrive twice", { "Remote-User": "ann", "Remote-Groups": ["staff", "sre"] }],
    ["underscores in place of dashes", { Remote_User: "ann", Remote_Groups: "sre" }],
    ["groups alone", { "Remote-Groups": "sre" }],
  ] as const) {
    it(`lets nobody in with ${title}`, async () => {
      expect(await send("GET", "/api/jobs", headers as never)).to.equal(401);
    });
  }

  it("ignores the header of anybody else, also with X-Forwarded-For", async () => {
    await app.close();
    app = await start({ ...SETTINGS, from: ["10.0.0.0/8"] }, { trustProxy: 1 });
    const headers = { "Remote-User": "ann", "Remote-Groups": "sre", "X-Forwarded-For": "10.0.0.1" };

    expect(await send("GET", "/api/jobs", headers)).to.equal(401);
  });

  it("refuses changes that a page of another site sends through the proxy", async () => {
    const headers = { "Remote-User": "ann", "Remote-Groups": "sre", "Sec-Fetch-Site": "cross-site" };

    expect(await send("DELETE", "/api/jobs/a", headers)).to.equal(403);
  });

  it("prefers a token to the header", async () => {
    await app.close();
    app = await start(SETTINGS, {
      apiToken: TOKEN,
      tokens: [{ name: "ci", token: "another-token-for-ci", scopes: ["jobs:create"] }],
    });
    const headers = { "Remote-User": "ann", "Remote-Groups": "sre", Authorization: "Bearer another-token-for-ci" };

    expect(await send("GET", "/api/audit", headers)).to.equal(403);
  });

  for (const [from, peer, counts] of [
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:b00:1", false],
    ["fd00::/8", "fd12::1", true],
    ["fd00::/8", "10.1.2.3", false],
    ["fd00::/8", "::ffff:10.1.2.3", false],
    ["192.0.2.7", "192.0.2.7", true],
    ["192.0.2.7", "192.0.2.70", false],
  ] as const) {
    it(`${counts ? "trusts" : "does not trust"} ${peer} as a proxy in ${from}`, () => {
      const req = { socket: { remoteAddress: peer }, headersDistinct: { "remote-user": ["ann"] } };
      const person = headerPerson({ ...SETTINGS, from: [from] })({ req } as unknown as Context);

      expect(person !== null).to.equal(counts);
    });
  }
});
