import { expect } from "chai";
import { bearer, startApp, type TestApp } from "../../support/app.ts";

const [OLD, NEW] = ["the-old-token-of-length", "the-new-token-of-length"];
const API = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";

/** The configuration with a value of each token that can be a list, and what the token is sent to. */
const ROTATED: Readonly<Record<string, readonly [config: (token: unknown) => object, method: string, path: string]>> = {
  "server.apiToken": [(apiToken) => ({ server: { apiToken, readOnlyToken: READ_ONLY } }), "PUT", "/api/jobs/a"],
  "server.readOnlyToken": [(readOnlyToken) => ({ server: { apiToken: API, readOnlyToken } }), "GET", "/api/jobs"],
  "hooks.token": [(token) => ({ server: { apiToken: API }, hooks: { enabled: true, token } }), "POST", "/hooks/wake"],
};

describe("the rotation of a token", () => {
  for (const [title, [config, method, path]] of Object.entries(ROTATED))
    it(`${title}: refuses nobody while the list has both, and the old one afterwards`, async () => {
      const steps = [OLD, [NEW, OLD], [OLD, NEW], NEW];
      const apps: TestApp[] = [];
      const statuses: number[][] = [];

      for (const step of steps) {
        const app = await startApp({ config: JSON.stringify(config(step)) });
        apps.push(app);
        const body = method === "GET" ? undefined : path.startsWith("/hooks") ? { text: "It rains" } : {};
        const ask = async (token: string) => (await app.call(method, path, body, bearer(token))).status;
        statuses.push([await ask(OLD), await ask(NEW)].map((status) => (status < 300 ? 200 : status)));
      }
      for (const app of apps) await app.close();

      expect(statuses).to.deep.equal([
        [200, 401],
        [200, 200],
        [200, 200],
        [401, 200],
      ]);
    });

  it("keeps the log-ins of the old token while the list has it, and gives new ones by either", async () => {
    const first = await startApp({ apiToken: OLD });
    const cookieOf = async (app: TestApp, token: string) => {
      const { headers } = await app.call("POST", "/session", { token });
      return { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
    };
    const old = await cookieOf(first, OLD);
    const both = await startApp({ apiToken: [NEW, OLD], mongo: first.mongoUri });
    const anew = await cookieOf(both, NEW);
    const last = await startApp({ apiToken: NEW, mongo: first.mongoUri });
    const statusOf = async (app: TestApp, cookie: { Cookie: string }) =>
      (await app.call("GET", "/api/audit", undefined, cookie)).status;

    expect([await statusOf(both, old), await statusOf(both, anew)]).to.deep.equal([200, 200]);
    expect([await statusOf(last, old), await statusOf(last, anew)]).to.deep.equal([401, 200]);
    for (const app of [last, both, first]) await app.close();
  });
});
