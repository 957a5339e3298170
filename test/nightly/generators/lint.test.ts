import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp } from "../../support/app.ts";

/**
 * Lints /openapi.json as its readers would. Part of `npm run test:nightly`: the two linters are 85 MB, so that a clone does
 * not have them. The gate checks the structure itself, in test/api/openapi.test.ts.
 */
const REDOCLY = "@redocly/cli@2.77.0";
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";
const QUIET = { REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" };

const CONFIGS = {
  "without a configuration": "{}",
  "with all kinds of hooks": `{
    server: { apiToken: "an-api-token-of-length" },
    hooks: {
      enabled: true, token: "a-hook-token-of-length",
      mappings: [
        { match: { path: "ci" } },
        {
          match: { path: "meta" }, handshake: "meta", verifyToken: "a-verify-token-of-length",
          auth: { type: "hmac", secret: "the-secret-of-a-sender", header: "x-hub-signature-256", prefix: "sha256=" },
        },
      ],
    },
  }`,
};

describe("linters of OpenAPI", function () {
  this.timeout(600_000);
  let room: string;
  before(() => {
    room = mkdtempSync(join(tmpdir(), "signalbox-lint-"));
    writeFileSync(join(room, "package.json"), "{}");
    writeFileSync(join(room, ".spectral.yaml"), 'extends: ["spectral:oas"]\n');
  });
  after(() => rmSync(room, { recursive: true }));
  const npx = (...args: string[]) =>
    spawnSync("npx", ["--yes", ...args], { cwd: room, encoding: "utf8", env: { ...process.env, ...QUIET } });

  for (const [title, config] of Object.entries(CONFIGS)) {
    it(`find nothing to warn of in the description of a service ${title}`, async () => {
      const app = await startApp({ config });
      const { body } = await app.call("GET", "/openapi.json");
      await app.close();
      writeFileSync(join(room, "openapi.json"), JSON.stringify(body, null, 2));

      const redocly = npx(REDOCLY, "lint", "openapi.json", "--extends", "recommended-strict");
      const spectral = npx("-p", SPECTRAL, "spectral", "lint", "openapi.json", "--fail-severity", "hint");

      expect(redocly.status, redocly.stdout + redocly.stderr).to.equal(0);
      expect(spectral.status, spectral.stdout + spectral.stderr).to.equal(0);
    });
  }
});
