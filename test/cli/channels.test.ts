import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runInProcess } from "../support/cli.ts";
import { answers, breaks, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";

describe("signalbox deliver and channels check", () => {
  const town = "town".padEnd(26, "0");
  let server: ChannelServer;
  let dir: string;
  let env: Record<string, string>;
  before(async () => {
    server = await startChannelServer((response, { path }) =>
      path.endsWith("/users/me")
        ? answers(200, { id: "b".repeat(26), username: "signalbox" })(response, {} as never)
        : answers(201, { id: "p".repeat(26), channel_id: town })(response, {} as never),
    );
    dir = mkdtempSync(join(tmpdir(), "signalbox-channels-"));
    const config = `{ channels: { log: {}, mattermost: { apiUrl: "${server.url}", botToken: "s3cret", maxPostLength: 100 } } }`;
    writeFileSync(join(dir, "signalbox.json5"), config);
    env = { SIGNALBOX_CONFIG: join(dir, "signalbox.json5") };
  });
  after(async () => {
    await server.close();
    rmSync(dir, { recursive: true });
  });
  beforeEach(() => server.script());

  it("sends a text in as many parts as necessary", async () => {
    const text = `${"word ".repeat(18).trim()}.  And_more_of_it.`.replaceAll(" ", "_");
    const args = ["deliver", "mattermost", "--to", town, "--text", `${text}x${"y".repeat(60)}`];
    const { code, stdout } = await runInProcess(args, env);

    expect(code).to.equal(0);
    expect(stdout.trim().split("\n")).to.deep.equal([
      `sent 1 of 2 (${"p".repeat(26)})`,
      `sent 2 of 2 (${"p".repeat(26)})`,
    ]);
    expect(server.requests.map(({ body }) => body.channel_id)).to.deep.equal([town, town]);
  });

  it("explains in one sentence why nothing was sent, and exits with 1", async () => {
    server.script(answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 }));

    const { code, stderr } = await runInProcess(["deliver", "mattermost", "--to", town, "--text", "Hello"], env);

    expect(code).to.equal(1);
    expect(stderr).to.match(/^Nothing was sent to mattermost \(authentication\): /);
    expect(stderr).to.not.include("s3cret");
  });

  const post = answers(201, { id: "p".repeat(26), channel_id: town });
  const refusal = (status: number, id: string) => answers(status, { id, message: "", status_code: status });
  const deliver = (text: string) => runInProcess(["deliver", "mattermost", "--to", ` ${town} `, "--text", text], env);

  it("sends plain text if the service rejects the formatting", async () => {
    server.script(refusal(400, "model.post.is_valid.message.app_error"), post);

    const { code, stdout } = await deliver("Hello **there**");

    expect([code, stdout]).to.deep.equal([0, `sent 1 of 1 (${"p".repeat(26)})\n`]);
    const sent = server.requests.map(({ body }) => body.message.replaceAll("\\", ""));
    expect(sent).to.deep.equal(["Hello **there**", "Hello there"]);
    expect(server.requests.map(({ body }) => body.channel_id)).to.deep.equal([town, town]);
  });

  it("waits at most a minute for the end of a rate limit", async () => {
    server.script(answers(429, "limit exceeded", { "Retry-After": "1" }), post);
    const waited = await deliver("Hello");
    const requests = server.requests.length;
    server.script(answers(429, "limit exceeded", { "Retry-After": "61" }));
    const refused = await deliver("Hello");

    expect([waited.code, requests]).to.deep.equal([0, 2]);
    expect([refused.code, server.requests.length]).to.deep.equal([1, 1]);
    expect(refused.stderr).to.match(/^Nothing was sent to mattermost \(rate-limited\): /);
  });

  it("prints how many parts were sent before one failed", async () => {
    server.script(post, refusal(403, "api.context.permissions.app_error"));

    const { code, stdout, stderr } = await deliver(`${"x".repeat(90)}\n\n${"y".repeat(90)}`);

    expect(code).to.equal(1);
    expect(stdout).to.equal(`sent 1 of 2 (${"p".repeat(26)})\n`);
    expect(stderr).to.match(/^1 of 2 parts were sent to mattermost \(gone\): Mattermost answered 403/);
  });

  it("prints that a text may have been sent if the outcome is unknown", async () => {
    server.script(breaks);

    const { code, stderr } = await deliver("Hello");

    expect(code).to.equal(1);
    expect(stderr).to.match(/^It may have been sent to mattermost \(ambiguous\): /);
    expect(server.requests).to.have.length(1);
  });

  const refused = [
    ["fax", 2, "Allowed choices are whatsapp, telegram, "],
    ["telegram", 1, "The channel telegram is not configured: add channels.telegram."],
  ] as const;
  for (const [channel, exitCode, words] of refused) {
    it(`refuses ${channel} in a sentence`, async () => {
      const { code, stderr } = await runInProcess(["deliver", channel, "--to", "x", "--text", "Hello"], env);

      expect(code).to.equal(exitCode);
      expect(stderr).to.include(words);
    });
  }

  it("checks each channel's credentials without sending, and exits with 1 if one is invalid", async () => {
    const good = await runInProcess(["channels", "check"], env);
    server.script(answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 }));
    const bad = await runInProcess(["channels", "check"], env);

    expect([good.code, bad.code]).to.deep.equal([0, 1]);
    expect(good.stdout).to.match(/^ok {4}mattermost {2}.*signalbox.*\nok {4}log/m);
    expect(bad.stdout).to.match(/^FAIL {2}mattermost/m);
    expect(server.requests.some(({ path }) => path.endsWith("/posts"))).to.equal(false);
  });
});
