import { execFile } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { shortenLog } from "../../src/cli/start/logFile.ts";
import { runInProcess } from "../support/cli.ts";
import { onScreen } from "./screen.ts";
import { follow } from "./service.ts";

const LOGGER = pathToFileURL("src/shared/logger.ts").href;

describe("signalbox logs", () => {
  let dataDir: string;
  let log: string;
  let env: Record<string, string>;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "signalbox-logs-"));
    log = join(dataDir, "service.log");
    env = { SIGNALBOX_DATA_DIR: dataDir, SIGNALBOX_CONFIG: join(dataDir, "signalbox.json5") };
    writeFileSync(env.SIGNALBOX_CONFIG as string, "{}");
  });

  afterEach(() => rmSync(dataDir, { recursive: true }));

  const line = (msg: string, level = 30): string =>
    `${JSON.stringify({ level, time: "2026-11-24T10:00:00.000Z", process: "web", pid: 7, msg })}\n`;
  const messages = (text: string): string[] =>
    text.split("\n").flatMap((one) => (one.startsWith("{") ? [JSON.parse(one).msg] : []));

  it("prints the last lines as JSON in a pipe, those of the older file first, and only those of the level", async () => {
    writeFileSync(join(dataDir, "service.old.log"), line("first") + line("second", 40));
    writeFileSync(log, line("third") + line("fourth", 50) + line("not complete").slice(0, 20));

    const last = await runInProcess(["logs", "--lines", "3"], env);
    const severe = await runInProcess(["logs", "--level", "warn", "--json"], env);

    expect(last.code).to.equal(0);
    expect(messages(last.stdout)).to.deep.equal(["second", "third", "fourth"]);
    expect(last.stdout).to.equal(line("second", 40) + line("third") + line("fourth", 50));
    expect(last.stderr).to.include(`No instance runs in ${dataDir} now.`);
    expect(messages(severe.stdout)).to.deep.equal(["second", "fourth"]);
  });

  it("prints readable lines without control sequences on a terminal", async () => {
    writeFileSync(log, line("a\u001b[2J\r").replace("\\r", "\\u009b2J\\u202e"));

    const terminal = onScreen(["logs"], env, { columns: 120 });

    expect(await terminal.ended).to.equal(0);
    expect((await terminal.lines()).at(-1)).to.match(/^\[[\d:.]+\] INFO: web: a\ufffd\[2J\ufffd2J\ufffd$/);
    for (const control of ["\u001b[2J", "\u009b", "\u202e"]) expect(terminal.raw()).to.not.include(control);
  });

  it("follows the log, also when it is shortened in between", async () => {
    writeFileSync(log, line("first"));
    const following = follow(["logs", "--follow", "--json"], env);
    await following.prints(/"first"/);

    appendFileSync(log, line("second"));
    await following.prints(/"second"/);
    appendFileSync(log, line("third"));
    shortenLog(dataDir, 100);
    appendFileSync(log, line("fourth"));
    await following.prints(/"fourth"/);
    following.interrupt();
    const { code, stdout } = await following.ended;

    expect(code).to.equal(130);
    expect(messages(stdout)).to.deep.equal(["first", "second", "third", "fourth"]);
  });

  it("keeps the log below its limit, and the lines before in a second file", () => {
    writeFileSync(log, line("first"));
    shortenLog(dataDir, 1_000);
    expect(readFileSync(log, "utf8")).to.equal(line("first"));

    shortenLog(dataDir, 10);

    expect(statSync(log).size).to.equal(0);
    expect(readFileSync(join(dataDir, "service.old.log"), "utf8")).to.equal(line("first"));
  });

  it("names the remedy if there is no log", async () => {
    const { code, stderr } = await runInProcess(["logs"], env);

    expect(code).to.equal(1);
    expect(stderr).to.match(/^There is no log in .*: set SIGNALBOX_DATA_DIR to the data directory/);
  });

  it("reads what a logger has written, with all fields of a request, and a file that cannot be written ends nothing", async () => {
    const program = (file: string) => `
      import { createLogger } from ${JSON.stringify(LOGGER)};
      const log = createLogger({ level: "info", name: "web", pretty: true, file: ${JSON.stringify(file)} });
      log.info({ reqId: "7", method: "GET", path: "/api/jobs\\u202e", status: 200, ms: 1500 }, "the request has ended");
    `;
    const run = (file: string) => promisify(execFile)(process.execPath, ["--input-type=module", "-e", program(file)]);

    await run(log);
    const unwritable = await run("/dev/full");

    expect(unwritable.stdout).to.match(/INFO: web: GET \/api\/jobs\ufffd 200 1500 ms\n$/);
    expect(statSync(log).mode & 0o777).to.equal(0o600);
    const { stdout } = await runInProcess(["logs"], env);
    expect(JSON.parse(stdout)).to.include({ reqId: "7", method: "GET", status: 200, ms: 1500 });
  });
});
