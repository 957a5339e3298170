import { expect } from "chai";
import { useSharedApp } from "../../support/useApp.ts";

/** The headers that helmet 8 sets on data, with our policy and without Strict-Transport-Security, which proxies set. */
const ON_DATA = {
  "content-security-policy": "default-src 'none';frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
};
const ON_PAGES = {
  ...ON_DATA,
  "cross-origin-opener-policy": "same-origin",
  "origin-agent-cluster": "?1",
  "x-dns-prefetch-control": "off",
  "x-download-options": "noopen",
  "x-permitted-cross-domain-policies": "none",
  "x-xss-protection": "0",
};

describe("security headers", () => {
  const app = useSharedApp({ config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }' });

  async function headersAt(path: string): Promise<Record<string, string>> {
    const { headers } = await fetch(app.url + path);
    const known = [...Object.keys(ON_PAGES), "strict-transport-security"];
    return Object.fromEntries([...headers].filter(([name]) => known.includes(name)));
  }

  for (const path of ["/api/stats", "/api/nothing", "/hooks/nothing"]) {
    it(`at ${path} are those that helmet sets on data`, async () => {
      expect(await headersAt(path)).to.deep.equal(ON_DATA);
    });
  }

  for (const path of ["/nothing", "/healthz", "/session"]) {
    it(`at ${path} are all those that helmet sets`, async () => {
      expect(await headersAt(path)).to.deep.equal(ON_PAGES);
    });
  }
});
