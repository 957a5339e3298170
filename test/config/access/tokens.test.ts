import { expect } from "chai";
import { allTokens, firstToken } from "../../../src/config/access/tokenList.ts";
import { type ConfigError, parseConfig } from "../../../src/config/load.ts";

const API = "an-api-token-of-length";
const OTHER = "another-token-of-length";
const token = (more: object = {}) => ({
  name: "ci",
  token: "a-token-of-the-ci-system",
  scopes: ["jobs:read"],
  ...more,
});

function problemsOf(server: object, hooks: object = {}): readonly string[] {
  try {
    parseConfig(JSON.stringify({ server, hooks }), {});
    return [];
  } catch (error) {
    return (error as ConfigError).problems;
  }
}

describe("lists of tokens", () => {
  it("are accepted for each token, and the first is the one that is used", () => {
    const text = JSON.stringify({
      server: { apiToken: [API, OTHER], readOnlyToken: ["a-read-only-token-of-length"] },
      hooks: { enabled: true, token: ["a-hook-token-of-length", "a-second-hook-token-of-length"] },
    });
    const { server, hooks } = parseConfig(text, {});

    expect(firstToken(server.apiToken)).to.equal(API);
    expect(allTokens(hooks.token)).to.have.length(2);
  });

  it("are overridden by one token in the environment", () => {
    const { server } = parseConfig(JSON.stringify({ server: { apiToken: [API] } }), { SIGNALBOX_API_TOKEN: OTHER });

    expect(allTokens(server.apiToken)).to.deep.equal([OTHER]);
  });

  const cases: [string, object, object, RegExp][] = [
    ["an empty list", { apiToken: [] }, {}, /server\.apiToken/],
    ["a short token in a list", { apiToken: [API, "short"] }, {}, /server\.apiToken\.1/],
    ["a token that is both", { apiToken: [API, OTHER] }, { enabled: true, token: [OTHER] }, /hooks\.token is the same/],
    ["a read-only token that is an API token", { apiToken: [API], readOnlyToken: [API] }, {}, /readOnlyToken must be/],
    ["a token in quotation marks", { apiToken: [API, '"a-token-in-quotation-marks"'] }, {}, /quotation marks/],
  ];
  for (const [title, server, hooks, problem] of cases) {
    it(`are refused with ${title}`, () => {
      expect(problemsOf(server, hooks).join("\n")).to.match(problem);
    });
  }
});

describe("server.tokens", () => {
  const cases: [string, object[], RegExp][] = [
    ["two tokens of one name", [token(), token({ token: OTHER })], /server\.tokens\.1\.name is used twice/],
    ["the same token twice", [token(), token({ name: "b" })], /server\.tokens\.1\.token is the same/],
    [
      "neither token nor tokenSha256",
      [token({ token: undefined })],
      /server\.tokens\.0 needs either token or tokenSha256/,
    ],
    ["both", [token({ tokenSha256: "a".repeat(64) })], /server\.tokens\.0 needs either/],
    [
      "a hash in upper case",
      [token({ token: undefined, tokenSha256: "A".repeat(64) })],
      /server\.tokens\.0\.tokenSha256/,
    ],
    ["the API token", [token({ token: API })], /server\.tokens\.0\.token must be another secret/],
    [
      "an unknown scope",
      [token({ scopes: ["jobs:read", "anything"] })],
      /server\.tokens\.0\.scopes\.1 is no scope: use hooks:NAME or one of jobs:read, jobs:report, .*, admin/,
    ],
    [
      "a mistyped scope",
      [token({ scopes: ["jobs:raed"] })],
      /server\.tokens\.0\.scopes\.0 is no scope; did you mean jobs:read\?/,
    ],
    ["no scope", [token({ scopes: [] })], /server\.tokens\.0\.scopes/],
    ["a hook that does not exist", [token({ scopes: ["hooks:none"] })], /server\.tokens\.0\.scopes has hooks:none/],
    [
      "a prefix without a scope for jobs",
      [token({ scopes: ["runs:read"], jobs: { idPrefix: "a" } })],
      /jobs has no effect/,
    ],
    ["a prefix beside admin", [token({ scopes: ["admin"], jobs: { idPrefix: "a" } })], /jobs has no effect/],
    ["a date that does not exist", [token({ expiresAt: "2027-13-01" })], /server\.tokens\.0\.expiresAt/],
    ["a day that does not exist", [token({ expiresAt: "2026-11-31" })], /expiresAt must be an existing date or time/],
    [
      "a time on such a day",
      [token({ expiresAt: "2026-02-30T18:00:00Z" })],
      /expiresAt must be an existing date or time/,
    ],
    ["an hour that does not exist", [token({ expiresAt: "2026-02-28T25:00Z" })], /expiresAt must be an existing date/],
    ["a date in words", [token({ expiresAt: "next year" })], /server\.tokens\.0\.expiresAt/],
    ["a reserved name", [token({ name: "anonymous" })], /server\.tokens\.0\.name must not be anonymous/],
  ];
  for (const [title, tokens, problem] of cases) {
    it(`is refused with ${title}`, () => {
      const problems = problemsOf({ apiToken: API, tokens });

      expect(problems.join("\n")).to.match(problem);
      expect(problems.join("\n")).to.not.include("a-token-of-the-ci-system");
    });
  }

  it("needs server.apiToken", () => {
    expect(problemsOf({ tokens: [token()] }).join()).to.match(/server\.tokens is set and server\.apiToken is not/);
  });

  it("is accepted with all scopes, the hooks that exist, a prefix and an expiry", () => {
    const scopes = ["jobs:read", "jobs:report", "jobs:create", "jobs:write", "gates:answer", "runs:read", "runs:write"];
    const tokens = [
      token({ scopes: [...scopes, "hooks:agent", "hooks:wake", "hooks:ci/build"], jobs: { idPrefix: "ci/" } }),
      token({ name: "grafana", token: undefined, tokenSha256: "0".repeat(64), expiresAt: "2027-06-30T18:00:00Z" }),
    ];

    expect(problemsOf({ apiToken: API, tokens }, { mappings: [{ match: { path: "ci/build" } }] })).to.deep.equal([]);
  });
});
