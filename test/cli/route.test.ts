import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { runInProcess } from "../support/cli.ts";
import { mongoUri } from "../support/servers/servers.ts";

describe("signalbox route", () => {
  let env: Record<string, string>;
  before(async () => {
    env = { MONGODB_URI: await mongoUri(`test-${randomUUID()}`) };
  });

  const route = (...args: string[]) => runInProcess(["route", ...args], env);

  it("shows that there is no route, and later the one that was set", async () => {
    const none = await route("show");
    const set = await route("set", "telegram", "12345");
    const shown = await route("show");

    expect([none.code, set.code, shown.code]).to.deep.equal([0, 0, 0]);
    expect(none.stdout).to.include("No route is set");
    expect(shown.stdout).to.equal("telegram 12345\n");
  });

  it("rejects an unknown channel with one sentence", async () => {
    const { code, stderr } = await route("set", "fax", "12345");

    expect(code).to.equal(2);
    expect(stderr).to.include(
      "Allowed choices are whatsapp, telegram, discord, slack, mattermost, signal, imessage, msteams, log.\n",
    );
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
