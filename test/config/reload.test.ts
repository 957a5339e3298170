import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import pino from "pino";
import { readConfig } from "../../src/config/load.ts";
import { reloadConfig } from "../../src/config/reload.ts";

describe("reloadConfig", () => {
  let dir: string;
  let events: string[];
  const env = () => ({ SIGNALBOX_CONFIG: join(dir, "signalbox.json5") });
  const write = (text: string) => writeFileSync(env().SIGNALBOX_CONFIG, text);
  const log = pino({ level: "info" }, { write: (line: string) => void events.push(JSON.parse(line).msg) });
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-reload-"));
    events = [];
    write("{}");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("logs that a configuration is in effect after it has been applied", async () => {
    const old = readConfig(env());
    write("{ hooks: { maxWaitingRuns: 7 } }");

    const { config: now } = await reloadConfig(env(), old, log, async ({ hooks }) => {
      await Promise.resolve();
      events.push(`applied ${hooks.maxWaitingRuns}`);
    });

    expect(events).to.deep.equal(["applied 7", "the changed configuration is in effect"]);
    expect(now.hooks.maxWaitingRuns).to.equal(7);
  });

  it("keeps the previous configuration when applying the changed one fails", async () => {
    const old = readConfig(env());
    write("{ hooks: { maxWaitingRuns: 7 } }");

    const { config: now } = await reloadConfig(env(), old, log, () => {
      throw new Error("cannot be applied");
    });

    expect(events).to.deep.equal(["the changed configuration cannot be applied; the previous one stays in effect"]);
    expect(now).to.equal(old);
  });

  it("does not apply an invalid configuration", async () => {
    const old = readConfig(env());
    write("{ hooks: { maxWaitingRuns: -7 } }");

    const { config: now } = await reloadConfig(env(), old, log, () => void events.push("applied"));

    expect(events).to.deep.equal(["the changed configuration is invalid; the previous one stays in effect"]);
    expect(now).to.equal(old);
  });
});
