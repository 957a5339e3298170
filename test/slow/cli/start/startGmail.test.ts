import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { commandLine } from "../../../../src/cli/start/processInfo.ts";
import { isRunning, runCli, type Service } from "../../../cli/service.ts";
import { runInProcess } from "../../../support/cli.ts";
import { eventually } from "../../../support/eventually.ts";
import { type GmailFixture, startGmailFixture } from "../../../support/gmail/gmailFixture.ts";

describe("signalbox start with hooks.gmail", () => {
  let fixture: GmailFixture;
  let home: string;
  let env: Record<string, string>;
  let service: Service;
  let url: string;
  before(async () => {
    home = mkdtempSync(join(tmpdir(), "signalbox-start-gmail-"));
    fixture = await startGmailFixture();
    // with an embedded Redis, so that the data directory names all processes
    const { REDIS_URL: _, ...withoutRedis } = fixture.env;
    env = { ...withoutRedis, SIGNALBOX_DATA_DIR: home };
    service = runCli("start", env);
    url = await service.ready();
  });
  after(async () => {
    service?.kill("SIGTERM"); // none of them, where it has not come so far
    await service?.ended;
    await fixture?.close();
    rmSync(home, { recursive: true, force: true });
  });

  const listener = () => {
    const { children } = JSON.parse(readFileSync(join(home, "instance.json"), "utf8")) as {
      children: { pid: number }[];
    };
    return children
      .map(({ pid }) => pid)
      .find((pid) => isRunning(pid) && commandLine(pid).includes("webhooks gmail run"));
  };
  const status = async () => JSON.parse((await runInProcess(["webhooks", "gmail", "status", "--json"], env)).stdout);
  const runsAt = async (url: string) => {
    const answer = (await (await fetch(`${url}/api/runs`)).json()) as { runs: { name: string }[] };
    return answer.runs;
  };

  it("listens, prints that it does, and starts runs for mails", async () => {
    await eventually(async () => (await status()).listedAt, "the first listing");

    fixture.google.mailbox.add();
    fixture.google.pubsub.publish();
    const runs = await eventually(async () => {
      const found = await runsAt(url);
      return found.length > 0 && found;
    }, "the run");

    expect(runs.map(({ name }) => name)).to.deep.equal(["Gmail"]);
    expect(service.printed()).to.match(/^ {2}Gmail +ada@example\.org \(state: npx signalbox webhooks gmail status\)$/m);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).to.match(/^signalbox_gmail_listening 1$/m);
  });

  it("starts and stops listening on SIGHUP according to the changed configuration", async () => {
    const { configText, credentialsFile, google } = fixture;
    const reread = (text: string) => {
      writeFileSync(env.SIGNALBOX_CONFIG ?? "", text);
      service.kill("SIGHUP");
    };
    const withoutGmail = JSON.stringify({ redis: JSON.parse(configText).redis });
    reread(withoutGmail);
    await eventually(() => listener() === undefined, "it to end");
    google.requests.length = 0;

    reread(configText);
    await eventually(() => google.requestsTo(/history/).length > 0, "it to listen");
    const during = listener();
    reread(withoutGmail);
    await eventually(() => listener() === undefined, "it to end again");
    rmSync(credentialsFile);
    reread(configText);
    await eventually(() => service.printed().includes("The Gmail listener did not start"), "it to fail");

    expect(during).to.be.a("number");
    expect(service.printed()).to.include(`The credentials file ${credentialsFile} does not exist: run`);
  });

  it("exits at once with a message if the credentials cannot be used", async () => {
    const config = JSON.parse(fixture.configText);
    config.hooks.gmail.credentialsFile = join(home, "nowhere.json");
    const SIGNALBOX_CONFIG = join(home, "faulty.json5");
    writeFileSync(SIGNALBOX_CONFIG, JSON.stringify(config));

    const { code, stderr } = await runCli("start", { ...fixture.env, SIGNALBOX_CONFIG }, home).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(
      /^The credentials file \S+ does not exist: run `signalbox webhooks gmail setup`, or .*\.\n$/,
    );
  });
});
