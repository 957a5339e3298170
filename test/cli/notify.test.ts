import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const API_TOKEN = "api-token-of-the-test";
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

const configOf = (telegram: string) =>
  JSON.stringify({
    channels: { log: {}, telegram: { botToken: "1:a", apiUrl: telegram } },
    notify: [
      { id: "ops", on: ["job.failed", "job.stale"], to: { channel: "log", to: "night watch" } },
      { id: "chat", on: ["job.failed"], to: { channel: "telegram", to: "7001" } },
      { id: "ci", on: ["job.missing"], to: { webhook: { url: "https://ci.example.com/hidden", secret: SECRET } } },
      { id: "agent", on: ["run.failed"], to: { wake: "next-heartbeat" } },
    ],
    expect: [
      { id: "backup", name: "Nightly backup", every: "1d", grace: "2h" },
      { id: "report", name: "Report", every: "1w" },
    ],
  });

describe("signalbox notify", () => {
  let app: TestApp;
  let worker: TestWorker;
  let telegram: ChannelServer;
  before(async () => {
    telegram = await startChannelServer(answers(400, { ok: false, description: "Bad Request: chat not found" }));
    app = await startApp({ apiToken: API_TOKEN, config: configOf(telegram.url) });
    worker = await startWorker(app);
  });
  after(async () => {
    await worker.close();
    await app.close();
    await telegram.close();
  });
  const cli = (...args: string[]) =>
    runInProcess(["notify", ...args], { SIGNALBOX_URL: app.url, SIGNALBOX_API_TOKEN: API_TOKEN });

  it("list prints rules and expectations, without secrets", async () => {
    const { code, stdout } = await cli("list");

    const lines = stdout.trimEnd().split("\n");
    expect(code).to.equal(0);
    expect(lines[0]).to.match(/^RULE +ON +TO/);
    expect(lines[1]).to.match(/^ops +job\.failed job\.stale +log night watch/);
    expect(lines[2]).to.match(/^chat +job\.failed +telegram 7001/);
    expect(lines[3]).to.match(/^ci +job\.missing +https:\/\/ci\.example\.com$/);
    expect(lines[4]).to.match(/^agent +run\.failed +wake next-heartbeat/);
    expect(lines.slice(5)).to.deep.equal([
      "",
      "EXPECTATION  NAME            EVERY    LAST SEEN",
      "backup       Nightly backup  1d + 2h  never",
      "report       Report          1w       never",
    ]);
    expect(stdout).to.not.match(/hidden|whsec_/);
  });

  it("list --json prints what the API returns", async () => {
    const { stdout } = await cli("list", "--json");

    const { rules, expectations } = JSON.parse(stdout);
    expect(rules.map(({ ruleId }: { ruleId: string }) => ruleId)).to.deep.equal(["ops", "chat", "ci", "agent"]);
    expect(expectations).to.have.length(2);
  });

  it("test prints the delivery, and with --wait its result", async () => {
    const { code, stdout } = await cli("test", "ops");
    const waited = await cli("test", "ops", "--wait", "--json");
    const listed = await cli("list");

    expect(code).to.equal(0);
    expect(stdout).to.match(/^Delivery {2}[\w-]+-ops\n$/);
    expect(waited.code).to.equal(0);
    expect(JSON.parse(waited.stdout)).to.include({ rule: "ops", eventType: "test", state: "sent" });
    expect(listed.stdout).to.match(/^ops .* test +\d+s +sent$/m);
  });

  it("test --wait exits with 1 and prints the reason if the test cannot be sent", async () => {
    const { code, stdout, stderr } = await cli("test", "chat", "--wait");

    expect(code).to.equal(1);
    expect(stderr).to.match(/^delivery [\w-]+-chat\n$/);
    expect(stdout).to.match(/ test +chat +telegram +7001 +failed .*chat not found/);
  });

  it("test explains that a rule does not exist", async () => {
    const { code, stderr } = await cli("test", "nothing");

    expect(code).to.equal(3);
    expect(stderr).to.equal('There is no rule "nothing" in `notify`.\n');
  });

  it("deliveries list prints those of a rule or a kind only", async () => {
    await cli("test", "agent", "--wait");
    const env = { SIGNALBOX_URL: app.url, SIGNALBOX_API_TOKEN: API_TOKEN };

    const ofRule = await runInProcess(["deliveries", "list", "--rule", "agent", "--json"], env);
    const ofKind = await runInProcess(["deliveries", "list", "--kind", "wake", "--json"], env);
    const none = await runInProcess(["deliveries", "list", "--rule", "agent", "--kind", "webhook"], env);

    expect(JSON.parse(ofRule.stdout)).to.include({ rule: "agent", kind: "wake", state: "sent" });
    expect(ofKind.stdout).to.equal(ofRule.stdout);
    expect(none.stderr).to.include("No deliveries match.");
  });

  it("list says where rules are added if there are none", async () => {
    const bare = await startApp({ apiToken: API_TOKEN });
    try {
      const { code, stdout, stderr } = await runInProcess(["notify", "list"], {
        SIGNALBOX_URL: bare.url,
        SIGNALBOX_API_TOKEN: API_TOKEN,
      });

      expect([code, stdout]).to.deep.equal([0, ""]);
      expect(stderr).to.include("There are no rules. Add one to `notify` in the configuration file.");
    } finally {
      await bare.close();
    }
  });
});
