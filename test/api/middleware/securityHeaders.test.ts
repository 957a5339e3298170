import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import helmet, { type HelmetOptions } from "helmet";
import { startApp, type TestApp } from "../../support/app.ts";

const COMMON = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
} satisfies HelmetOptions;
const WITHOUT_PAGE_HEADERS = {
  ...COMMON,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
} satisfies HelmetOptions;

const OF_NODE = ["connection", "content-length", "date", "keep-alive"];

/** Returns the headers that helmet sets with these options, besides those that Node sets on every response. */
async function helmetHeaders(options: HelmetOptions): Promise<Record<string, string>> {
  const protect = helmet(options);
  const server = createServer((req, res) => protect(req, res, () => res.end())).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { headers } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
  return Object.fromEntries([...headers].filter(([name]) => !OF_NODE.includes(name)));
}

describe("security headers", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }' });
  });
  after(() => app.close());

  /** Returns the headers of the app's response that helmet can set. */
  async function headersAt(path: string): Promise<Record<string, string>> {
    const known = Object.keys(await helmetHeaders({ ...COMMON, strictTransportSecurity: true }));
    const { headers } = await fetch(app.url + path);
    return Object.fromEntries([...headers].filter(([name]) => known.includes(name)));
  }

  for (const path of ["/api/stats", "/api/nothing", "/hooks/nothing"]) {
    it(`at ${path} are those that helmet sets on data`, async () => {
      expect(await headersAt(path)).to.deep.equal(await helmetHeaders(WITHOUT_PAGE_HEADERS));
    });
  }

  for (const path of ["/nothing", "/healthz", "/session"]) {
    it(`at ${path} are all those that helmet sets`, async () => {
      expect(await headersAt(path)).to.deep.equal(await helmetHeaders(COMMON));
    });
  }
});
