import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { answers, breaks, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const API_TOKEN = "api-token-of-the-test";

describe("signalbox deliver and channels", () => {
  const town = "town".padEnd(26, "0");
  const post = answers(201, { id: "p".repeat(26), channel_id: town });
  const refusal = (status: number, id: string) => answers(status, { id, message: "", status_code: status });
  const unauthorized = refusal(401, "api.context.session_expired.app_error");
  let server: ChannelServer;
  let app: TestApp;
  let worker: TestWorker;
  before(async () => {
    server = await startChannelServer((response, request) =>
      request.path.endsWith("/users/me")
        ? answers(200, { id: "b".repeat(26), username: "signalbox" })(response, request)
        : post(response, request),
    );
    app = await startService();
  });
  after(async () => {
    await app.close();
    await server.close();
  });
  const startService = (timings = {}) =>
    startApp({
      apiToken: API_TOKEN,
      config: `{
        channels: { log: {}, mattermost: { apiUrl: "${server.url}", botToken: "s3cret", maxPostLength: 100 } },
        session: { main: { channel: "mattermost", to: "${town}" } },
      }`,
      timings,
    });
  beforeEach(async () => {
    server.script();
    worker = await startWorker(app);
  });
  afterEach(async () => {
    await worker.close();
    await app.stores.deliveries.collection.native.deleteMany({}); // One that waits would take the script of another test.
  });
  const cli = (...args: string[]) => cliOf(app, args);
  const cliOf = ({ url }: TestApp, args: readonly string[]) =>
    runInProcess(args, { SIGNALBOX_URL: url, SIGNALBOX_API_TOKEN: API_TOKEN });
  const deliver = (text: string) => cli("deliver", "mattermost", "--to", ` ${town} `, "--text", text);

  it("deliver sends a text in as many parts as necessary, through the worker", async () => {
    const text = `${"word ".repeat(18).trim()}.  And_more_of_it.`.replaceAll(" ", "_");
    const { code, stdout } = await deliver(`${text}x${"y".repeat(60)}`);
    const listed = await cli("deliveries", "list", "--channel", "mattermost", "--limit", "1");

    expect(code).to.equal(0);
    expect(stdout.trim().split("\n")).to.deep.equal([
      `sent 1 of 2 (${"p".repeat(26)})`,
      `sent 2 of 2 (${"p".repeat(26)})`,
    ]);
    expect(server.requests.map(({ body }) => body.channel_id)).to.deep.equal([town, town]);
    expect(listed.stdout).to.match(/ test +mattermost +town0+ +sent /);
  });

  it("deliver sends plain text if the service rejects the formatting", async () => {
    server.script(refusal(400, "model.post.is_valid.message.app_error"), post);

    const { code, stdout } = await deliver("Hello **there**");

    expect([code, stdout]).to.deep.equal([0, `sent 1 of 1 (${"p".repeat(26)})\n`]);
    const sent = server.requests.map(({ body }) => body.message.replaceAll("\\", ""));
    expect(sent).to.deep.equal(["Hello **there**", "Hello there"]);
  });

  it("deliver explains in one sentence why nothing is sent yet, and exits with 1", async () => {
    server.script(unauthorized);
    const refused = await deliver("Hello");
    server.script(answers(429, "limit exceeded", { "Retry-After": "61" }));
    await cli("deliver", "mattermost", "--to", town, "--text", "Hello"); // ends the stop
    const limited = await deliver("Hello");

    expect([refused.code, limited.code]).to.deep.equal([1, 1]);
    expect(refused.stderr).to.match(/^Nothing was sent to mattermost: .*401.* The service tries again by itself\.\n$/);
    expect(refused.stderr).to.not.include("s3cret");
    expect(limited.stderr).to.match(/^Nothing was sent to mattermost: /);
  });

  it("deliver prints how many parts were sent before one failed", async () => {
    server.script(post, refusal(403, "api.context.permissions.app_error"));

    const { code, stdout, stderr } = await deliver(`${"x".repeat(90)}\n\n${"y".repeat(90)}`);

    expect(code).to.equal(1);
    expect(stdout).to.equal(`sent 1 of 2 (${"p".repeat(26)})\n`);
    expect(stderr).to.match(/^1 of 2 parts were sent to mattermost: Mattermost answered 403/);
  });

  it("deliver prints that a text may have been sent if the outcome is unknown", async () => {
    server.script(breaks, breaks, breaks);

    const { code, stderr } = await deliver("Hello");

    expect(code).to.equal(1);
    expect(stderr).to.match(/^It may have been sent to mattermost: .* The service tries again by itself\.\n$/);
  });

  const refused = [
    [["deliver", "fax", "--to", "x", "--text", "Hello"], 2, "Allowed choices are whatsapp, telegram, "],
    [["deliver", "log", "--to", " ", "--text", "Hello"], 2, "The recipient is empty"],
    [["deliver", "log", "--to", "x", "--text", " "], 2, "--text is empty: pass the message to send."],
    [["channels", "test", "log"], 3, "to is required: replies of the main session do not go to log."],
    [["channels", "test", "telegram"], 3, "The channel telegram is not configured: add channels.telegram."],
    [["channels", "resume", "telegram"], 3, "The channel telegram is not configured: add channels.telegram."],
  ] as const;
  for (const [args, exitCode, words] of refused) {
    it(`${args.join(" ")} is refused in a sentence`, async () => {
      const { code, stderr } = await cli(...args);

      expect(code).to.equal(exitCode);
      expect(stderr).to.include(words);
    });
  }

  it("channels check checks each channel's credentials without sending, and exits with 1 if one is invalid", async () => {
    const good = await cli("channels", "check");
    server.script(unauthorized);
    const bad = await cli("channels", "check", "--json");

    expect([good.code, bad.code]).to.deep.equal([0, 1]);
    expect(good.stdout).to.match(/^ok {4}log .*\nok {4}mattermost {2}.*signalbox/m);
    const checks = bad.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(checks.map(({ channel, ok }) => [channel, ok])).to.deep.equal([
      ["log", true],
      ["mattermost", false],
    ]);
    expect(server.requests.some(({ path }) => path.endsWith("/posts"))).to.equal(false);
  });

  it("channels check exits with 3 when no worker answers", async () => {
    const hurried = await startService({ channelCheckMs: 100 });

    const { code, stdout, stderr } = await cliOf(hurried, ["channels", "check"]);
    await hurried.close();

    expect([code, stdout]).to.deep.equal([3, ""]);
    expect(stderr).to.match(/^No worker has answered within 0\.1 s\. /);
  });

  it("channels test sends to the main session's recipient, and with --wait prints the result", async () => {
    const sent = await cli("channels", "test", "mattermost");
    const waited = await cli("channels", "test", "mattermost", "--text", "All well", "--wait", "--json");
    server.script(refusal(403, "api.context.permissions.app_error"));
    const failed = await cli("channels", "test", "mattermost", "--wait");

    expect([sent.code, waited.code, failed.code]).to.deep.equal([0, 0, 1]);
    expect(sent.stdout).to.match(/^Delivery {2}[\w-]+\n$/);
    expect(JSON.parse(waited.stdout)).to.include({ channel: "mattermost", to: town, eventType: "test", state: "sent" });
    expect(failed.stdout).to.match(/ failed .*Mattermost answered 403/);
  });

  it("channels resume lets a stopped channel try its credentials again", async () => {
    server.script(unauthorized);
    const stopped = await cli("channels", "test", "mattermost", "--wait", "--json");

    const resumed = await cli("channels", "resume", "mattermost");
    const { deliveryId } = JSON.parse(stopped.stdout);
    await eventually(
      async () => (await app.stores.deliveries.find(deliveryId)).state === "sent",
      "the waiting message to be sent",
    );
    const idle = await cli("channels", "resume", "mattermost");

    expect([resumed.code, idle.code]).to.deep.equal([0, 0]);
    expect(resumed.stdout).to.equal("mattermost tries its credentials again.\n");
    expect(idle.stdout).to.equal("mattermost is not stopped.\n");
  });
});
