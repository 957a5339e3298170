import { expect } from "chai";
import { ConfigError, parseConfig } from "../../src/config/load.ts";

const HOOK_TOKEN = "the-token-of-all-hooks";
const API_TOKEN = "the-token-of-the-API";
const READ_ONLY = "the-token-of-readers";
const TOKEN = "a-token-of-a-sender";
const BASE64 = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/** A key whose base64 form is `ENCODED`. */
const PLAIN_KEY = "a key that is text";
const ENCODED = Buffer.from(PLAIN_KEY).toString("base64");

type Auth = Record<string, unknown>;

function problemsOf(auths: readonly Auth[], env: Record<string, string> = {}): readonly string[] {
  const mappings = auths.map((auth, i) => ({ id: `sender ${i}`, match: { path: `m${i}` }, auth }));
  const file = JSON.stringify({
    server: { apiToken: API_TOKEN, readOnlyToken: READ_ONLY },
    hooks: { enabled: true, token: HOOK_TOKEN, mappings },
  });
  try {
    parseConfig(file, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

const token = (value: string): Auth => ({ type: "token", token: value });
const signed = (type: string, secret: string): Auth => ({ type, secret });
const hmac = (secret: string, more: Auth = {}): Auth => ({ type: "hmac", secret, header: "X-Signature", ...more });
const isShared = (auth: Auth): Auth => ({ ...auth, shared: true });

const problem = (first: number, second: number, key = "secret") =>
  `hooks.mappings.${second}.auth.${key} is the secret of two mappings, sender ${first} (hooks.mappings.${first}) and sender ${second}: give each of them a secret of its own, or set auth.shared to true in both`;

describe("hooks.mappings: a secret", () => {
  const TYPES = ["github", "stripe", "slack", "standard-webhooks"];
  const pairs: [string, Auth, Auth][] = [
    ["token and token", token(TOKEN), token(TOKEN)],
    ...TYPES.map((type): [string, Auth, Auth] => [`${type} and ${type}`, signed(type, "s"), signed(type, "s")]),
    ...TYPES.map((type): [string, Auth, Auth] => [`${type} and hmac`, signed(type, "se"), hmac("se")]),
    ...TYPES.map((type): [string, Auth, Auth] => [`${type} and token`, signed(type, TOKEN), token(TOKEN)]),
    ["github and stripe", signed("github", "s"), signed("stripe", "s")],
    ["hmac and hmac of other headers and algorithms", hmac("s"), hmac("s", { header: "X-B", algorithm: "sha1" })],
    ["hmac with and without a time", hmac("s"), hmac("s", { timestampHeader: "X-Time" })],
    ["hmac and token", hmac(TOKEN), token(TOKEN)],
    [
      "standard-webhooks with and without its prefix",
      signed("standard-webhooks", `whsec_${BASE64}`),
      signed("standard-webhooks", BASE64),
    ],
    [
      "standard-webhooks with and without padding",
      signed("standard-webhooks", "whsec_YWJjZA=="),
      signed("standard-webhooks", "whsec_YWJjZA"),
    ],
    [
      "standard-webhooks and stripe, which read the same text as two keys",
      signed("standard-webhooks", `whsec_${BASE64}`),
      signed("stripe", `whsec_${BASE64}`),
    ],
    [
      "standard-webhooks without the prefix that stripe has",
      signed("stripe", `whsec_${BASE64}`),
      signed("standard-webhooks", BASE64),
    ],
    [
      "standard-webhooks and github that has the key as it is",
      signed("standard-webhooks", `whsec_${ENCODED}`),
      signed("github", PLAIN_KEY),
    ],
    [
      "standard-webhooks that has the key as it is and one that has it in base64",
      signed("standard-webhooks", PLAIN_KEY),
      signed("standard-webhooks", `whsec_${ENCODED}`),
    ],
    ["two texts that are one key to HMAC", hmac("s"), signed("github", "s\0\0")],
  ];
  for (const [title, one, other] of pairs) {
    it(`is refused in two mappings, in either order, unless both set shared: ${title}`, () => {
      for (const [first, second] of [
        [one, other],
        [other, one],
      ] as [Auth, Auth][]) {
        const refused = problem(0, 1, second.type === "token" ? "token" : "secret");

        expect(problemsOf([first, second])).to.deep.equal([refused]);
        expect(problemsOf([isShared(first), second])).to.deep.equal([refused]);
        expect(problemsOf([first, isShared(second)])).to.deep.equal([refused]);
        expect(problemsOf([{ ...first, shared: false }, isShared(second)])).to.deep.equal([refused]);
        expect(problemsOf([isShared(first), isShared(second)])).to.deep.equal([]);
      }
    });
  }

  it("is refused in two mappings when one reads it from the environment", () => {
    const auths = [signed("github", "${ONE}"), hmac("${OTHER}")];

    expect(problemsOf(auths, { ONE: "s", OTHER: "s" })).to.deep.equal([problem(0, 1)]);
    expect(problemsOf(auths, { ONE: "s", OTHER: "t" })).to.deep.equal([]);
  });

  it("is refused in two mappings of one name with different sources", () => {
    const mapping = (source: string) => ({ match: { path: "gh", source }, auth: signed("github", "s") });
    const file = { hooks: { enabled: true, token: HOOK_TOKEN, mappings: [mapping("a"), mapping("b")] } };

    expect(() => parseConfig(JSON.stringify(file), {})).to.throw(/gh:a \(hooks\.mappings\.0\) and gh:b/);
  });

  it("is refused once for each mapping after the first that has it, and when one of three does not set shared", () => {
    const same = signed("github", "s");

    expect(problemsOf([same, token(TOKEN), same, same])).to.deep.equal([problem(0, 2), problem(0, 3)]);
    expect(problemsOf([isShared(same), isShared(same), same])).to.deep.equal([problem(0, 2)]);
    expect(problemsOf([same, isShared(same), isShared(same)])).to.deep.equal([problem(0, 1), problem(0, 2)]);
    expect(problemsOf([isShared(same), isShared(same), isShared(same)])).to.deep.equal([]);
  });

  const apart: [string, Auth, Auth][] = [
    ["another secret", signed("github", "s1"), signed("github", "s2")],
    ["the other in another case", signed("github", "Secret"), signed("github", "secret")],
    ["a prefix of the other", token(TOKEN), token(`${TOKEN}1`)],
    ["base64 of the other in schemes that do not decode it", signed("github", ENCODED), hmac(PLAIN_KEY)],
  ];
  for (const [title, one, other] of apart) {
    it(`is accepted beside a different secret: ${title}`, () => {
      expect(problemsOf([one, other])).to.deep.equal([]);
    });
  }

  it("may set shared when no other mapping has it", () => {
    expect(problemsOf([isShared(token(TOKEN)), isShared(signed("stripe", "s")), isShared(hmac("t"))])).to.deep.equal(
      [],
    );
  });

  it("does not appear in the problem", () => {
    const problems = problemsOf([signed("github", "s3cret"), hmac("s3cret"), token(HOOK_TOKEN)]);

    expect(problems).to.have.length(2);
    expect(problems.join()).to.not.match(/s3cret|the-token/);
  });

  for (const [title, own] of [
    ["hooks.token", HOOK_TOKEN],
    ["server.apiToken", API_TOKEN],
    ["server.readOnlyToken", READ_ONLY],
  ] as const) {
    it(`is refused when it equals ${title}, in any scheme, shared or not`, () => {
      for (const auth of [token(own), hmac(own), ...TYPES.map((type) => signed(type, own))]) {
        for (const one of [auth, isShared(auth)]) {
          const key = auth.type === "token" ? "token" : "secret";

          expect(problemsOf([one])).to.deep.equal([
            `hooks.mappings.0.auth.${key} must be another secret than hooks.token and the tokens of server (apiToken, readOnlyToken)`,
          ]);
        }
      }
    });
  }
});
