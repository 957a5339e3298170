import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { answers, type ChannelServer, startChannelServer } from "../support/channelServer.ts";
import { runCli } from "./service.ts";

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

  it("sends a text in as many parts as it takes", async () => {
    const text = `${"word ".repeat(18).trim()}.  And_more_of_it.`.replaceAll(" ", "_");
    const { code, stdout } = await runCli(`deliver mattermost --to ${town} --text ${text}x${"y".repeat(60)}`, env)
      .ended;

    expect(code).to.equal(0);
    expect(stdout.trim().split("\n")).to.deep.equal([
      `sent 1 of 2 (${"p".repeat(26)})`,
      `sent 2 of 2 (${"p".repeat(26)})`,
    ]);
    expect(server.requests.map(({ body }) => body.channel_id)).to.deep.equal([town, town]);
  });

  it("says in a sentence why nothing was sent, and ends with 1", async () => {
    server.script(answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 }));

    const { code, stderr } = await runCli(`deliver mattermost --to ${town} --text Hello`, env).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(/^Nothing was sent to mattermost \(authentication\): /);
    expect(stderr).to.not.include("s3cret");
  });

  const refused = [
    ["fax", "There is no channel fax: take one of "],
    ["telegram", "The channel telegram is not configured: add channels.telegram."],
  ] as const;
  for (const [channel, words] of refused) {
    it(`refuses ${channel} in a sentence`, async () => {
      const { code, stderr } = await runCli(`deliver ${channel} --to x --text Hello`, env).ended;

      expect(code).to.equal(1);
      expect(stderr).to.include(words);
    });
  }

  it("tries each channel's credentials and sends nothing; ends with 1 when one is bad", async () => {
    const good = await runCli("channels check", env).ended;
    server.script(answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 }));
    const bad = await runCli("channels check", env).ended;

    expect([good.code, bad.code]).to.deep.equal([0, 1]);
    expect(good.stdout).to.match(/^good {2}mattermost {2}.*signalbox.*\ngood {2}log/m);
    expect(bad.stdout).to.match(/^BAD {3}mattermost/m);
    expect(server.requests.some(({ path }) => path.endsWith("/posts"))).to.equal(false);
  });
});
