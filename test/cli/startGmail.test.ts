import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { commandLine } from "../../src/cli/processInfo.ts";
import { eventually } from "../support/eventually.ts";
import { type GmailBed, startGmailBed } from "../support/gmailBed.ts";
import { isRunning, runCli, type Service } from "./service.ts";

describe("signalbox start with hooks.gmail", function () {
  this.timeout(60_000);
  let bed: GmailBed;
  let home: string;
  let services: Service[];
  beforeEach(async () => {
    services = [];
    home = mkdtempSync(join(tmpdir(), "signalbox-start-gmail-"));
    bed = await startGmailBed();
  });
  afterEach(async () => {
    for (const service of services) {
      service.kill("SIGTERM");
      await service.ended;
    }
    await bed.close();
    rmSync(home, { recursive: true, force: true });
  });

  /** With the embedded servers, so that their data directory knows all processes. */
  const start = () => {
    const service = runCli("start", { SIGNALBOX_CONFIG: bed.env.SIGNALBOX_CONFIG ?? "", SIGNALBOX_DATA_DIR: home });
    services.push(service);
    return service;
  };
  const listener = () => {
    const { children } = JSON.parse(readFileSync(join(home, "instance.json"), "utf8")) as {
      children: { pid: number }[];
    };
    return children
      .map(({ pid }) => pid)
      .find((pid) => isRunning(pid) && commandLine(pid).includes("webhooks gmail run"));
  };
  const status = async () => {
    const env = { SIGNALBOX_CONFIG: bed.env.SIGNALBOX_CONFIG ?? "", SIGNALBOX_DATA_DIR: home };
    return JSON.parse((await runCli("webhooks gmail status --json", env).ended).stdout);
  };
  const runsAt = async (url: string) => {
    const answer = (await (await fetch(`${url}/api/runs`)).json()) as { runs: { name: string }[] };
    return answer.runs;
  };

  it("listens, shows it, and makes runs of mails", async () => {
    const service = start();
    const url = await service.ready();
    await eventually(async () => (await status()).listedAt, "the first listing");

    bed.google.mailbox.add();
    bed.google.pubsub.publish();
    const runs = await eventually(async () => {
      const found = await runsAt(url);
      return found.length > 0 && found;
    }, "the run");

    expect(runs.map(({ name }) => name)).to.deep.equal(["Gmail"]);
    expect(service.printed()).to.match(/^ {2}Gmail +ada@example\.org; how it goes: signalbox webhooks gmail status$/m);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).to.match(/^signalbox_gmail_listening 1$/m);
  });

  it("begins and ends to listen as a changed configuration says on SIGHUP", async () => {
    const file = bed.env.SIGNALBOX_CONFIG ?? "";
    writeFileSync(file, "{}");
    const service = start();
    await service.ready();
    const before = listener();

    writeFileSync(file, bed.configText);
    service.kill("SIGHUP");
    await eventually(() => bed.google.asked(/history/).length > 0, "it to listen");
    const during = listener();
    writeFileSync(file, "{}");
    service.kill("SIGHUP");
    await eventually(() => listener() === undefined, "it to end");
    writeFileSync(file, bed.configText);
    rmSync(bed.credentialsFile);
    service.kill("SIGHUP");
    await eventually(() => service.printed().includes("The Gmail listener does not run"), "it to fail");

    expect(before).to.equal(undefined);
    expect(during).to.be.a("number");
    expect(service.printed()).to.include(`The credentials file ${bed.credentialsFile} does not exist: run`);
  });

  it("does not start with credentials that cannot be used, and says so", async () => {
    rmSync(bed.credentialsFile);

    const { code, stderr } = await start().ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^The credentials file \S+ does not exist: run `signalbox webhooks gmail setup`, or .*\.\n$/,
    );
  });
});
