import { expect } from "chai";
import { checkOidc } from "../../src/cli/doctor/checkOidc.ts";
import { parseConfig } from "../../src/config/load.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../support/oidcProvider.ts";

const PUBLIC_URL = "https://jobs.example.com";

describe("signalbox doctor: the provider of server.oidc", () => {
  let provider: OidcProvider;
  beforeEach(async () => {
    provider = await startOidcProvider("/realms/main");
  });
  afterEach(() => provider.close());
  const check = async (issuer = provider.issuer) => {
    const oidc = { issuer, ...CLIENT, roles: [{ groups: ["sre"], scopes: ["admin"] }] };
    const findings = await checkOidc(parseConfig(JSON.stringify({ server: { publicUrl: PUBLIC_URL, oidc } }), {}));
    return findings.map(({ kind, text }) => `${kind} ${text}`);
  };

  it("reports that discovery, clock and address are right", async () => {
    expect(await check()).to.deep.equal([
      `ok The provider ${provider.issuer} answers.`,
      "ok The clocks of this machine and of the provider agree.",
      `ok The provider accepts ${PUBLIC_URL}/login/callback.`,
    ]);
  });

  it("reports a clock that differs by five minutes", async () => {
    provider.aheadSeconds = 300;

    expect((await check())[1]).to.match(/^FAIL The clock of this machine is (299|300) s behind that of the provider/);
  });

  it("reports an address that is not registered, with what to register", async () => {
    provider.callback = "https://other.example/login/callback";

    expect((await check())[2]).to.match(
      /^FAIL The provider refuses .*register https:\/\/jobs.example.com\/login\/callback/,
    );
  });

  it("reports a provider that names itself differently", async () => {
    provider.discovery = { issuer: "https://id.example.com" };

    expect(await check()).to.deep.equal([
      "FAIL The provider names itself https://id.example.com: set server.oidc.issuer to that.",
    ]);
  });

  for (const endpoint of [5, null, "elsewhere", "javascript:alert(1)"]) {
    it(`reports a provider whose authorization_endpoint is ${JSON.stringify(endpoint)}`, async () => {
      provider.discovery = { authorization_endpoint: endpoint };

      expect(await check()).to.have.length(1);
      expect((await check())[0]).to.match(
        /^FAIL .* answers with 200 and no discovery document with an authorization_endp/,
      );
    });
  }

  it("reports a provider that is away, and one without a discovery document", async () => {
    const gone = await startOidcProvider();
    await gone.close();

    expect((await check(gone.issuer))[0]).to.match(/^FAIL .* cannot be reached \(ECONNREFUSED\)/);
    expect((await check(`${provider.issuer}/none`))[0]).to.match(/^FAIL .* answers with 404 and no discovery document/);
  });
});
