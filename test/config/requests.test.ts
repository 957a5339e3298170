import { expect } from "chai";
import { keepLimits } from "../../src/config/hooks.ts";
import { ConfigError, parseConfig } from "../../src/config/load.ts";
import { redactConfig } from "../../src/config/redact.ts";

const fileWith = (hooks: string) => `{ hooks: { enabled: true, token: "a-hook-token-of-length", ${hooks} } }`;

function problemsOf(hooks: string): string {
  try {
    parseConfig(fileWith(hooks), {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join("\n");
    throw error;
  }
  return "";
}

const mapping = (text: string) => `mappings: [{ ${text} }]`;

describe("the configuration of kept requests, filters, bodies and handshakes", () => {
  const usable: [string, string][] = [
    ["a duration", 'keepRequests: "7d"'],
    ["a duration and a size", 'keepRequests: { for: "12h", maxBytes: "500MiB" }'],
    [
      "conditions of every kind",
      mapping('match: { when: { "payload.a": ["x", 1, true], "headers.X-Event": "push" } }'),
    ],
    [
      "conditions on existence",
      mapping('match: { when: { "a[0].b": { exists: true }, \'["any key"]\': { exists: false } } }'),
    ],
    ["other bodies", mapping('match: { path: "x" }, accept: ["text/plain", "form"], forEach: "."')],
    ["a handshake", mapping('match: { path: "x" }, handshake: "meta", verifyToken: "t"')],
  ];
  for (const [title, hooks] of usable) {
    it(`accepts ${title}`, () => {
      expect(problemsOf(hooks)).to.equal("");
    });
  }

  const faults: [string, string, RegExp][] = [
    ["another text", 'keepRequests: "a week"', /^hooks\.keepRequests must look like 7d$/],
    ["a number", "keepRequests: 7", /^hooks\.keepRequests must be a string or an object$/],
    ["an object without a duration", 'keepRequests: { maxBytes: "1GiB" }', /^hooks\.keepRequests\.for is missing$/],
    ["an unknown key", 'keepRequests: { for: "7d", max: "1GiB" }', /^hooks\.keepRequests\.max is not a known key/],
    ["a wrong duration", 'keepRequests: { for: "7" }', /^hooks\.keepRequests\.for must look like 7d$/],
    [
      "a wrong size",
      'keepRequests: { for: "7d", maxBytes: "1GB" }',
      /^hooks\.keepRequests\.maxBytes must look like 1GiB/,
    ],
    ["a path with a fault", mapping('match: { when: { "a..b": 1 } }'), /match\.when\["a\.\.b"\] is not a path: line 1/],
    ["a text as a path", mapping("match: { when: { '\"a\"': 1 } }"), /is not a path: .* quotation marks/],
    ["the time as a path", mapping("match: { when: { now: 1 } }"), /match\.when\["now"\] must not begin with now/],
    ["an item as a path", mapping('match: { when: { "item.x": 1 } }'), /match\.when\["item\.x"\] needs forEach/],
    ["another object", mapping('match: { when: { a: { in: ["x"] } } }'), /must be a value, a list of values, or/],
    ["an empty list", mapping("match: { when: { a: [] } }"), /when\.a must not be empty$/],
    ["null", mapping("match: { when: { a: null } }"), /when\.a must be a string or/],
    ["an unknown body", mapping('accept: ["xml"]'), /accept\.0 must be one of text\/plain, form$/],
    ["a handshake without a name", mapping('handshake: "meta", verifyToken: "t"'), /handshake needs match\.path/],
    ["a handshake without a token", mapping('match: { path: "x" }, handshake: "meta"'), /verifyToken is missing/],
    ["a token without a handshake", mapping('match: { path: "x" }, verifyToken: "t"'), /verifyToken has no effect/],
    [
      "kept mails without kept requests",
      'presets: ["gmail"], gmail: { account: "ada@example.org", keepRequests: true }',
      /^hooks\.gmail\.keepRequests has no effect without hooks\.keepRequests/,
    ],
  ];
  for (const [title, hooks, words] of faults) {
    it(`refuses ${title}`, () => {
      expect(problemsOf(hooks)).to.match(words);
    });
  }

  it("reads the limits of both forms", () => {
    expect(keepLimits("7d")).to.deep.equal({ ms: 7 * 86_400_000, maxBytes: undefined });
    expect(keepLimits({ for: "1h", maxBytes: "2GiB" })).to.deep.equal({ ms: 3_600_000, maxBytes: 2 * 2 ** 30 });
  });

  it("hides the verify token where the configuration is printed", () => {
    const config = parseConfig(
      fileWith(mapping('match: { path: "x" }, handshake: "meta", verifyToken: "the secret"')),
      {},
    );

    expect(JSON.stringify(redactConfig(config))).to.not.include("the secret");
  });
});
