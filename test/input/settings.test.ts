import { expect } from "chai";
import fc from "fast-check";
import { configKeys } from "../../src/config/config.ts";
import type { Environment } from "../../src/config/fill.ts";
import { ConfigError, parseConfig } from "../../src/config/load.ts";
import { cases, runs, SEED, TIMES } from "../support/random.ts";
import { tell } from "./given.ts";

const SECRETS = [
  "secret-of-the-api-0001",
  "secret-of-the-hooks-0003",
  "secret-of-a-sender-0004",
  "5:secret-of-a-bot-0005",
  "whsec_c2VjcmV0LW9mLW91ci13ZWJob29rcy0wMDA2",
  "secret-of-a-header-0007",
];
const [API = "", HOOKS = "", SENDER = "", BOT = "", OWN = "", HEADER = ""] = SECRETS;

/** A configuration with values in every section. */
const whole = () => ({
  server: {
    port: 3000,
    host: "127.0.0.1",
    apiToken: API,
    allowedHosts: ["a.internal"],
    trustProxy: 1,
    bodyLimit: 1_000_000,
  },
  mongodb: { uri: "mongodb://user:secret-of-a-database@127.0.0.1/x" },
  redis: { url: "redis://:secret-of-a-redis@127.0.0.1", prefix: "a" },
  jobs: { staleAfterSeconds: 900 },
  log: { level: "info" },
  retention: { runsAfter: "30d" },
  session: { main: { channel: "telegram", to: "1" } },
  hooks: {
    enabled: true,
    token: HOOKS,
    path: "/hooks",
    presets: ["gmail"],
    allowedSessionKeyPrefixes: ["hook:"],
    mappings: [
      {
        id: "one",
        match: { path: "ci", source: "a" },
        messageTemplate: "{{a.b[0]}}",
        sessionKey: "hook:{{id}}",
        forEach: "items",
      },
      {
        match: { path: "gh" },
        action: "wake",
        textTemplate: "{{payload}}",
        auth: { type: "github", secret: SENDER, shared: true },
      },
      {
        match: { path: "h" },
        auth: {
          type: "hmac",
          secret: SENDER,
          shared: true,
          header: "X-A",
          algorithm: "sha256",
          timestampHeader: "X-T",
        },
      },
    ],
  },
  agents: {
    defaults: {
      runner: "openai",
      model: "m",
      models: ["m", { id: "n", alias: "o" }],
      timeoutSeconds: 60,
      heartbeat: { every: "30m" },
    },
    runners: {
      openai: { baseUrl: "http://127.0.0.1:1/v1", apiKey: SENDER },
      command: { command: ["cat"], env: { A: "b" } },
    },
  },
  channels: { telegram: { botToken: BOT }, signal: { account: "+4915100000000" } },
  notify: [
    {
      id: "one",
      on: ["job.failed", "job.stale", "job.recovered"],
      where: { name: "a", jobId: "b", metadata: { c: 1 }, mapping: "one" },
      to: {
        webhook: { url: "https://x.example/in", secret: [OWN], headers: { "X-Key": HEADER }, include: ["output"] },
      },
      after: 2,
      cooldown: "1h",
    },
    { id: "two", on: ["job.missing"], to: { channel: "telegram", to: "1" }, template: "{{type}} {{data.expect.id}}" },
    { id: "three", on: ["run.failed"], to: { wake: "now" } },
  ],
  expect: [{ id: "a", name: "b", every: "1d", grace: "2h" }],
  outbound: { allowedHosts: ["*.example.com"], secret: OWN },
});

const ODD: unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1e308,
    1.5,
    "",
    " ",
    "a",
    "\0",
    "\ud800",
    "__proto__",
    "x".repeat(5_000),
    "${HOME}",
    "${",
    "${__proto__}",
  ],
  ...[
    "{{",
    "{{a}}",
    "/",
    "/api",
    "main",
    "30x",
    "0s",
    "http://",
    "http://[",
    "1e999",
    [],
    {},
    [[]],
    [null],
    [{}],
    { a: { b: [] } },
  ],
  ...[{ id: "a" }, ["a", "a"], { constructor: 1 }, { match: null }, [{ match: { path: 1 } }], { type: "github" }],
];
const KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "",
  "a.b",
  "tokn",
  "x".repeat(300),
  "\0",
  "$where",
  "hasOwnProperty",
];

/** A position in a value, as a path of numbers, and the change to it. */
const change = fc.record({
  way: fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }),
  act: fc.constantFrom("replace", "replace", "replace", "remove", "add", "rename", "nest"),
  value: fc.oneof(fc.constantFrom(...ODD), fc.jsonValue()),
  key: fc.constantFrom(...KEYS),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function apply(root: object, { way, act, value: given, key }: Change): void {
  const value = structuredClone(given); // A value that occurs twice is changed in one place only.
  let at = root as Record<string, unknown>;
  for (const [i, step] of way.entries()) {
    const names = Object.keys(at);
    const name = names[step % names.length];
    if (name === undefined) return;
    const next = at[name];
    if (i + 1 < way.length && typeof next === "object" && next !== null && Object.keys(next).length > 0) {
      at = next as Record<string, unknown>;
      continue;
    }
    if (act === "add" || act === "rename")
      Object.defineProperty(at, key, { value: act === "add" ? value : next, ...PLAIN });
    if (act === "remove" || act === "rename") delete at[name];
    if (act === "replace") at[name] = value;
    if (act === "nest") at[name] = [next];
    return;
  }
}
const PLAIN = { enumerable: true, configurable: true, writable: true };

/** Matches the start of a problem: a section, a variable, or an unknown top-level key. */
const NAMES_A_KEY = /^(\S+ \([\w.]+\)|[^\s.]+(\.[^\s.]*)*|.*) (is|must|may|uses|has|needs|means|names)|: /s;

/** Checks that the result is a configuration, or an error that names the problem without the secrets. */
function outcomeOf(text: string | undefined, env: Environment, secrets: readonly string[]): "taken" | "refused" {
  try {
    const config = parseConfig(text, env);
    expect(Object.isFrozen(config)).to.equal(true);
    expect(config.server.port).to.be.a("number");
    return "taken";
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.problems).to.not.be.empty;
    for (const problem of error.problems) expect(problem).to.match(NAMES_A_KEY);
    for (const secret of secrets) expect(error.message).to.not.include(secret);
    return "refused";
  }
}

function tried<T>(what: string, arbitrary: fc.Arbitrary<T>, count: number, outcome: (value: T) => "taken" | "refused") {
  const counts = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(arbitrary, (value) => {
      counts[outcome(value)]++;
    }),
    runs(count),
  );
  tell(`${what}, seed ${SEED}: ${JSON.stringify(counts)}`);
  return counts;
}

describe("a random configuration", function () {
  this.timeout(60_000 * (1 + TIMES));

  it("is accepted or refused with a sentence for each error when some values are changed", () => {
    const counts = tried("changed configurations", fc.array(change, { minLength: 0, maxLength: 3 }), 800, (changes) => {
      const file = whole();
      for (const one of changes) apply(file, one);
      return outcomeOf(JSON.stringify(file), { HOME: "/home" }, [
        ...SECRETS,
        "secret-of-a-database",
        "secret-of-a-redis",
      ]);
    });

    expect(counts.taken).to.be.above(cases(50));
    expect(counts.refused).to.be.above(cases(50));
  });

  it("is accepted or refused when some characters are changed", () => {
    const text = JSON.stringify(whole());
    const edit = fc.record({
      at: fc.nat(text.length),
      length: fc.nat(3),
      by: fc.constantFrom("", "{", "}", '"', ",", "\\", "\0", "'", "/*", "//", "NaN", "+", "0x"),
    });

    tried("texts of configurations", fc.array(edit, { minLength: 1, maxLength: 3 }), 300, (edits) => {
      const edited = edits.reduce((now, { at, length, by }) => now.slice(0, at) + by + now.slice(at + length), text);
      return outcomeOf(edited, {}, []);
    });
  });

  it("is accepted unchanged", () => {
    expect(outcomeOf(JSON.stringify(whole()), {}, [])).to.equal("taken");
  });

  it("is refused with the place of a key without a letter", () => {
    expect(() => parseConfig('{ server: { "": 1 } }', {})).to.throw('server."" is not a known key');
  });

  it("is accepted or refused when the file contains anything", () => {
    for (const text of ["[".repeat(5_000), '{"server":'.repeat(5_000), `${"[".repeat(5_000)}${"]".repeat(5_000)}`]) {
      expect(outcomeOf(text, {}, [])).to.equal("refused");
    }
    const anything = fc.oneof(fc.json(), fc.string({ unit: "binary" }));

    tried("texts", anything, 300, (text) => outcomeOf(text, {}, []));
  });

  it("is accepted or refused from environment variables, without a secret in the error", () => {
    const nodes = configKeys().flatMap(([, node]) => (node.env ? [{ name: node.env, secret: node.secret }] : []));
    const value = fc.oneof(
      fc.constantFrom(
        "0",
        "-1",
        "65536",
        "1e3",
        "3000 ",
        "true",
        "TRUE",
        "info",
        "::1",
        "0.0.0.0",
        "[",
        "\0",
        "a b",
        "x".repeat(9_000),
      ),
      fc.constantFrom("sixteen-letters-or-more", "mongodb://u:secret-word@", "redis://[", "/x", "/", "${A}"),
      fc.string({ unit: "binary" }),
    );
    const environment = fc.array(fc.tuple(fc.constantFrom(...nodes), value), { maxLength: 4 });

    const counts = tried("environments", environment, 600, (given) => {
      const hidden = given.map(([{ name, secret }, value]) => ({
        name,
        secret,
        value: secret ? `hidden-${value}` : value,
      }));
      const env = Object.fromEntries(hidden.map(({ name, value }) => [name, value]));
      const secrets = hidden.flatMap(({ secret, value }) => (secret ? [value] : []));
      return outcomeOf(undefined, env, secrets);
    });

    expect(nodes).to.have.length.above(8);
    expect(counts.taken).to.be.above(cases(25));
    expect(counts.refused).to.be.above(cases(25));
  });
});
