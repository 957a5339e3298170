import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { ConfigError, parseConfig, readConfig, redisAddress } from "../../src/config/load.ts";

function problemsOf(text: string | undefined, env: Record<string, string> = {}): readonly string[] {
  try {
    parseConfig(text, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("parseConfig", () => {
  it("returns every default without a file", () => {
    const config = parseConfig(undefined, {});

    expect(config.server).to.include({ port: 3000, host: "127.0.0.1", bodyLimit: 4_194_304, trustProxy: 0 });
    expect(config.jobs.staleAfterSeconds).to.equal(900);
    expect(config.retention).to.deep.equal({ auditAfter: "90d", logsAfter: "30d" });
    expect(config.mongodb.uri).to.equal(undefined);
    expect(config.hooks).to.deep.equal({
      enabled: false,
      path: "/hooks",
      maxBodyBytes: 262_144,
      allowRequestSessionKey: true,
      presets: [],
      mappings: [],
      transformsDir: resolve("hooks/transforms"),
      transformTimeoutSeconds: 10,
      shareSessions: false,
      maxTimeoutSeconds: 3_600,
      maxWaitingRuns: 10_000,
    });
    expect(config.agents).to.deep.equal({
      defaults: { runner: "echo", timeoutSeconds: 600, heartbeat: { every: "30m" }, trackAsJob: false },
      list: {},
      budgets: [],
      timezone: "UTC",
      showTools: "names",
      returns: { gather: "2s", maxDepth: 20 },
      runners: {},
    });
    expect(config.session).to.deep.equal({
      followDeliveries: false,
      maxMessages: 50,
      maxChars: 100_000,
      retainSingleUse: "7d",
    });
    expect(config.channels).to.deep.equal({});
    expect(config.worker.concurrency).to.equal(10);
  });

  it("reads JSON5 and lets the environment override it", () => {
    const file = "{ server: { port: 4000, host: '127.0.0.2' }, /* kept */ retention: { completedAfter: '30d' }, }";

    const config = parseConfig(file, {
      PORT: "5000",
      MONGODB_URI: "mongodb://db/x",
      LOG_LEVEL: "debug",
      WEB_CONCURRENCY: "2",
    });

    expect(config.server).to.include({ port: 5000, host: "127.0.0.2", concurrency: 2 });
    expect(config.retention.completedAfter).to.equal("30d");
    expect(config.mongodb.uri).to.equal("mongodb://db/x");
    expect(config.log.level).to.equal("debug");
  });

  it("reads the variables of secrets, hooks and workers", () => {
    const config = parseConfig("{ hooks: { token: 'the-token-of-the-file' } }", {
      SIGNALBOX_API_TOKEN: "the-token-of-the-API",
      SIGNALBOX_HOOKS_TOKEN: "the-token-of-the-hooks",
      SIGNALBOX_HOOKS_ENABLED: "true",
      WORKER_CONCURRENCY: "3",
    });

    expect(config.server.apiToken).to.equal("the-token-of-the-API");
    expect(config.hooks).to.include({ enabled: true, token: "the-token-of-the-hooks" });
    expect(config.worker.concurrency).to.equal(3);
  });

  it("treats an empty environment variable as unset", () => {
    expect(parseConfig(undefined, { PORT: "", HOST: "" }).server).to.include({ port: 3000, host: "127.0.0.1" });
  });

  it("substitutes ${NAME}, even in numbers and booleans, and never twice", () => {
    const file = "{ server: { apiToken: '${TOKEN}-${TOKEN}', port: '${P}', allowUnauthenticated: '${YES}' } }";

    const { server } = parseConfig(file, { TOKEN: "long-enough-${P}", P: "4001", YES: "true" });

    expect(server).to.include({
      apiToken: "long-enough-${P}-long-enough-${P}",
      port: 4001,
      allowUnauthenticated: true,
    });
  });

  it("substitutes ${NAME} inside lists and maps", () => {
    const file = `{ agents: {
      defaults: { timeoutSeconds: "\${SECONDS}", models: [{ id: "\${ID}", alias: "large" }] },
      runners: {
        openai: { headers: { "X-Key": "key \${KEY}" } },
        command: { command: ["agent", "\${ID}"], env: { KEY: "\${KEY}" }, passEnv: ["KEY"] },
      },
    } }`;

    const { defaults, runners } = parseConfig(file, { SECONDS: "1.5", ID: "openai/gpt-5", KEY: "k" }).agents;

    expect(defaults).to.deep.include({ timeoutSeconds: 1.5, models: [{ id: "openai/gpt-5", alias: "large" }] });
    expect(runners.openai).to.deep.equal({ headers: { "X-Key": "key k" } });
    expect(runners.command).to.deep.include({ command: ["agent", "openai/gpt-5"], env: { KEY: "k" }, output: "text" });
  });

  it("accepts the example of docs/reference/configuration.md", () => {
    const [, example] = /```json5\n(.*?)```/s.exec(readFileSync("docs/reference/configuration.md", "utf8")) ?? [];

    const config = parseConfig(example, {
      SIGNALBOX_API_TOKEN: "the-token-of-the-API",
      SIGNALBOX_HOOKS_TOKEN: "the-token-of-the-hooks",
      MONGODB_URI: "mongodb://db/x",
      REDIS_URL: "redis://cache",
      OPENAI_API_KEY: "key",
    });

    expect(config.hooks.enabled).to.equal(true);
  });

  for (const name of ["DYNO", "RENDER", "RAILWAY_ENVIRONMENT", "FLY_APP_NAME"]) {
    it(`listens on all interfaces by default where ${name} is set, and needs a token as elsewhere`, () => {
      const env = { [name]: "web.1" };
      const SIGNALBOX_API_TOKEN = "the-token-of-the-API";

      expect(parseConfig(undefined, { ...env, SIGNALBOX_API_TOKEN }).server.host).to.equal("0.0.0.0");
      expect(parseConfig(undefined, { ...env, HOST: "127.0.0.1" }).server.host).to.equal("127.0.0.1");
      expect(parseConfig("{ server: { host: '::1' } }", env).server.host).to.equal("::1");
      expect(() => parseConfig(undefined, env)).to.throw(/server\.host is 0\.0\.0\.0, .* server\.apiToken is not set/);
    });
  }

  it("takes the number of proxies from TRUST_PROXY", () => {
    expect(parseConfig(undefined, { TRUST_PROXY: "1" }).server.trustProxy).to.equal(1);
  });

  it("takes a file of authorities relative to the configuration file, and a PEM text as it is", () => {
    const pem = "-----BEGIN CERTIFICATE-----";
    const { redis } = parseConfig("{ redis: { tls: { ca: 'ca.pem' } } }", {}, "/etc/signalbox/x.json5");

    expect(redis.tls.ca).to.equal("/etc/signalbox/ca.pem");
    expect(parseConfig(undefined, { REDIS_TLS_CA: pem }).redis.tls).to.deep.equal({
      rejectUnauthorized: true,
      ca: pem,
    });
  });

  it("names the setting of a file of authorities that cannot be read", () => {
    const config = parseConfig(undefined, { REDIS_URL: "rediss://cache", REDIS_TLS_CA: "/nowhere/ca.pem" });

    expect(() => redisAddress(config.redis)).to.throw(
      "The file /nowhere/ca.pem cannot be read (ENOENT): correct REDIS_TLS_CA (redis.tls.ca).",
    );
  });

  it("takes the whole configuration from SIGNALBOX_CONFIG_JSON where there is no file", () => {
    const directory = mkdtempSync(join(tmpdir(), "signalbox-config-"));
    const SIGNALBOX_CONFIG_JSON = "{ server: { port: 4000, apiToken: '${TOKEN}' }, redis: { prefix: 'a' } }";
    const env = { SIGNALBOX_CONFIG_JSON, TOKEN: "the-token-of-the-API" };
    const former = process.cwd();
    try {
      process.chdir(directory);
      const { server, redis } = readConfig(env);
      expect([server.port, server.apiToken, redis.prefix]).to.deep.equal([4000, env.TOKEN, "a"]);
      expect(() => readConfig({ SIGNALBOX_CONFIG_JSON: "{ server: { prot: 1 } }" })).to.throw(
        /^The configuration \(SIGNALBOX_CONFIG_JSON\).*\n.*server\.prot is not a known key/,
      );
      expect(() => readConfig({ ...env, SIGNALBOX_CONFIG: "other.json5" })).to.throw(/a file that does not exist/);

      writeFileSync("signalbox.json5", "{ server: { port: 5000 } }");
      expect(readConfig(env).server.port).to.equal(5000);
    } finally {
      process.chdir(former);
      rmSync(directory, { recursive: true });
    }
  });

  it("returns a deeply frozen value", () => {
    const config = parseConfig(undefined, {}) as unknown as { server: { port: number } };

    expect(() => {
      config.server.port = 1;
    }).to.throw(TypeError);
  });

  const refused: [string, string, Record<string, string>, RegExp][] = [
    ["an unknown key", "{ server: { prot: 1 } }", {}, /^server\.prot is not a known key; did you mean server\.port\?$/],
    [
      "several hosts of Redis that are no cluster",
      "{}",
      { REDIS_URL: "redis://:p,w@a,b" },
      /^redis\.url names several hosts and redis\.cluster is not true: .*REDIS_CLUSTER=true/,
    ],
    [
      "a cluster that is nowhere",
      "{}",
      { REDIS_CLUSTER: "true" },
      /^redis\.cluster is true and redis\.url is not set: /,
    ],
    [
      "a boolean with another word",
      "{}",
      { REDIS_CLUSTER: "yes" },
      /^REDIS_CLUSTER \(redis\.cluster\) must be true or false$/,
    ],
    ...[
      "redis://a,redis://b",
      "redis://a,,b",
      "redis://a:x",
      "redis://p/w@a,b",
      "redis://a,b/1",
      "redis://a?family=6",
    ].map((url): [string, string, Record<string, string>, RegExp] => [
      `a cluster at ${url}`,
      "{ redis: { cluster: true } }",
      { REDIS_URL: url },
      /^redis\.url must look like redis:\/\/user:password@a:6379,b:6379 and end there/,
    ]),
    [
      "a cluster's password that is not encoded",
      "{ redis: { cluster: true } }",
      { REDIS_URL: "redis://:50%@a,b" },
      /^redis\.url has a user or a password in which % /,
    ],
    [
      "an unknown key that is near to none",
      "{ server: { frobnicate: 1 } }",
      {},
      /^server\.frobnicate is not a known key$/,
    ],
    ["an unknown section that is near to none", "{ banana: {} }", {}, /^banana is not a known key$/],
    ["an unknown section", "{ servers: {} }", {}, /^servers is not a known key; did you mean server\?$/],
    ["a missing variable", "{ dataDir: '${NOWHERE}' }", {}, /^dataDir: the environment variable NOWHERE is not set$/],
    ["a wrong type", "{ server: { port: 'many' } }", {}, /^server\.port must be an integer$/],
    ["a number as text", "{ server: { port: '81' } }", {}, /^server\.port must be an integer$/],
    ["null", "{ server: null }", {}, /^server must be an object$/],
    ["a wrong variable", "{}", { PORT: "many" }, /^PORT \(server\.port\) must be an integer$/],
    ["a port out of range", "{}", { PORT: "70000" }, /^PORT \(server\.port\) must be at most 65535$/],
    ["an unknown level", "{ log: { level: 'loud' } }", {}, /^log\.level must be one of trace, debug/],
    [
      "a duration without a unit",
      "{ retention: { failedAfter: '30' } }",
      {},
      /^retention\.failedAfter must look like 30d$/,
    ],
    ["a short token", "{ server: { apiToken: 'short' } }", {}, /^server\.apiToken must have at least 16 characters$/],
    [
      "a body limit above what MongoDB holds",
      "{ server: { bodyLimit: 16000000 } }",
      {},
      /^server\.bodyLimit must be at most 5242880$/,
    ],
    [
      "a bind beyond loopback without a token",
      "{}",
      { HOST: "0.0.0.0" },
      /^server\.host is 0\.0\.0\.0.*server\.apiToken/,
    ],
    [
      "hooks that are on without a token",
      "{ hooks: { enabled: true } }",
      {},
      /^hooks\.enabled is true and hooks\.token is not set/,
    ],
    ["hooks that a variable turns on", "{}", { SIGNALBOX_HOOKS_ENABLED: "true" }, /^hooks\.enabled is true/],
    [
      "a short hook token",
      "{}",
      { SIGNALBOX_HOOKS_TOKEN: "short" },
      /^SIGNALBOX_HOOKS_TOKEN \(hooks\.token\) must have at/,
    ],
    [
      "one token for two doors",
      "{ hooks: { token: 'sixteen-letters!' }, server: { apiToken: 'sixteen-letters!' } }",
      {},
      /^hooks\.token is the same as server\.apiToken/,
    ],
    ...["/", "hooks", "/hooks/", "/a//b", "/a/../b", "/a b", "/:a", "/a?b", "/%61", ""].map(
      (path): [string, string, Record<string, string>, RegExp] => [
        `the hooks' path "${path}"`,
        `{ hooks: { path: "${path}" } }`,
        {},
        path ? /^hooks\.path must look like \/hooks$/ : /^hooks\.path must not be empty$/,
      ],
    ),
    ...["/api", "/api/hooks", "/docs", "/guide", "/metrics", "/healthz", "/readyz", "/openapi.json"].map(
      (path): [string, string, Record<string, string>, RegExp] => [
        `the hooks' path ${path}`,
        `{ hooks: { path: "${path}" } }`,
        {},
        /^hooks\.path must not begin with \/[a-z.]+, where the service itself answers$/,
      ],
    ),
    [
      "an empty list",
      "{ hooks: { allowedSessionKeyPrefixes: [] } }",
      {},
      /^hooks\.allowedSessionKeyPrefixes must not be/,
    ],
    [
      "an empty item of a list",
      "{ hooks: { allowedSessionKeyPrefixes: ['a', ''] } }",
      {},
      /^hooks\.allowedSessionKeyPrefixes\.1 must not be empty$/,
    ],
    [
      "a missing variable in a list",
      "{ hooks: { allowedSessionKeyPrefixes: ['${NOWHERE}'] } }",
      {},
      /^hooks\.allowedSessionKeyPrefixes\.0: the environment variable NOWHERE is not set$/,
    ],
    [
      "a default session that its own rule forbids",
      "{ hooks: { defaultSessionKey: 'inbox', allowedSessionKeyPrefixes: ['hook:', 'ci:'] } }",
      {},
      /^hooks\.defaultSessionKey must begin with one of the allowed prefixes \(hook:, ci:\)$/,
    ],
    [
      "the main session by default",
      "{ hooks: { defaultSessionKey: 'main' } }",
      {},
      /^hooks\.defaultSessionKey must not be main/,
    ],
    [
      "an unknown runner",
      "{ agents: { defaults: { runner: 'gpt' } } }",
      {},
      /^agents\.defaults\.runner must be one of echo, openai, command$/,
    ],
    [
      "openai without a model",
      "{ agents: { defaults: { runner: 'openai' } } }",
      {},
      /agents\.defaults\.model is not set: set/,
    ],
    [
      "command without a program",
      "{ agents: { defaults: { runner: 'command' } } }",
      {},
      /agents\.runners\.command\.command is not set: set/,
    ],
    [
      "an agent with an id that no URL can have",
      "{ agents: { list: { 'a b': {} } } }",
      {},
      /^agents\.list\.a b must have an id of at most 64 letters/,
    ],
    [
      "an unknown key of an agent",
      "{ agents: { list: { a: { modle: 'x' } } } }",
      {},
      /did you mean agents\.list\.a\.model\?$/,
    ],
    [
      "an agent with openai and without a model",
      "{ agents: { list: { a: { runner: 'openai' } } } }",
      {},
      /^agents\.list\.a\.runner is openai and agents\.list\.a\.model is not set: set/,
    ],
    [
      "an agent without a program",
      "{ agents: { list: { a: { runner: 'command' } } } }",
      {},
      /^agents\.list\.a\.runner is command and agents\.runners\.command\.command is not set/,
    ],
    [
      "an agent whose model the defaults do not list",
      "{ agents: { defaults: { model: 'x', models: ['x'] }, list: { a: { model: 'y' } } } }",
      {},
      /^agents\.list\.a\.model is y, which agents\.list\.a\.models does not list \(x\)$/,
    ],
    [
      "a mapping with an unknown agent",
      "{ agents: { list: { a: {} } }, hooks: { mappings: [{ match: { path: 'x' }, agentId: 'b' }] } }",
      {},
      /^hooks\.mappings\.0\.agentId names no agent: it must be one of a \(agents\.list\)$/,
    ],
    [
      "a command block without a program",
      "{ agents: { defaults: { runner: 'command' }, runners: { command: { cwd: '/' } } } }",
      {},
      /^agents\.runners\.command\.command is missing$/,
    ],
    [
      "an empty command",
      "{ agents: { runners: { command: { command: [] } } } }",
      {},
      /^agents\.runners\.command\.command must not be empty$/,
    ],
    [
      "an empty program",
      "{ agents: { runners: { command: { command: [''] } } } }",
      {},
      /^agents\.runners\.command\.command\.0 must not be empty$/,
    ],
    [
      "a value in a map that is no text",
      "{ agents: { runners: { openai: { headers: { 'X-Key': 1 } } } } }",
      {},
      /^agents\.runners\.openai\.headers\.X-Key must be a string$/,
    ],
    [
      "a time-out of nothing",
      "{ agents: { defaults: { timeoutSeconds: 0 } } }",
      {},
      /^agents\.defaults\.timeoutSeconds must be greater than 0$/,
    ],
    [
      "a heartbeat in words",
      "{ agents: { defaults: { heartbeat: { every: 'often' } } } }",
      {},
      /heartbeat\.every must look like 30/,
    ],
    [
      "models that are text",
      "{ agents: { defaults: { models: 'a' } } }",
      {},
      /^agents\.defaults\.models must be a list or an object$/,
    ],
    [
      "a number among the models",
      "{ agents: { defaults: { models: ['a', 7] } } }",
      {},
      /^agents\.defaults\.models\.1 must be a string or an object$/,
    ],
    [
      "a model with an empty id",
      "{ agents: { defaults: { models: ['a', 'b', { id: '' }] } } }",
      {},
      /^agents\.defaults\.models\.2\.id must not be empty$/,
    ],
    [
      "a model without an id",
      "{ agents: { defaults: { models: [{ alias: 'a' }] } } }",
      {},
      /^agents\.defaults\.models\.0\.id is missing$/,
    ],
    [
      "an unknown key of a model",
      "{ agents: { defaults: { models: { 'a/b': { alais: 'c' } } } } }",
      {},
      /^agents\.defaults\.models\.a\/b\.alais is not a known key; did you mean agents\.defaults\.models\.a\/b\.alias\?$/,
    ],
    [
      "a default model that is not allowed",
      "{ agents: { defaults: { model: 'c', models: ['a', { id: 'x/b', alias: 'b' }] } } }",
      {},
      /^agents\.defaults\.model is c, which agents\.defaults\.models does not list \(a, x\/b, b\)$/,
    ],
    [
      "an alias of two models",
      "{ agents: { defaults: { models: { a: { alias: 'x' }, b: { alias: 'x' } } } } }",
      {},
      /models uses x for two models/,
    ],
    [
      "an alias that is another's id",
      "{ agents: { defaults: { models: ['a', { id: 'b', alias: 'a' }] } } }",
      {},
      /models uses a for two models/,
    ],
    [
      "a model listed twice",
      "{ agents: { defaults: { models: ['a', 'b', 'a'] } } }",
      {},
      /models uses a for two models/,
    ],
    [
      "a route without a recipient",
      "{ session: { main: { channel: 'telegram' } } }",
      {},
      /^session\.main\.to is missing$/,
    ],
    [
      "runs that are kept for less than a day",
      "{ retention: { runsAfter: '23h' }, session: { retainSingleUse: '1h' } }",
      {},
      /^retention\.runsAfter must be at least 1d/,
    ],
    [
      "runs that are kept for less than their transcripts",
      "{ retention: { runsAfter: '6d' } }",
      {},
      /^retention\.runsAfter must be .* at least session\.retainSingleUse \(7d\)/,
    ],
    [
      "a route to a blank recipient",
      "{ session: { main: { channel: 'telegram', to: ' ' } } }",
      {},
      /^session\.main\.to must /,
    ],
    [
      "a route to a recipient that is too long",
      `{ session: { main: { channel: 'telegram', to: '${"x".repeat(513)}' } } }`,
      {},
      /^session\.main\.to must .*512/,
    ],
    [
      "a route to nowhere",
      "{ session: { main: { channel: 'pigeon', to: 'x' } } }",
      {},
      /^session\.main\.channel must be one of whatsapp, /,
    ],
    [
      "a key of what has none",
      "{ channels: { log: { level: 'info' } } }",
      {},
      /^channels\.log\.level is not a known key$/,
    ],
    [
      "too many turns at once",
      "{}",
      { WORKER_CONCURRENCY: "1001" },
      /^WORKER_CONCURRENCY \(worker\.concurrency\) must be at most 1000$/,
    ],
    [
      "a token with a space",
      "{ hooks: { token: 'sixteen or more letters' } }",
      {},
      /^hooks\.token must look like .*without-spaces$/,
    ],
    [
      "a token beyond ASCII",
      "{ server: { apiToken: 'sixteen-or-môre-letters' } }",
      {},
      /^server\.apiToken must look like/,
    ],
    [
      "a channel's address that is none",
      "{ channels: { telegram: { botToken: 't', apiUrl: 'http://[' } } }",
      {},
      /^channels\.telegram\.apiUrl is not a valid URL/,
    ],
    [
      "a channel's address with a password that no request of it could carry",
      "{ channels: { slack: { botToken: 't', apiUrl: 'https://me:secret@proxy.example/api' } } }",
      {},
      /^channels\.slack\.apiUrl must have no user and password: its requests carry/,
    ],
    [
      "a token of ntfy beside a user in its address",
      "{ channels: { ntfy: { token: 't', baseUrl: 'https://me:secret@ntfy.example' } } }",
      {},
      /^channels\.ntfy has a token, so its baseUrl must have no user and password: remove one of them(?!.*secret)/,
    ],
    [
      "an address of ntfy that is none",
      "{ channels: { ntfy: { baseUrl: 'http://[' } } }",
      {},
      /^channels\.ntfy\.baseUrl is not/,
    ],
    ...[
      ["username", "password"],
      ["password", "username"],
    ].map(([given, missing]): [string, string, Record<string, string>, RegExp] => [
      `a ${given} of a mail server without a ${missing}`,
      `{ channels: { email: { host: 'h', from: 'a@b.c', ${given}: 'x' } } }`,
      {},
      new RegExp(`^channels\\.email has a ${given} and no ${missing}: set both, or neither`),
    ]),
    ...["nobody", "a@b@c", "A <a@b.c> b", "a@b.c\\nBcc: x@y.z"].map(
      (from): [string, string, Record<string, string>, RegExp] => [
        `the sender ${from} of mails`,
        `{ channels: { email: { host: 'h', from: "${from}" } } }`,
        {},
        /^channels\.email\.from /,
      ],
    ),
    ...[
      ["that is none", "http://["],
      ["with a password", "https://me:s3cret@ai.example/v1"],
      ["with a user", "https://s3cret@ai.example/v1"],
      ["with a query", "https://ai.example/v1?s3cret=1"],
      ["with an empty query", "https://ai.example/v1?"],
      ["with a fragment", "https://ai.example/v1#s3cret"],
    ].map(([what, baseUrl]): [string, string, Record<string, string>, RegExp] => [
      `a model server's address ${what}`,
      `{ agents: { runners: { openai: { baseUrl: '${baseUrl}' } } } }`,
      {},
      /^agents\.runners\.openai\.baseUrl must be an address without user, password, query and fragment(?!.*s3cret)/,
    ]),
    ...[
      [
        "a key of a runner",
        "{ agents: { runners: { openai: { apiKey: 'sk-x\\n' } } } }",
        "agents.runners.openai.apiKey",
      ],
      ["a token of a channel", "{ channels: { telegram: { botToken: '1:x\\r\\n' } } }", "channels.telegram.botToken"],
      ["a secret in quotation marks", `{ channels: { slack: { botToken: '"xoxb-x"' } } }`, "channels.slack.botToken"],
    ].map(([what, file = "", key]): [string, string, Record<string, string>, RegExp] => [
      `${what} that cannot be valid`,
      file,
      {},
      new RegExp(`^${key} must not (begin or end with a line break|be in quotation marks)`),
    ]),
    [
      "a header with a line break",
      "{ agents: { runners: { openai: { headers: { 'X-Key': 's3cret\\n' } } } } }",
      {},
      /^agents\.runners\.openai\.headers\.X-Key must not contain line breaks(?!.*s3cret)/,
    ],
    [
      "a field for the reply of a program that prints text",
      "{ agents: { runners: { command: { command: ['a'], replyField: 'text' } } } }",
      {},
      /^agents\.runners\.command\.replyField has no effect with output text: remove it, or set output to json$/,
    ],
    [
      "a password for imsg",
      "{ channels: { imessage: { kind: 'imsg', password: 'x' } } }",
      {},
      /^channels\.imessage\.password has no effect with kind imsg: remove it$/,
    ],
    [
      "a command for BlueBubbles",
      "{ channels: { imessage: { password: 'x', command: ['imsg', '-v'] } } }",
      {},
      /^channels\.imessage\.command has no effect with kind bluebubbles: remove it$/,
    ],
    ["a file that is not JSON5", "{ server: ", {}, /^it is not valid JSON5/],
    ["a file that is not an object", "[]", {}, /^it must contain one object: \{ … \}$/],
  ];
  for (const [title, file, env, problem] of refused) {
    it(`refuses ${title}`, () => {
      const problems = problemsOf(file, env);

      expect(problems).to.have.length(1);
      expect(problems[0]).to.match(problem);
    });
  }

  it("reads $${NAME} as the literal text ${NAME}", () => {
    const { dataDir } = parseConfig("{ dataDir: 'a/$${HOME}/${HOME}/$HOME/$${1}' }", { HOME: "me" });

    expect(dataDir).to.equal("a/${HOME}/me/$HOME/$${1}");
  });

  it("needs no variable for $${NAME}", () => {
    expect(problemsOf("{ dataDir: '$${NOWHERE}' }")).to.deep.equal([]);
  });

  it("reports each missing variable of a text", () => {
    expect(problemsOf("{ dataDir: '${A}/${B}' }")).to.deep.equal([
      "dataDir: the environment variable A is not set",
      "dataDir: the environment variable B is not set",
    ]);
  });

  it("reports every problem at once", () => {
    const problems = problemsOf("{ servr: {}, log: { level: 'loud' }, dataDir: '${NOWHERE}' }", {
      PORT: "x",
      HOST: "0.0.0.0",
    });

    expect(problems).to.have.length(5);
  });

  it("reports faults between keys together with faults of keys, without those that only follow from another", () => {
    const problems = problemsOf(
      `{ hooks: { enabled: true, token: 'short', path: '/api', defaultSessionKey: 'main' },
         agents: { defaults: { runner: 'openai', models: [1] }, runner: {} } }`,
    );

    expect(problems.map((problem) => problem.split(" ")[0]).sort()).to.deep.equal([
      "agents.defaults.models.0",
      "agents.defaults.runner",
      "agents.runner",
      "hooks.defaultSessionKey",
      "hooks.path",
      "hooks.token",
    ]);
  });

  it("never includes a secret in a problem", () => {
    const problems = problemsOf(
      `{ server: { apiToken: "s3cret" }, hooks: { token: ["s3cret"] }, mongodb: { uri: "s3cret" }, redis: { url: "s3cret" },
         agents: { runners: { openai: { baseUrl: "s3cret", apiKey: { is: "s3cret" }, headers: { a: ["s3cret"] } } } } }`,
    );

    expect(problems).to.have.length(7);
    expect(problems.join()).to.not.include("s3cret");
  });

  const usable: [string, string][] = [
    ["paths of several names", "{ hooks: { path: '/in/hooks.v1' } }"],
    ["a path that only looks like one of the service's own", "{ hooks: { path: '/apis' } }"],
    [
      "hooks with a token",
      "{ hooks: { enabled: true, token: 'sixteen-letters!' }, server: { apiToken: 'sixteen-letters?' } }",
    ],
    [
      "a default session that its rule allows",
      "{ hooks: { defaultSessionKey: 'hook:a', allowedSessionKeyPrefixes: ['hook:'] } }",
    ],
    ["openai with a model", "{ agents: { defaults: { runner: 'openai', model: 'a' } } }"],
    [
      "command with a program",
      "{ agents: { defaults: { runner: 'command' }, runners: { command: { command: ['agent'] } } } }",
    ],
    [
      "agents with programs of their own",
      "{ agents: { list: { a: { runner: 'command', command: ['agent'], output: 'json' }, b: {} } } }",
    ],
    [
      "a default model named by its alias",
      "{ agents: { defaults: { model: 'x', models: { 'a/b': { alias: 'x' }, c: {} } } } }",
    ],
    ["an alias that is its own model's id", "{ agents: { defaults: { models: [{ id: 'a', alias: 'a' }] } } }"],
    ["runs that are kept as long as their transcripts", "{ retention: { runsAfter: '1w' } }"],
    ["a first route and the log channel", "{ channels: { log: {} }, session: { main: { channel: 'log', to: 'me' } } }"],
  ];
  for (const [title, file] of usable) {
    it(`accepts ${title}`, () => {
      expect(problemsOf(file)).to.deep.equal([]);
    });
  }

  const allowed: [string, string][] = [
    ["a token", "{ server: { host: '0.0.0.0', apiToken: 'sixteen-letters!' } }"],
    ["allowUnauthenticated", "{ server: { host: '0.0.0.0', allowUnauthenticated: true } }"],
    ["IPv6 loopback", "{ server: { host: '::1' } }"],
    ["another loopback address", "{ server: { host: '127.1.2.3' } }"],
  ];
  for (const [title, file] of allowed) {
    it(`allows a bind with ${title}`, () => {
      expect(problemsOf(file)).to.deep.equal([]);
    });
  }
});
