import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { onScreen } from "./screen.ts";

const API = "api-token-of-the-test";
const HOOK = "hook-token-of-the-test";

describe("signalbox hooks requests and hooks test --request", () => {
  let app: TestApp;
  let dir: string;
  let env: Record<string, string>;
  let requestId: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-requests-"));
    const config = `{ server: { apiToken: "${API}" }, hooks: { enabled: true, token: "${HOOK}", keepRequests: "7d", transformsDir: "${dir}", mappings: [
      { match: { path: "ci", when: { "payload.result": "failed" } }, name: "CI", messageTemplate: "Build {{n}}", transform: { module: "ci.mjs" } },
      { match: { path: "unused" }, action: "wake", textTemplate: "x" },
    ] } }`;
    writeFileSync(join(dir, "ci.mjs"), "export default ({ payload }) => ({ name: `Transformed ${payload.n}` });");
    writeFileSync(join(dir, "signalbox.json5"), config);
    app = await startApp({ config });
    env = { SIGNALBOX_URL: app.url, SIGNALBOX_API_TOKEN: API, SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
    const bearer = { Authorization: `Bearer ${HOOK}` };
    await app.call("POST", "/hooks/ci", { n: 6, result: "passed" }, bearer);
    await app.call("POST", "/hooks/ci", { n: 7, result: "failed" }, bearer);
    const { body } = await app.call("GET", "/api/hooks/requests", undefined, { Authorization: `Bearer ${API}` });
    requestId = body.requests[0].requestId;
  });
  after(async () => {
    await app.close();
    rmSync(dir, { recursive: true });
  });
  const cli = (...args: string[]) => runInProcess(["hooks", ...args], env);

  it("hooks list prints the mappings with their last kept request", async () => {
    const table = await cli("list");
    const json = await cli("list", "--json");

    expect(table.code, table.stderr).to.equal(0);
    expect(table.stdout).to.match(/^MAPPING +ACTION +LAST REQUEST +OUTCOME +ADDRESS\n/);
    expect(table.stdout).to.match(/^ci +agent +\d+s ago +accepted +\S*\/hooks\/ci\nunused +wake +\S*\/hooks\/unused$/m);
    const rows = json.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.map(({ mapping, lastRequest }) => [mapping, lastRequest?.requestId])).to.deep.equal([
      ["ci", requestId],
      ["unused", undefined],
    ]);
  });

  it("list leaves out ids that a terminal has no room for", async () => {
    const narrow = onScreen(["hooks", "requests", "list"], env, { columns: 60 });
    await narrow.ended;

    const lines = await narrow.lines();
    expect(lines[0]).to.match(/^HOOK +MAPPING +OUTCOME /);
    expect(lines).to.have.length(3); // no row is wrapped
  });

  it("list prints what came with its outcome, and filters", async () => {
    const all = await cli("requests", "list");
    const filtered = await cli(
      "requests",
      "list",
      "--outcome",
      "filtered",
      "--mapping",
      "ci",
      "--status",
      "202",
      "--json",
    );

    expect(all.code, all.stderr).to.equal(0);
    expect(all.stdout).to.match(/REQUEST ID +HOOK/);
    expect(all.stdout)
      .to.include(requestId)
      .and.to.match(/accepted[\s\S]*filtered/);
    expect(
      filtered.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).outcome),
    ).to.deep.equal(["filtered"]);
  });

  it("show prints a request with headers and body", async () => {
    const { code, stdout } = await cli("requests", "show", requestId);

    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/Outcome +accepted/)
      .and.to.match(/Signature +hook-token: valid/);
    expect(stdout).to.include('"n": 7').and.not.to.include(HOOK);
  });

  it("replay starts new runs, and with --dry-run only shows them", async () => {
    const before = await app.stores.runs.collection.native.countDocuments();
    const dry = await cli("requests", "replay", requestId, "--dry-run");
    expect(dry.stdout)
      .to.match(/Mapping +ci/)
      .and.to.include("Build 7")
      .and.to.include("ci.mjs (not run");
    expect(await app.stores.runs.collection.native.countDocuments()).to.equal(before);

    const { code, stdout } = await cli("requests", "replay", requestId, "--json");

    const { runId } = JSON.parse(stdout);
    expect([code, (await app.stores.runs.find(runId)).replayOf]).to.deep.equal([0, requestId]);
  });

  it("hooks test --request applies the mapping of this machine with its transform", async () => {
    const { code, stdout, stderr } = await cli("test", "ci", "--request", requestId);

    expect(code, stderr).to.equal(0);
    expect(stdout)
      .to.match(/name +Transformed 7/)
      .and.to.include("Build 7");
  });

  it("hooks test says which condition leaves a body out, and needs a body or a request", async () => {
    writeFileSync(join(dir, "body.json"), '{ "result": "passed" }');
    const left = await cli("test", "ci", "--body", join(dir, "body.json"));
    const none = await cli("test", "ci");
    const both = await cli("test", "ci", "--body", "x.json", "--request", requestId);

    expect([
      left.code,
      left.stdout.includes('ci does not match: payload.result is "passed", not "failed"'),
    ]).to.deep.equal([0, true]);
    expect([none.code, both.code]).to.deep.equal([2, 2]);
    expect(none.stderr).to.include("--body or --request");
  });

  it("a request that is not kept is an error of the service", async () => {
    const { code, stderr } = await cli("requests", "show", "missing");

    expect(code).not.to.equal(0);
    expect(stderr).to.include("There is no kept request");
  });
});
