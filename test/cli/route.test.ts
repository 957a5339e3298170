import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mongoUri } from "../support/servers.ts";
import { runCli } from "./service.ts";

describe("signalbox route", () => {
  let env: Record<string, string>;
  before(async () => {
    env = { MONGODB_URI: await mongoUri(`test-${randomUUID()}`) };
  });

  it("show says that there is none, then the one that set has set", async () => {
    const none = await runCli("route show", env).ended;
    const set = await runCli("route set telegram 12345", env).ended;
    const shown = await runCli("route show", env).ended;

    expect([none.code, set.code, shown.code]).to.deep.equal([0, 0, 0]);
    expect(none.stdout).to.include("There is no route yet");
    expect(shown.stdout).to.equal("telegram 12345\n");
  });

  it("set refuses a channel that does not exist in a sentence", async () => {
    const { code, stderr } = await runCli("route set fax 12345", env).ended;

    expect(code).to.equal(2);
    expect(stderr).to.include(
      "Allowed choices are whatsapp, telegram, discord, slack, mattermost, signal, imessage, msteams, log.\n",
    );
  });

  it("set takes a recipient without the spaces around it, and none that is too long", async () => {
    const set = await runCli(["route", "set", "telegram", " 12345\n"], env).ended;
    const long = await runCli(["route", "set", "telegram", "x".repeat(513)], env).ended;
    const shown = await runCli("route show", env).ended;

    expect([set.code, long.code]).to.deep.equal([0, 2]);
    expect(long.stderr).to.equal("The recipient is too long: 512 characters at most.\n");
    expect(shown.stdout).to.equal("telegram 12345\n");
  });
});
