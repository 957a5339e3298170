import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Config } from "../../../src/config/config.ts";
import { ConfigError, parseConfig } from "../../../src/config/load.ts";
import { redactConfig } from "../../../src/config/redact.ts";

const TOKEN = "a-hook-token-of-length";
const API_TOKEN = "the-token-of-the-API";

const fileWith = (mappings: string, hooks = "", rest = "") => `{
  server: { apiToken: "${API_TOKEN}" },
  hooks: { enabled: true, token: "${TOKEN}", mappings: ${mappings}, ${hooks} },
  agents: { defaults: { models: ["small", { id: "org/large", alias: "large" }], model: "small" } }, ${rest}
}`;

function problemsOf(...file: Parameters<typeof fileWith>): readonly string[] {
  try {
    parseConfig(fileWith(...file), {});
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** Returns the only problem of one mapping, without its key. */
function problemOf(mapping: string, hooks?: string): string {
  const problems = problemsOf(`[${mapping}]`, hooks);
  expect(problems, problems.join("\n")).to.have.length(1);
  const [problem = ""] = problems;
  expect(problem).to.match(/^hooks\.mappings\.0[. ]/);
  return problem.slice("hooks.mappings.0".length).replace(/^\./, "");
}

describe("hooks.mappings: the check", () => {
  const auth = (text: string) => `{ match: { path: "x" }, auth: { ${text} } }`;
  const faults: [string, string, RegExp][] = [
    ["a mapping that is not an object", '"ci"', /^ must be an object$/],
    ["null", "null", /^ must be an object$/],
    [
      "an unknown key",
      "{ mesageTemplate: 'x' }",
      /^mesageTemplate is not a known key; did you mean \S+\.messageTemplate\?$/,
    ],
    ["an unknown key of match", "{ match: { pth: 'x' } }", /^match\.pth is not .* did you mean \S+\.match\.path\?$/],
    [
      "an unknown key of transform",
      "{ transform: { module: 'in.ts', exprt: 'x' } }",
      /did you mean \S+\.transform\.export\?$/,
    ],
    [
      "an unknown key of auth",
      auth("type: 'github', sceret: 'x'"),
      /^auth\.sceret .* did you mean \S+\.auth\.secret\?$/,
    ],
    ["an unknown action", "{ action: 'run' }", /^action must be one of agent, wake, job$/],
    ["an unknown wakeMode", "{ wakeMode: 'later' }", /^wakeMode must be one of now, next-heartbeat$/],
    ["an unknown channel", "{ channel: 'fax' }", /^channel must be one of last, whatsapp, /],
    ["deliver as text", "{ deliver: 'yes' }", /^deliver must be true or false$/],
    ["a timeout of 0", "{ timeoutSeconds: 0 }", /^timeoutSeconds must be greater than 0$/],
    ["a limit below 1 KiB", "{ maxBodyBytes: 1023 }", /^maxBodyBytes must be at least 1024$/],
    ["a limit above 8 MiB", "{ maxBodyBytes: 8388609 }", /^maxBodyBytes must be at most 8388608$/],
    ["forEach as a list", "{ forEach: ['x'] }", /^forEach must be a string$/],
    ["a missing variable", "{ to: '${NOWHERE}' }", /^to: the environment variable NOWHERE is not set$/],
    ...["wake", "agent"].map((path): [string, string, RegExp] => [
      `the name ${path}`,
      `{ match: { path: "${path}" } }`,
      new RegExp(`^match\\.path must not be ${path}: choose another name, because this is a built-in hook$`),
    ]),
    ...["/x", "x/", "a//b", "a?b", "a#b"].map((path): [string, string, RegExp] => [
      `the name ${path}`,
      `{ match: { path: "${path}" } }`,
      /^match\.path must look like ci\/build$/,
    ]),
    ...[".", "..", "a/../b", "./a", "a/."].map((path): [string, string, RegExp] => [
      `the name ${path}`,
      `{ match: { path: "${path}" } }`,
      /^match\.path must have no segment \. or \.\.: no request arrives with one$/,
    ]),
    ...["a%2fb", "a%2Fb", "%61/b", "a%25b"].map((path): [string, string, RegExp] => [
      `the name ${path}`,
      `{ match: { path: "${path}" } }`,
      /^match\.path must be written without percent-encoding \((a\/b|a%b)\): names are compared after decoding$/,
    ]),
    ["an empty name", "{ match: { path: '' } }", /^match\.path must not be empty$/],
    ...["messageTemplate", "textTemplate"].flatMap((key) =>
      [" ", "\\n\\t", '{{" "}}'].map((text): [string, string, RegExp] => [
        `a ${key} of white space: ${text}`,
        `{ ${key}: '${text}', action: '${key === "textTemplate" ? "wake" : "agent"}' }`,
        new RegExp(`^${key} must not be blank$`),
      ]),
    ),
    ["the name of a preset's mapping", "{ id: 'preset:gmail' }", /^id must not be preset:gmail: .* presets$/],
    ["a model outside the list", "{ model: 'huge' }", /^model must be one of small, org\/large, large$/],
    ["the main session", "{ sessionKey: 'main' }", /^sessionKey must not be main/],
    ["a token of 15 characters", auth("type: 'token', token: '123456789012345'"), /^auth\.token must have at least 16/],
    [
      "the hook token",
      auth(`type: 'token', token: '${TOKEN}'`),
      /^auth\.token must be another secret than hooks\.token and/,
    ],
    [
      "the API token",
      auth(`type: 'token', token: '${API_TOKEN}'`),
      /^auth\.token must be another secret than hooks\.token and/,
    ],
    [
      "a proof for no name",
      "{ match: { source: 'x' }, auth: { type: 'github', secret: 's' } }",
      /^auth needs match\.path/,
    ],
    ["auth without match.path", "{ auth: { type: 'github', secret: 's' } }", /^auth needs match\.path/],
    ["auth without a type", auth("secret: 's'"), /^auth\.type is missing$/],
    ["an unknown type of auth", auth("type: 'gitlab', secret: 'x'"), /^auth\.type must be one of token, github, /],
    [
      "a key of SendGrid that is none",
      auth("type: 'sendgrid', publicKey: 'MFkw'"),
      /^auth\.publicKey must be the verification key/,
    ],
    ["SendGrid without a key", auth("type: 'sendgrid'"), /^auth\.publicKey is missing: type sendgrid needs it$/],
    ["SNS without topics", auth("type: 'sns', topicArns: []"), /^auth\.topicArns /],
    ["a topic that is none", auth("type: 'sns', topicArns: ['alarms']"), /^auth\.topicArns\.0 /],
    ["an empty secret", auth("type: 'github', secret: ''"), /^auth\.secret must not be empty$/],
    [
      "a whsec_ secret that is no base64",
      auth("type: 'standard-webhooks', secret: 'whsec_no-base-64'"),
      /must be base64 after whsec_$/,
    ],
    ...["whpk_", "whsk_"].map((prefix): [string, string, RegExp] => [
      `a key of asymmetric signatures (${prefix})`,
      auth(`type: 'standard-webhooks', secret: '${prefix}MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'`),
      new RegExp(`^auth\\.secret must not begin with ${prefix}: keys of asymmetric signatures are not supported`),
    ]),
    [
      "a tolerance of nothing",
      auth("type: 'slack', secret: 's', toleranceSeconds: 0"),
      /^auth\.toleranceSeconds must be at least 1$/,
    ],
    [
      "a tolerance beyond what replays are known for",
      auth("type: 'slack', secret: 's', toleranceSeconds: 43201"),
      /^auth\.toleranceSeconds must be at most 43200$/,
    ],
    ...["header", "timestampHeader"].flatMap((key) =>
      ["x signature", "x-signature:", "größe", "x-a\\n"].map((name): [string, string, RegExp] => [
        `the ${key} ${name}, as no header is called`,
        auth(`type: 'hmac', secret: 's', ${key === "header" ? "" : "header: 'h',"} ${key}: '${name}'`),
        new RegExp(`^auth\\.${key} must look like x-`),
      ]),
    ),
    ...["github", "stripe", "slack", "standard-webhooks"].flatMap((type) =>
      [
        ["a line feed at its end", "c2VjcmV0\\n"],
        ["a space before it", " c2VjcmV0"],
      ].map(([what, secret]): [string, string, RegExp] => [
        `a secret of ${type} with ${what}`,
        auth(`type: '${type}', secret: '${secret}'`),
        /^auth\.secret must not begin or end with (white space|a line break)/,
      ]),
    ),
    [
      "a secret in quotation marks",
      auth(`type: 'github', secret: '"s"'`),
      /^auth\.secret must not be in quotation marks: remove them$/,
    ],
    [
      "an API key in place of Stripe's signing secret",
      auth("type: 'stripe', secret: 'sk_test_51'"),
      /^auth\.secret must be the signing secret of the webhook endpoint \(whsec_…\), not an API key$/,
    ],
    [
      "a bot's token in place of Slack's signing secret",
      auth("type: 'slack', secret: 'xoxb-1'"),
      /^auth\.secret must be the signing secret of the Slack app, not a token$/,
    ],
    [
      "an asymmetric key as Supabase shows it",
      auth("type: 'standard-webhooks', secret: 'v1a,whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'"),
      /^auth\.secret must not begin with whpk_/,
    ],
    [
      "a second secret that is no base64",
      auth("type: 'standard-webhooks', secret: 'v1,whsec_c2VjcmV0|v1,whsec_no-base-64'"),
      /must be base64 after whsec_$/,
    ],
    [
      "an unknown algorithm",
      auth("type: 'hmac', secret: 's', header: 'h', algorithm: 'md5'"),
      /^auth\.algorithm must be one of sha1, sha256, sha512$/,
    ],
    [
      "an unknown encoding",
      auth("type: 'hmac', secret: 's', header: 'h', encoding: 'utf8'"),
      /^auth\.encoding must be one of hex, base64, base64url$/,
    ],
  ];
  for (const [title, mapping, problem] of faults) {
    it(`reports ${title}`, () => {
      expect(problemOf(mapping)).to.match(problem);
    });
  }

  const idle: [string, string][] = [
    ["messageTemplate", "{ action: 'wake', messageTemplate: 'm' }"],
    ["sessionKey", "{ action: 'wake', sessionKey: 'hook:a' }"],
    ["deliver", "{ action: 'wake', deliver: false }"],
    ["channel", "{ action: 'wake', channel: 'log' }"],
    ["to", "{ action: 'wake', to: 'me' }"],
    ["model", "{ action: 'wake', model: 'small' }"],
    ["thinking", "{ action: 'wake', thinking: 'low' }"],
    ["timeoutSeconds", "{ action: 'wake', timeoutSeconds: 5 }"],
    ["trackAsJob", "{ action: 'wake', trackAsJob: true }"],
    ["instructions", "{ action: 'wake', instructions: 'i' }"],
    ["allowUnsafeExternalContent", "{ action: 'wake', allowUnsafeExternalContent: true }"],
    ["textTemplate", "{ textTemplate: 't' }"],
  ];
  for (const [key, mapping] of idle) {
    it(`reports ${key} with an action that never reads it (D16)`, () => {
      expect(problemOf(mapping)).to.match(new RegExp(`^${key} has no effect with action (wake|agent): `));
    });
  }

  it("accepts a recipient of a reply that is not delivered for now", () => {
    expect(problemsOf("[{ deliver: false, channel: 'log', to: 'me' }]")).to.deep.equal([]);
  });

  it("accepts every option beside a transform, which may choose the action", () => {
    const dir = mkdtempSync(join(tmpdir(), "transforms-"));
    writeFileSync(join(dir, "t.mjs"), "");
    const mapping = "{ action: 'wake', textTemplate: 't', messageTemplate: 'm', transform: { module: 't.mjs' } }";

    expect(problemsOf(`[${mapping}]`, `transformsDir: ${JSON.stringify(dir)}`)).to.deep.equal([]);
    rmSync(dir, { recursive: true });
  });

  const templates: [string, string, RegExp][] = [
    ["messageTemplate", "Build {{build", /^line 1, column 7: these braces are never closed/],
    ["textTemplate", "one\\ntwo {{a b}}", /^line 2, column 9: "b" cannot stand here/],
    ["name", "{{}}", /^line 1, column 3: the braces are empty/],
    ["sessionKey", "hook:{{a..b}}", /^line 1, column 10: a name must follow the dot/],
    ["to", "{{a[b]}}", /^line 1, column 5: brackets take an index/],
  ];
  for (const [key, template, problem] of templates) {
    it(`reports the position of a fault in the template ${key}`, () => {
      const action = key === "textTemplate" ? "wake" : "agent";
      const [name, ...rest] = problemOf(`{ action: "${action}", ${key}: "${template}" }`).split(": ");

      expect(name).to.equal(key);
      expect(rest.join(": ")).to.match(problem);
    });
  }

  const keys: [string, string, string[]][] = [
    ["token", "secret: 's', header: 'h'", ["auth.token is missing", "auth.secret has no effect"]],
    ["github", "", ["auth.secret is missing"]],
    ["github", "secret: 's', token: 'a-token-that-is-long'", ["auth.token has no effect"]],
    ["github", "secret: 's', toleranceSeconds: 5", ["auth.toleranceSeconds has no effect"]],
    ["stripe", "prefix: 'x'", ["auth.secret is missing", "auth.prefix has no effect"]],
    ["slack", "", ["auth.secret is missing"]],
    ["standard-webhooks", "timestampHeader: 'x'", ["auth.secret is missing", "auth.timestampHeader has no effect"]],
    ["hmac", "", ["auth.secret is missing", "auth.header is missing"]],
    ["hmac", "secret: 's', header: 'h', token: 'a-token-that-is-long'", ["auth.token has no effect"]],
  ];
  for (const [type, given, problems] of keys) {
    it(`reports the wrong keys of auth: ${type} with { ${given} }`, () => {
      const found = problemsOf(`[${auth(`type: '${type}', ${given}`)}]`);

      const reported = found.map((problem) => problem.replace(/^hooks\.mappings\.0\./, "").split(/:| with/)[0]);
      expect(reported).to.have.members(problems);
    });
  }

  const twins: [string, string, string][] = [
    ["two of one path", "{ match: { path: 'a' } }, { match: { path: 'a' } }", "a"],
    ["two of one source", "{ match: { source: 'a' } }, { match: { source: 'a' } }", "a"],
    ["a path that is another's id", "{ id: 'a', match: { path: 'b' } }, { match: { path: 'a' } }", "a"],
    [
      "a path that is another's path and source",
      "{ match: { path: 'a', source: 'b' } }, { match: { path: 'a:b' } }",
      "a:b",
    ],
    ["two that match everything", "{}, {}", "*"],
  ];
  for (const [title, mappings, name] of twins) {
    it(`reports mappings of the same name without an id: ${title}`, () => {
      expect(problemsOf(`[${mappings}]`)).to.deep.equal([
        `hooks.mappings.1.id is missing: without it, this mapping and hooks.mappings.0 have the same name, ${name}`,
      ]);
    });
  }

  const repeated: [string, string][] = [
    ["another's id", "{ id: 'a', match: { path: 'b' } }, { id: 'a', match: { path: 'c' } }"],
    ["the default name of another", "{ match: { path: 'a' } }, { id: 'a', match: { path: 'b' } }"],
  ];
  for (const [title, mappings] of repeated) {
    it(`reports an id that equals ${title}`, () => {
      expect(problemsOf(`[${mappings}]`)).to.deep.equal([
        "hooks.mappings.1.id is used twice: hooks.mappings.0 has the name a too",
      ]);
    });
  }

  const sessionKeys: [string, boolean][] = [
    ["ci:build", true],
    ["hook:ci", false],
    ["ci:{{branch}}", true],
    ["hook:{{branch}}", false],
    ["c{{branch}}", true],
    ["{{branch}}", true],
    ["ci", false],
  ];
  for (const [key, usable] of sessionKeys) {
    it(`${usable ? "accepts" : "refuses"} the sessionKey ${key} when keys must begin with ci:`, () => {
      const problems = problemsOf(`[{ sessionKey: "${key}" }]`, "allowedSessionKeyPrefixes: ['ci:']");

      const fault = "hooks.mappings.0.sessionKey must begin with one of the allowed prefixes (ci:)";
      expect(problems).to.deep.equal(usable ? [] : [fault]);
    });
  }

  it("reports every fault of every mapping at once", () => {
    const problems = problemsOf(
      "[{ match: { path: 'a' }, model: 'huge', to: '{{', auth: { type: 'stripe' } }, { match: { path: 'wake' }, name: '{{}}' }]",
      "defaultSessionKey: 'main'",
    );

    expect(problems.map((problem) => problem.split(/:? /)[0]).sort()).to.deep.equal([
      "hooks.defaultSessionKey",
      "hooks.mappings.0.auth.secret",
      "hooks.mappings.0.model",
      "hooks.mappings.0.to",
      "hooks.mappings.1.match.path",
      "hooks.mappings.1.name",
    ]);
  });

  it("reports an unknown preset, and mappings that are not a list", () => {
    expect(problemsOf("[]", "presets: ['gamil']")).to.deep.equal(["hooks.presets.0 must be one of gmail"]);
    expect(problemsOf("{ ci: {} }")).to.deep.equal(["hooks.mappings must be a list"]);
  });

  it("never includes a secret in a problem", () => {
    const problems = [
      ...problemsOf(`[${auth("type: 'token', token: 's3cret'")}, ${auth("type: 'github', secret: ['s3cret']")}]`),
      ...problemsOf(
        `[${auth("type: 'standard-webhooks', secret: 'whsec_s3cret!'")}, { match: { path: 'y' }, auth: { type: 'github', token: 'a-s3cret-of-length' } }]`,
      ),
    ];

    expect(problems.length).to.be.at.least(5);
    expect(problems.join()).to.not.include("s3cret");
  });
});

describe("hooks.mappings: the module of a transform", () => {
  let home: string;
  before(() => {
    home = mkdtempSync(join(tmpdir(), "signalbox-mappings-"));
    for (const dir of ["hooks/transforms/sub.ts", "other"]) mkdirSync(join(home, dir), { recursive: true });
    for (const file of ["hooks/transforms/in.ts", "hooks/transforms/in.txt", "hooks/out.ts", "other/in.ts"]) {
      writeFileSync(join(home, file), "export default () => null;");
    }
    symlinkSync(join(home, "hooks/out.ts"), join(home, "hooks/transforms/link.ts"));
    symlinkSync(join(home, "hooks/transforms/in.ts"), join(home, "hooks/transforms/inner.ts"));
  });
  after(() => rmSync(home, { recursive: true }));
  const read = (module: string, hooks = "") =>
    parseConfig(fileWith(`[{ transform: { module: "${module}" } }]`, hooks), {}, join(home, "signalbox.json5"));

  const refused: [string, string, RegExp][] = [
    ["that does not exist", "nowhere.ts", /"nowhere\.ts" does not exist in hooks\.transformsDir/],
    ["outside of hooks.transformsDir", "../out.ts", /"\.\.\/out\.ts" lies outside hooks\.transformsDir/],
    ["outside that does not exist", "../nowhere.ts", /"\.\.\/nowhere\.ts" lies outside hooks\.transformsDir/],
    ["somewhere else altogether", "/etc/passwd", /"\/etc\/passwd" lies outside hooks\.transformsDir/],
    ["that links to a file outside", "link.ts", /"link\.ts" is a link out of hooks\.transformsDir/],
    ["that is a directory", "sub.ts", /"sub\.ts" is a directory/],
    ["with another extension", "in.txt", /"in\.txt" must end in one of \.js, \.mjs, \.cjs, \.ts, \.mts/],
  ];
  for (const [title, module, problem] of refused) {
    it(`refuses a module ${title}`, () => {
      expect(() => read(module))
        .to.throw(ConfigError)
        .with.property("problems")
        .that.satisfies(
          ([first, ...more]: string[]) =>
            first?.startsWith("hooks.mappings.0.transform.module: ") && problem.test(first) && more.length === 0,
        );
    });
  }

  it("accepts a blank template, which the transform may fill", () => {
    const file = fileWith('[{ messageTemplate: " ", transform: { module: "in.ts" } }]');

    expect(() => parseConfig(file, {}, join(home, "signalbox.json5"))).to.not.throw();
  });

  it("looks for the module in hooks/transforms beside the configuration file, or in hooks.transformsDir", () => {
    for (const config of [read("in.ts"), read("inner.ts"), read("in.ts", "transformsDir: 'other'")]) {
      expect(config.hooks.mappings).to.have.length(1);
    }
    expect(read("in.ts").hooks.transformsDir).to.equal(join(home, "hooks/transforms"));
    expect(() => read("in.ts", "transformsDir: 'nowhere'")).to.throw(/hooks\.transformsDir does not exist/);
  });
});

describe("hooks.mappings", () => {
  const configOf = (mappings: string, hooks?: string): Config => parseConfig(fileWith(mappings, hooks), {});

  it("fills in the defaults", () => {
    expect(configOf("[{}]").hooks.mappings).to.deep.equal([
      { action: "agent", wakeMode: "now", deliver: true, channel: "last", allowUnsafeExternalContent: false },
    ]);
  });

  const usable: [string, string][] = [
    ["the name of a preset that is not enabled", "{ match: { path: 'gmail' } }"],
    ["a name that only begins like wake or agent", "{ match: { path: 'wake/up' } }, { match: { path: 'agents' } }"],
    [
      "two of a path, told apart by an id or a source",
      "{ match: { path: 'a' } }, { id: 'b', match: { path: 'a' } }, { match: { path: 'a', source: 'c' } }",
    ],
    ["a model by id or alias", "{ id: 'a', model: 'org/large' }, { id: 'b', model: 'large' }"],
    [
      "a tolerance of half a day",
      "{ match: { path: 'x' }, auth: { type: 'stripe', secret: 's', toleranceSeconds: 43200 } }",
    ],
    [
      "a secret behind whsec_",
      "{ match: { path: 'x' }, auth: { type: 'standard-webhooks', secret: 'whsec_MfKQ9r8GKYqrTwjU' } }",
    ],
    [
      "every key of hmac",
      "{ match: { path: 'x' }, auth: { type: 'hmac', secret: 's', header: 'h', algorithm: 'sha1', encoding: 'base64', prefix: 'p', timestampHeader: 't', toleranceSeconds: 5 } }",
    ],
    ["names with dots, percent signs and letters of any kind", "{ match: { path: 'v1.2/..a/100%/größe a' } }"],
    [
      "the letters that a header's name may have",
      `{ match: { path: 'x' }, auth: { type: 'hmac', secret: 's', header: "X_1.a!#$%&'*+^\`|~" } }`,
    ],
    ["braces as text", "{ messageTemplate: '{ {{\"{{\"}} }} }' }"],
  ];
  for (const [title, mappings] of usable) {
    it(`takes ${title}`, () => {
      expect(problemsOf(`[${mappings}]`, "presets: ['gmail']")).to.deep.equal([]);
    });
  }

  it("is printed by `config show` completely, except for its secrets", () => {
    const config = configOf(`[
      { match: { path: "a" }, auth: { type: "token", token: "a-s3cret-of-the-sender" }, messageTemplate: "{{title}}" },
      { match: { path: "b" }, auth: { type: "hmac", secret: "s3cret", header: "x-signature" }, instructions: "Sum up." },
    ]`);

    const { hooks } = redactConfig(config) as Config;

    expect(JSON.stringify(hooks)).to.not.include("s3cret");
    expect(hooks.mappings[0]).to.deep.include({
      auth: { type: "token", token: "[redacted]" },
      messageTemplate: "{{title}}",
      match: { path: "a" },
    });
    expect(hooks.mappings[1]).to.deep.include({
      auth: { type: "hmac", secret: "[redacted]", header: "x-signature" },
      instructions: "Sum up.",
    });
  });
});
