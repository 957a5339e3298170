import { expect } from "chai";
import { parseConfig } from "../../../src/config/load.ts";

const OIDC = {
  issuer: "https://id.example.com/realms/main",
  clientId: "signalbox",
  clientSecret: "secret",
  roles: [{ groups: ["sre"], scopes: ["admin"] }],
};
const HEADER = { name: "Remote-User", groups: "Remote-Groups", from: ["10.0.0.0/8"], roles: OIDC.roles };
const parse = (server: object) => parseConfig(JSON.stringify({ server }), {}).server;

describe("configuration of people's log-ins", () => {
  it("fills in the defaults, and opens an address that others reach without server.apiToken", () => {
    const server = parse({ host: "0.0.0.0", publicUrl: "https://jobs.example.com", oidc: OIDC, userHeader: HEADER });

    expect(server.oidc).to.include({ groupsClaim: "groups", sessionHours: 12 });
    expect(server.apiToken).to.equal(undefined);
  });

  it("allows tokens beside log-ins without server.apiToken", () => {
    const tokens = [{ name: "ci", token: "sixteen-or-more-characters", scopes: ["jobs:read"] }];

    expect(() => parse({ userHeader: HEADER, tokens, readOnlyToken: "another-token-of-some-length" })).to.not.throw();
  });

  const url = "https://jobs.example.com";
  const role = { groups: ["sales"], scopes: ["jobs:read"] };
  for (const [title, server, fault] of [
    ["no publicUrl", { oidc: OIDC }, /issuer needs server\.publicUrl, the address/],
    ["a publicUrl in clear text", { publicUrl: "http://jobs.example.com", oidc: OIDC }, /server\.publicUrl with https/],
    [
      "an issuer in clear text",
      { publicUrl: url, oidc: { ...OIDC, issuer: "http://id.example.com" } },
      /begin with https/,
    ],
    [
      "a discovery document",
      { publicUrl: url, oidc: { ...OIDC, issuer: "https://id.example.com/.well-known/openid-configuration" } },
      /remove \/\.well-known\//,
    ],
    [
      "an issuer of every company",
      { publicUrl: url, oidc: { ...OIDC, issuer: "https://login.microsoftonline.com/common/v2.0" } },
      /issuer must name your tenant/,
    ],
    ["no role", { publicUrl: url, oidc: { ...OIDC, roles: [] } }, /roles is empty/],
    [
      "an unknown scope",
      { publicUrl: url, oidc: { ...OIDC, roles: [{ ...role, scopes: ["jobs:raed"] }] } },
      /server\.oidc\.roles\.0\.scopes\.0 is no scope; did you mean jobs:read/,
    ],
    [
      "an unknown hook",
      { publicUrl: url, oidc: { ...OIDC, everyone: { scopes: ["hooks:none"] } } },
      /server\.oidc\.everyone\.scopes has hooks:none/,
    ],
    [
      "jobs with admin",
      { userHeader: { ...HEADER, roles: [{ ...role, scopes: ["admin"], jobs: { idPrefix: "a" } }] } },
      /server\.userHeader\.roles\.0\.jobs has no effect/,
    ],
    ["a header with an underscore", { userHeader: { ...HEADER, name: "Remote_User" } }, /server\.userHeader\.name/],
    ["everybody as a proxy", { userHeader: { ...HEADER, from: ["0.0.0.0/0"] } }, /from\.0 must not be everybody/],
    ["no network", { userHeader: { ...HEADER, from: ["proxy.internal"] } }, /from\.0 must be an address or a network/],
    [
      "a mapped network",
      { userHeader: { ...HEADER, from: ["::ffff:10.0.0.0/104"] } },
      /from\.0 must be written as an IPv4/,
    ],
  ] as const) {
    it(`names the fault of ${title}`, () => {
      expect(() => parse(server)).to.throw(fault);
    });
  }

  for (const host of ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"]) {
    it(`allows a provider without TLS at ${host}`, () => {
      const oidc = { ...OIDC, issuer: `http://${host}/realms/main` };

      expect(() => parse({ publicUrl: "http://127.0.0.1:3000", oidc })).to.not.throw();
    });
  }
});
