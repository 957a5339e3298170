import { expect } from "chai";
import { parseConfig } from "../../src/config/load.ts";

const BOT = { botToken: "123456:secret" };
const KEY = "0f".repeat(32);

/** Returns the faults of a configuration; empty if it has none. */
function faultsOf(config: object): string {
  try {
    parseConfig(JSON.stringify(config), {});
    return "";
  } catch (error) {
    return String((error as Error).message);
  }
}

describe("configuration of chats", () => {
  const CASES: readonly [title: string, config: object, fault: RegExp][] = [
    [
      "an owner who may not act",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], owners: ["2"] } } },
      /channels\.telegram\.owners names 2, who is not in channels\.telegram\.allowFrom/,
    ],
    [
      "an inbox without people",
      { channels: { telegram: { ...BOT, inbox: { sessionKey: "team" } } } },
      /channels\.telegram\.inbox has no effect without channels\.telegram\.allowFrom/,
    ],
    [
      "an inbox without a target",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], inbox: {} } } },
      /channels\.telegram\.inbox needs sessionKey or mapping/,
    ],
    [
      "an inbox with the main session",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], inbox: { sessionKey: "main" } } } },
      /channels\.telegram\.inbox\.sessionKey must not be main/,
    ],
    [
      "an inbox with an unknown mapping",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], inbox: { mapping: "none" } } } },
      /channels\.telegram\.inbox\.mapping names no mapping/,
    ],
    [
      "an inbox with an unknown agent",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], inbox: { sessionKey: "team", agentId: "a" } } } },
      /channels\.telegram\.inbox\.agentId names no agent: agents\.list has none/,
    ],
    [
      "an inbox whose mapping has the agent",
      {
        agents: { list: { a: {} } },
        hooks: { mappings: [{ match: { path: "chat" } }] },
        channels: { telegram: { ...BOT, allowFrom: ["1"], inbox: { mapping: "chat", agentId: "a" } } },
      },
      /channels\.telegram\.inbox\.agentId has no effect with a mapping/,
    ],
    [
      "people in Slack without a way to them",
      { channels: { slack: { ...BOT, allowFrom: ["U1"] } } },
      /channels\.slack\.allowFrom needs channels\.slack\.signingSecret, .* or channels\.slack\.appToken/,
    ],
    [
      "an app token without people",
      { channels: { slack: { ...BOT, appToken: "xapp-1" } } },
      /channels\.slack\.appToken has no effect without channels\.slack\.allowFrom/,
    ],
    [
      "people in Discord without a key",
      { channels: { discord: { ...BOT, allowFrom: ["123"] } } },
      /channels\.discord\.allowFrom needs channels\.discord\.publicKey/,
    ],
    [
      "a key of Discord without people",
      { channels: { discord: { ...BOT, publicKey: KEY } } },
      /channels\.discord\.publicKey has no effect without channels\.discord\.allowFrom/,
    ],
    [
      "a mapping at the address of a channel",
      {
        hooks: { mappings: [{ match: { path: "discord" } }] },
        channels: { discord: { ...BOT, publicKey: KEY, allowFrom: ["123"] } },
      },
      /channels\.discord\.publicKey takes the requests to the hook discord/,
    ],
    [
      "a webhook of Telegram without an address",
      { channels: { telegram: { ...BOT, allowFrom: ["1"], inbound: "webhook" } } },
      /channels\.telegram\.inbound webhook needs server\.publicUrl with https/,
    ],
    [
      "answers in ntfy without an address",
      { channels: { ntfy: { answers: true } } },
      /channels\.ntfy\.answers needs server\.publicUrl/,
    ],
  ];
  for (const [title, config, fault] of CASES)
    it(`refuses ${title}`, () => {
      expect(faultsOf(config)).to.match(fault);
    });

  it("accepts people, owners among them, and an inbox", () => {
    const telegram = { ...BOT, allowFrom: ["1", "2"], owners: ["1"], inbox: { sessionKey: "team" } };

    expect(faultsOf({ channels: { telegram } })).to.equal("");
  });
});
