import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { tell } from "../../input/given.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { cases, SEED, TIMES } from "../../support/random.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOOL = resolve(".tools/python");
const HERE = resolve("test/input");
const TOKENS = { API_TOKEN: "an-api-token-of-length", HOOK_TOKEN: "a-hook-token-of-length" };

const CONFIG = `{
  hooks: {
    enabled: true, token: "${TOKENS.HOOK_TOKEN}",
    mappings: [
      { match: { path: "ci" } },
      { match: { path: "each" }, forEach: "items", messageTemplate: "{{item}}" },
      { match: { path: "signed" }, auth: { type: "github", secret: "the-secret-of-a-sender" } },
    ],
  },
  session: { main: { channel: "telegram", to: "1" } },
  channels: { telegram: { botToken: "1:${"t".repeat(35)}", apiUrl: "http://127.0.0.1:1" } }, // No server listens there.
}`;

describe("schemathesis with all checks of /openapi.json", () => {
  let app: TestApp;
  let worker: TestWorker;
  let dir: string;
  before(async () => {
    // Other tests cover the rate limit for invalid tokens.
    app = await startApp({ config: CONFIG, apiToken: TOKENS.API_TOKEN, countFailure: async () => {} });
    worker = await startWorker(app);
    const headers = { Authorization: `Bearer ${TOKENS.HOOK_TOKEN}` };
    await app.call("POST", "/hooks/agent", { message: "to be delivered" }, headers);
    await eventually(async () => (await deliveries()).length > 0, "a delivery that its operations can be tried on");
    dir = mkdtempSync(join(tmpdir(), "signalbox-schemathesis-"));
  });
  const deliveries = async () =>
    (await app.call("GET", "/api/deliveries", undefined, { Authorization: `Bearer ${TOKENS.API_TOKEN}` })).body
      .deliveries;
  after(async () => {
    await worker.close();
    await app.close();
    rmSync(dir, { recursive: true });
  });

  it("finds no 500, no response that violates its schema, no call without its token and no valid request that is refused", async function () {
    this.timeout(600_000 * (1 + TIMES));
    const config = join(dir, "schemathesis.toml");
    const scenarios = `\n[phases.stateful.generation]\nmax-examples = ${cases(40)}\n`; // Their cases are short.
    writeFileSync(config, readFileSync(join(HERE, "schemathesis.toml"), "utf8") + scenarios);
    const args = ["--config-file", config, "run", `${app.url}/openapi.json`];
    // MCP has a protocol of its own above HTTP: test/slow/e2e/mcp.test.ts runs its conformance tests.
    args.push("--exclude-path", "/mcp");
    const phases = ["--phases", "examples,coverage,fuzzing,stateful"];
    const amount = ["--max-examples", String(cases(10)), "--seed", String(SEED), "--generation-database", "none"];

    const child = spawn("python3", ["-m", "schemathesis.cli", ...args, ...phases, ...amount], {
      cwd: dir,
      env: {
        ...process.env,
        ...TOKENS,
        SCHEMATHESIS_HOOKS: join(HERE, "schemathesis_hooks.py"),
        PYTHONPATH: [TOOL, process.env.PYTHONPATH].filter(Boolean).join(delimiter),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [report, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);

    tell(report.replaceAll("\n", "\n      "));
    expect(code, report).to.equal(0);
    expect(app.log.filter(({ code }) => code === "internal")).to.deep.equal([]);
    expect(worker.log.filter(({ msg }) => msg === "the queue job failed")).to.deep.equal([]);
  });
});
