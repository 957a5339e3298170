import { expect } from "chai";
import { startApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { useSharedApp } from "../support/useApp.ts";

describe("signalbox route", () => {
  const app = useSharedApp({ config: `{ channels: { telegram: { botToken: "t" } } }` });

  const route = (...args: string[]) => runInProcess(["route", ...args, "--url", app.url], {});

  it("shows that there is no route, then the one that was set, until it is cleared", async () => {
    const none = await route("show");
    const set = await route("set", "telegram", "12345");
    const shown = await route("show");
    const json = await route("show", "--json");
    const cleared = await route("clear");

    expect([none.code, set.code, shown.code, cleared.code]).to.deep.equal([0, 0, 0, 0]);
    expect(none.stdout).to.equal("No reply target is set. Set one with `signalbox route set CHANNEL TO`.\n");
    expect([set.stdout, shown.stdout]).to.deep.equal(["telegram 12345\n", "telegram 12345\n"]);
    expect(JSON.parse(json.stdout)).to.deep.equal({
      replyTarget: { channel: "telegram", to: "12345" },
      source: "set",
    });
    expect(cleared.stdout).to.equal(none.stdout);
  });

  it("shows the route of the configuration", async () => {
    const config = `{ channels: { log: {} }, session: { main: { channel: "log", to: "ops" } } }`;
    const other = await startApp({ config });
    const { stdout } = await runInProcess(["route", "show", "--url", other.url], {});
    await other.close();

    expect(stdout).to.equal("log ops (session.main)\n");
  });

  it("rejects an unknown channel and one that is not configured with one sentence", async () => {
    const unknown = await route("set", "fax", "12345");
    const unconfigured = await route("set", "slack", "12345");

    expect([unknown.code, unconfigured.code]).to.deep.equal([2, 3]);
    expect(unknown.stderr).to.include(
      "Allowed choices are whatsapp, telegram, discord, slack, mattermost, signal, imessage, msteams, ntfy, email, log.\n",
    );
    expect(unconfigured.stderr).to.equal("The channel slack is not configured: add channels.slack.\n");
  });

  it("trims the recipient and rejects one that is too long", async () => {
    const set = await route("set", "telegram", " 12345\n");
    const long = await route("set", "telegram", "x".repeat(513));
    const shown = await route("show");

    expect([set.code, long.code]).to.deep.equal([0, 2]);
    expect(long.stderr).to.equal("The recipient is too long: it can have at most 512 characters.\n");
    expect(shown.stdout).to.equal("telegram 12345\n");
  });
});
