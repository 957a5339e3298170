import { expect } from "chai";
import { ConfigError, parseConfig } from "../../src/config/load.ts";
import { compileMappings } from "../../src/hooks/mappings/mapping.ts";

const TOPIC = "projects/my-project/topics/mail";
const SUBSCRIPTION = "projects/my-project/subscriptions/mail";

const parse = (hooks: object, agents: object = {}) =>
  parseConfig(JSON.stringify({ hooks, agents }), {}, "/conf/box.json5");

function problems(gmail: object, hooks: object = { presets: ["gmail"] }, agents: object = {}): string {
  try {
    parse({ ...hooks, gmail: { account: "ada@example.org", ...gmail } }, agents);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
  return "";
}

describe("hooks.gmail", () => {
  it("needs only an account and the preset, and has defaults for the rest", () => {
    const { gmail } = parse({ presets: ["gmail"], gmail: { account: "ada@example.org" } }).hooks;

    expect(gmail).to.deep.equal({
      account: "ada@example.org",
      label: "INBOX",
      includeBody: true,
      maxBytes: 20_000,
      pollEveryMinutes: 5,
      allowUnsafeExternalContent: false,
      keepRequests: false,
      credentialsFile: "/conf/gmail-credentials.json",
    });
  });

  const FAULTS: [string, object, object | undefined, object | undefined, RegExp][] = [
    ["an account that is not an address", { account: "ada" }, undefined, undefined, /hooks\.gmail\.account/],
    [
      "a topic that is not a resource name",
      { topic: "mail", subscription: SUBSCRIPTION },
      undefined,
      undefined,
      /hooks\.gmail\.topic/,
    ],
    ["a topic without a subscription", { topic: TOPIC }, undefined, undefined, /go together/],
    ["a subscription without a topic", { subscription: SUBSCRIPTION }, undefined, undefined, /go together/],
    ["no mapping for mails", {}, {}, undefined, /needs a mapping.*"gmail" to hooks\.presets/],
    ["only a mapping of another name", {}, { mappings: [{ match: { path: "ci" } }] }, undefined, /needs a mapping/],
    ["only a mapping of another source", {}, { mappings: [{ match: { source: "ci" } }] }, undefined, /needs a mapping/],
    [
      "a model outside the allow-list",
      { model: "big" },
      undefined,
      { defaults: { models: ["small"] } },
      /hooks\.gmail\.model must be one of small/,
    ],
    [
      "a model that a custom mapping would ignore",
      { model: "big" },
      { mappings: [{ match: { path: "gmail" } }] },
      undefined,
      /hooks\.gmail\.model .* mapping gmail/,
    ],
    [
      "prefixes of session keys that leave the preset's out",
      {},
      { presets: ["gmail"], allowedSessionKeyPrefixes: ["ci:"] },
      undefined,
      /hooks\.allowedSessionKeyPrefixes must have one for hook:gmail:/,
    ],
    ["an unknown key", { lable: "INBOX" }, undefined, undefined, /did you mean hooks\.gmail\.label/],
  ];
  for (const [title, gmail, hooks, agents, words] of FAULTS) {
    it(`is refused with ${title}`, () => {
      expect(problems(gmail, hooks, agents)).to.match(words);
    });
  }

  it("is accepted with a custom mapping in place of the preset", () => {
    expect(problems({}, { mappings: [{ match: { path: "gmail", source: "gmail" } }] })).to.equal("");
    expect(problems({}, { mappings: [{}] })).to.equal("");
  });

  it("is accepted with an allowed prefix of the preset's session keys", () => {
    const presets = ["gmail"];

    expect(problems({}, { presets, allowedSessionKeyPrefixes: ["ci:", "hook:"] })).to.equal("");
    const [mapping] = compileMappings(parse({ presets, gmail: { account: "ada@example.org" } }).hooks);
    expect(JSON.stringify(mapping)).to.include("hook:gmail:");
  });

  it("is optional for the preset, whose session keys must begin with an allowed prefix even without it", () => {
    const presets = ["gmail"];
    const other = { presets, allowedSessionKeyPrefixes: ["team:"] };

    expect(() => parse(other)).to.throw(ConfigError, /hooks\.allowedSessionKeyPrefixes must have one for hook:gmail:/);
    expect(() => parse({ ...other, mappings: [{ match: { path: "gmail" } }] })).to.not.throw();
    expect(() => parse({ presets, allowedSessionKeyPrefixes: ["team:", "hook:gmail:"] })).to.not.throw();
  });

  it("sets model, thinking and trust of the preset", () => {
    const gmail = { account: "ada@example.org", model: "big", thinking: "low", allowUnsafeExternalContent: true };

    const [mapping] = compileMappings(parse({ presets: ["gmail"], gmail }).hooks);

    expect(mapping).to.include({ model: "big", thinking: "low", allowUnsafeExternalContent: true });
  });
});
