import { expect } from "chai";
import { ConfigError, parseConfig } from "../../../src/config/load.ts";
import { SENDER_PRESETS } from "../../../src/config/mappings/presets.ts";

const parse = (mapping: string) =>
  parseConfig(`{ hooks: { enabled: true, token: "a-hook-token-of-length", mappings: [${mapping}] } }`, {});
const mappingOf = (mapping: string) => parse(mapping).hooks.mappings[0];

function problemsOf(mapping: string): readonly string[] {
  try {
    parse(mapping);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("hooks.mappings: preset", () => {
  it("fills in everything but the secret", () => {
    const { auth, when, ...keys } = SENDER_PRESETS.sentry;

    expect(mappingOf('{ preset: "sentry", auth: { secret: "a secret" } }')).to.deep.include({
      ...keys,
      preset: "sentry",
      match: { path: "sentry", when },
      auth: { ...auth, secret: "a secret" },
    });
  });

  it("leaves the keys that the mapping sets, one by one in match and auth", () => {
    const mapping = mappingOf(`{ preset: "github", match: { path: "gh", when: { "payload.ref": "refs/heads/main" } },
      auth: { secret: "a secret", shared: true }, name: "Push", maxBodyBytes: 2048 }`);

    expect(mapping).to.deep.include({
      match: { path: "gh", when: { "payload.ref": "refs/heads/main" } },
      auth: { type: "github", secret: "a secret", shared: true },
      name: "Push",
      maxBodyBytes: 2048,
      sessionKey: SENDER_PRESETS.github.sessionKey,
    });
  });

  it("leaves another kind of authentication as it is", () => {
    const own = { type: "standard-webhooks", secret: "whsec_c2VjcmV0LW9mLWdpdGxhYg==" };

    expect(mappingOf(`{ preset: "gitlab", auth: ${JSON.stringify(own)} }`)?.auth).to.deep.equal(own);
  });

  it("becomes the text of an event with action wake", () => {
    const mapping = mappingOf('{ preset: "pagerduty", action: "wake", auth: { secret: "a secret" } }');

    expect(mapping).to.include({ textTemplate: SENDER_PRESETS.pagerduty.messageTemplate });
    expect(mapping).to.not.have.any.keys("messageTemplate", "sessionKey");
  });

  for (const [title, mapping, problem] of [
    ["an unknown sender", '{ preset: "jira" }', /^hooks\.mappings\.0\.preset must be one of github, gitlab, /],
    ["a name of every object", '{ preset: "constructor" }', /^hooks\.mappings\.0\.preset must be one of github, /],
    ["a missing secret", '{ preset: "github" }', /^hooks\.mappings\.0\.auth\.secret is missing: type github needs it$/],
    ["a text as match", '{ preset: "github", match: "github", auth: { secret: "a" } }', /^hooks\.mappings\.0\.match /],
    ["a text as auth", '{ preset: "github", auth: "a secret" }', /^hooks\.mappings\.0\.auth /],
  ] as const) {
    it(`refuses ${title}`, () => {
      const [first, ...more] = problemsOf(mapping);

      expect(more).to.deep.equal([]);
      expect(first).to.match(problem);
    });
  }
});
