import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import JSON5 from "json5";
import { importOpenClaw } from "../../../src/cli/configFile/openclaw.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { runInProcess } from "../../support/cli.ts";

const FILE = {
  gateway: { port: 18789 },
  models: {
    providers: {
      lab: { baseUrl: "http://10.0.0.2:8000/v1", apiKey: "${LAB_KEY}", models: [] },
      other: { baseUrl: "https://example.com/v1" },
    },
  },
  agents: {
    defaults: {
      model: { primary: "lab/qwen", fallbacks: ["other/x"] },
      workspace: "/srv/claw",
      thinkingDefault: "low",
      maxConcurrent: 4,
      heartbeat: { every: "1h", target: "last" },
    },
    list: [
      { id: "main", default: true },
      { id: "reviewer", model: "lab/big", workspace: "/srv/review" },
    ],
  },
  hooks: {
    enabled: true,
    token: "sixteen-letters!",
    path: "hooks/",
    allowedSessionKeyPrefixes: [],
    presets: ["gmail", "unknown"],
    internal: { enabled: true },
    mappings: [
      {
        id: "mail",
        match: { path: "/email" },
        action: "agent",
        agentId: "reviewer",
        sessionKey: "hook:mail:{{id}}",
        messageTemplate: "Mail: {{subject}}",
        model: "{{model}}",
        channel: "googlechat",
      },
      { match: { path: "chat" }, action: "agent", sessionKey: "hook:chat", sessionMode: "persistent" },
    ],
    gmail: { account: "me@example.com", label: "INBOX", pushToken: "x", tailscale: { mode: "funnel" } },
  },
  channels: {
    discord: { token: "discord-token", dmPolicy: "pairing" },
    mattermost: { baseUrl: "https://chat.example.com", botToken: "mm-token" },
    slack: { enabled: false, botToken: "xoxb-1" },
    whatsapp: { allowFrom: ["+15551234"] },
  },
};

describe("a configuration of OpenClaw", () => {
  it("becomes one of Signalbox", () => {
    const { config } = importOpenClaw(FILE);

    expect(config).to.deep.equal({
      hooks: {
        enabled: true,
        token: "sixteen-letters!",
        path: "/hooks",
        presets: ["gmail"],
        mappings: [
          {
            id: "mail",
            match: { path: "email" },
            action: "agent",
            agentId: "reviewer",
            messageTemplate: "Mail: {{subject}}",
          },
          { match: { path: "chat" }, action: "agent", sessionKey: "hook:chat" },
        ],
        gmail: { account: "me@example.com", label: "INBOX" },
        compat: "openclaw",
      },
      agents: {
        defaults: { runner: "openai", model: "qwen", thinking: "low", heartbeat: { every: "1h" } },
        list: { main: {}, reviewer: { model: "big", cwd: "/srv/review" } },
        runners: { openai: { baseUrl: "http://10.0.0.2:8000/v1", apiKey: "${LAB_KEY}" } },
      },
      worker: { concurrency: 4 },
      channels: {
        discord: { botToken: "discord-token" },
        mattermost: { apiUrl: "https://chat.example.com", botToken: "mm-token" },
        whatsapp: {},
      },
    });
  });

  it("has its other settings listed, each once", () => {
    const { left } = importOpenClaw(FILE);

    expect(left.map((line) => line.split(": ")[0])).to.deep.equal([
      "agents.defaults.heartbeat.target",
      "agents.defaults.model.fallbacks",
      "agents.defaults.workspace",
      "agents.list.main.default",
      "channels.discord.dmPolicy",
      "channels.slack",
      "channels.whatsapp.allowFrom",
      "gateway",
      "hooks.gmail.pushToken",
      "hooks.gmail.tailscale",
      "hooks.internal",
      "hooks.mappings.0.channel",
      "hooks.mappings.0.model",
      "hooks.mappings.0.sessionKey",
      "hooks.presets.1",
      "models.providers.other",
    ]);
  });

  it("with keyed agents is a valid configuration", () => {
    const { config } = importOpenClaw({ agents: { entries: { a: { model: { primary: "m" } } } } });

    const read = parseConfig(JSON.stringify(config), {});

    expect(read.agents.list).to.deep.equal({ a: { model: "m" } });
    expect(read.hooks.compat).to.equal("openclaw");
  });

  it("of any other shape is no error", () => {
    for (const odd of [{}, { agents: [], hooks: 1, channels: { x: null }, models: { providers: "x" } }])
      expect(importOpenClaw(odd).config).to.include.keys("hooks");
  });

  it("is printed by `config import`, with notes about what to correct", async () => {
    const path = join(tmpdir(), `openclaw-${process.pid}.json`);
    writeFileSync(path, JSON.stringify({ hooks: { enabled: true, token: "short" }, cron: {} }));

    const { code, stdout, stderr } = await runInProcess(["config", "import", path], {});

    expect(code).to.equal(0);
    expect(JSON5.parse(stdout).hooks).to.deep.include({ token: "short", compat: "openclaw" });
    expect(stderr).to.include("left out: cron: there is no such setting");
    expect(stderr).to.match(/to correct: hooks\.token/);
  });
});
