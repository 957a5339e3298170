import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import JSON5 from "json5";
import { configTemplate } from "../../src/cli/configFile/template.ts";
import { configKeys } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import { redactConfig } from "../../src/config/redact.ts";
import { hostsOf } from "../../src/shared/address.ts";
import { runInProcess } from "../support/cli.ts";
import { ENCODINGS } from "../support/encodings.ts";
import { runCli } from "./service.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-config-"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (command: string, env: Record<string, string> = {}) => runInProcess(command.split(" "), env, { cwd: home });
const file = () => join(home, "signalbox.json5");

describe("signalbox config check", () => {
  it("prints that the configuration is valid, and the path of its file", async () => {
    writeFileSync(file(), "{ server: { port: 1 } }");

    expect(await run("config check")).to.deep.equal({
      code: 0,
      stdout: `The configuration (${file()}) is valid.\n`,
      stderr: "",
    });
  });

  for (const [encoding, encode] of ENCODINGS)
    it(`reads a file and a .env in ${encoding}`, async () => {
      writeFileSync(file(), encode('{ session: { main: { channel: "log", to: "Größe" } }, channels: { log: {} } }'));
      writeFileSync(join(home, ".env"), encode("LOG_LEVEL=warn\r\nPORT=4000\r\n"));

      const { code, stdout } = await runCli("config show", { PORT: "3999" }, home).ended;

      const { session, log, server } = JSON.parse(stdout);
      expect([code, session.main.to, log.level, server.port]).to.deep.equal([0, "Größe", "warn", 3999]);
    });

  it("refuses a .env in another encoding, and names the fix", async () => {
    writeFileSync(join(home, ".env"), Buffer.from("SIGNALBOX_HOOKS_TOKEN=Größe", "latin1"));

    const { code, stderr } = await runCli("config check", {}, home).ended;

    expect(code).to.equal(1);
    expect(stderr).to.match(/^The file \.env cannot be read \(it is neither UTF-8 nor UTF-16; save it as UTF-8\)/);
  });

  it("prints references to channels that are not configured", async () => {
    const mappings = [
      { match: { path: "a" }, channel: "slack", to: "C1" },
      { match: { path: "b" }, channel: "slack", to: "C1", deliver: false },
      { match: { path: "c" }, channel: "log", to: "ops" },
      { match: { path: "d" }, action: "wake" },
      { match: { path: "e" } },
    ];
    const session = { main: { channel: "telegram", to: "7" } };
    writeFileSync(file(), JSON.stringify({ hooks: { mappings }, session, channels: { log: {} } }));

    const { code, stdout } = await run("config check");

    expect(code).to.equal(0);
    expect(stdout.split("\n").slice(1, -1)).to.deep.equal([
      "  - session.main.channel is telegram, which is not configured: replies to it fail until channels.telegram is set",
      "  - hooks.mappings[0].channel is slack, which is not configured: replies to it fail until channels.slack is set",
    ]);
  });

  it("prints that there is no file", async () => {
    const { code, stdout } = await run("config check", { SIGNALBOX_CONFIG: "" });

    expect(code).to.equal(0);
    expect(stdout).to.match(/without a file\) is valid\.\n$/);
  });

  it("prints all problems of the file and the environment, and exits with 1", async () => {
    writeFileSync(file(), "{ hoks: {}, hooks: { enabled: true }, dataDir: '${NOWHERE}' }");

    expect(await run("config check", { LOG_LEVEL: "loud" })).to.deep.equal({
      code: 1,
      stdout: "",
      stderr: `The configuration (${file()}) is not usable:
  - dataDir: the environment variable NOWHERE is not set
  - hoks is not a known key; did you mean hooks?
  - LOG_LEVEL (log.level) must be one of trace, debug, info, warn, error, fatal, silent
  - hooks.enabled is true and hooks.token is not set: set a secret of at least 16 characters there, or in SIGNALBOX_HOOKS_TOKEN
`,
    });
  });

  it("rejects a named file that is missing", async () => {
    const { code, stderr } = await run("config check", { SIGNALBOX_CONFIG: "other.json5" });

    expect(code).to.equal(1);
    expect(stderr).to.include(join(home, "other.json5")).and.include("names a file that does not exist");
  });
});

describe("signalbox config show", () => {
  it("prints the effective configuration with the hosts of servers and without secrets", async () => {
    writeFileSync(
      file(),
      `{ agents: { runners: { openai: { headers: { "X-Key": "\${KEY}" } } } }, server: { apiToken: "the-token-of-the-API" } }`,
    );

    const { code, stdout, stderr } = await run("config show", {
      PORT: "81",
      KEY: "the key",
      SIGNALBOX_HOOKS_TOKEN: "the-token-of-the-hooks",
      MONGODB_URI: "mongodb://user:pass@db.example:27017,db2.example/x?authSource=admin",
      REDIS_URL: "redis://:pass@redis.example:6379/0",
    });
    const shown = JSON.parse(stdout);

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(shown.server).to.include({ port: 81, host: "127.0.0.1", apiToken: "[redacted]" });
    expect(shown.hooks).to.include({ enabled: false, token: "[redacted]" });
    expect(shown.mongodb).to.deep.equal({
      uri: "mongodb://[redacted]@db.example:27017,db2.example/x?[redacted]",
    });
    expect(shown.redis.url).to.equal("redis://[redacted]@redis.example:6379/0");
    expect(shown.agents.runners.openai).to.deep.equal({ headers: { "X-Key": "[redacted]" } });
    expect(Object.keys(shown).slice(0, 3)).to.deep.equal(["server", "mongodb", "redis"]);
  });

  it("prints all problems of an unusable configuration, and exits with 1", async () => {
    const { code, stdout, stderr } = await run("config show", { PORT: "x", LOG_LEVEL: "loud" });

    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
    expect(stderr).to.match(/PORT.*\n.*LOG_LEVEL/);
  });
});

describe("signalbox config show with variables", () => {
  it("prints a text with a variable as it is in the file", async () => {
    writeFileSync(
      file(),
      `{ agents: { defaults: { model: "\${MODEL}" }, runners: { command: { command: ["agent", "--key", "\${KEY}"] } } } }`,
    );

    const { stdout } = await run("config show", { MODEL: "large", KEY: "s3cret" });

    expect(JSON.parse(stdout).agents.runners.command.command).to.deep.equal(["agent", "--key", "${KEY}"]);
    expect(stdout).to.not.include("s3cret");
  });

  it("shows hooks as start enables them without a file, and generates no token", async () => {
    const { stdout } = await run("config show", { SIGNALBOX_DATA_DIR: join(home, "data") });

    expect(JSON.parse(stdout).hooks).to.include({ enabled: true, token: "[redacted]" });
    expect(existsSync(join(home, "data"))).to.equal(false);
  });
});

describe("redactConfig", () => {
  const secrets = configKeys().flatMap(([key, node]) => (node.secret ? [{ key, ...node }] : []));

  it("redacts every secret of the schema", () => {
    expect(secrets.map(({ key }) => key)).to.deep.equal([
      "server.apiToken",
      "server.readOnlyToken",
      "server.secret",
      "server.oidc.clientSecret",
      "mongodb.uri",
      "redis.url",
      "hooks.token",
      "agents.runners.openai.baseUrl",
      "agents.runners.openai.apiKey",
      "agents.runners.openai.headers",
      "agents.runners.command.env",
      ...[
        "telegram.botToken",
        "telegram.apiUrl",
        "slack.botToken",
        "slack.apiUrl",
        "slack.signingSecret",
        "slack.appToken",
        "discord.botToken",
        "discord.apiUrl",
      ].map((key) => `channels.${key}`),
      ...["mattermost.apiUrl", "mattermost.botToken", "msteams.appPassword", "msteams.apiUrl", "msteams.loginUrl"].map(
        (key) => `channels.${key}`,
      ),
      ...["whatsapp.accessToken", "whatsapp.apiUrl", "signal.apiUrl", "imessage.apiUrl", "imessage.password"].map(
        (key) => `channels.${key}`,
      ),
      ...["ntfy.baseUrl", "ntfy.token", "email.password"].map((key) => `channels.${key}`),
      ...["outbound.secret", "otel.endpoint", "otel.headers"],
    ]);
  });

  it("shows no secret, whatever its characters", () => {
    const secret = fc.string({ minLength: 16, unit: "grapheme" }).filter((text) => !/\$\{|[\u2028\u2029]/.test(text));

    const ofAddress = fc.stringMatching(/^[\w.~!$&'()*+,;=%-]{16,40}$/);
    const ofRedis = fc.stringMatching(/^[\w.~!$&'()*+,;=-]{16,40}$/); // each % of its address begins a character
    const ofHeader = fc.stringMatching(/^[!-~]{16,40}$/).filter((text) => !text.includes("${"));

    fc.assert(
      fc.property(fc.tuple(ofHeader, secret, ofRedis, ofHeader, ofAddress, secret, secret, secret), (given) => {
        const [apiToken, password, redis, token, base, apiKey, header, variable] = given.map(
          (text, i) => `${i}${text}`,
        );
        const config = parseConfig(
          JSON.stringify({
            server: { apiToken },
            mongodb: { uri: `mongodb://user:${password}@db.example/x` },
            redis: { url: `redis://:${redis}@redis.example` },
            hooks: { token },
            agents: {
              runners: {
                openai: { apiKey, headers: { a: header } },
                command: { command: ["agent"], env: { A: variable } },
              },
            },
            channels: { telegram: { botToken: apiKey, apiUrl: `https://me:${base}@telegram.example/x?key=${base}` } },
          }),
          {},
        );

        const shown = JSON.stringify(redactConfig(config));

        for (const text of [apiToken, password, redis, token, base, apiKey, header, variable]) {
          for (const part of [text?.slice(0, 8), text?.slice(-8)]) {
            expect(shown).to.not.include(JSON.stringify(part).slice(1, -1));
          }
        }
        if (!/[?#]/.test(`${password}`)) expect(hostsOf(config.mongodb.uri ?? "")).to.equal("db.example");
      }),
    );
  });

  const addresses: [string, string][] = [
    ["mongodb://127.0.0.1:27017", "mongodb://127.0.0.1:27017"],
    ["mongodb+srv://u:p@db.example/x", "mongodb+srv://[redacted]@db.example/x"],
    ["mongodb://u:p@a:1,b:2/x?proxyPassword=p", "mongodb://[redacted]@a:1,b:2/x?[redacted]"],
    ["redis://h?password=p", "redis://h?[redacted]"],
    ["rediss://u:p%40ss@h:1", "rediss://[redacted]@h:1"],
    ["mongodb://u:p@ss/word@h:1", "mongodb://[redacted]@h:1"],
    ["mongodb://u:p?ss@h", "mongodb://[redacted]"],
    ["redis://u:p@h?password=p@ss", "redis://[redacted]"],
    ["redis://u@h", "redis://[redacted]@h"],
  ];
  for (const [address, shown] of addresses) {
    it(`shows ${address} as ${shown}`, () => {
      const key = address.startsWith("redis") ? "redis" : "mongodb";
      const config = parseConfig(JSON.stringify({ [key]: { [key === "redis" ? "url" : "uri"]: address } }), {});

      expect(JSON.stringify(redactConfig(config))).to.include(`"${shown}"`);
    });
  }
});

describe("signalbox init", () => {
  it("writes a usable file with new secrets that only its owner can read", async () => {
    const { code, stdout, stderr } = await run("init");
    const written = parseConfig(readFileSync(file(), "utf8"), {});

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(stdout).to.include(`Wrote ${file()}`).and.include("npm start");
    expect(stdout).to.not.include(written.hooks.token).and.not.include(written.server.apiToken);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(readdirSync(home)).to.deep.equal(["signalbox.json5"]);
    expect(written.hooks.enabled).to.equal(true);
    expect(written.jobs.deleteAll).to.equal("require-all");
    expect(written.hooks.token).to.match(/^[\w-]{32}$/);
    expect(written.server.apiToken).to.match(/^[\w-]{32}$/);
    expect((await run("config check")).stdout).to.include("is valid");
  });

  it("replaces a file only with --force, with other secrets and only readable by its owner", async () => {
    await run("init", { SIGNALBOX_CONFIG: "own.json5" });
    writeFileSync(file(), "{}", { mode: 0o644 });
    const refused = await run("init");
    const kept = readFileSync(file(), "utf8");
    const forced = await run("init --force");

    expect(refused.code).to.equal(1);
    expect(refused.stderr).to.match(/^\S+signalbox\.json5 already exists: pass --force .*\n$/);
    expect(kept).to.equal("{}");
    expect(forced.code).to.equal(0);
    expect(statSync(file()).mode & 0o777).to.equal(0o600);
    expect(tokenOf(file())).to.not.equal(tokenOf(join(home, "own.json5")));
    expect(readdirSync(home).sort()).to.deep.equal(["own.json5", "signalbox.json5"]);
  });

  it("does not write through a symbolic link", async () => {
    symlinkSync(join(home, "elsewhere"), file());

    expect((await run("init")).code).to.equal(1);
    expect(existsSync(join(home, "elsewhere"))).to.equal(false);
  });

  it("explains in one sentence that the file cannot be written", async () => {
    const { code, stderr } = await run("init", { SIGNALBOX_CONFIG: "missing/own.json5" });

    expect(code).to.equal(1);
    expect(stderr).to.match(/^\S+missing\/own\.json5 cannot be written \(ENOENT\)\.\n$/);
  });

  const tokenOf = (path: string) => parseConfig(readFileSync(path, "utf8"), {}).hooks.token;
});

describe("configTemplate", () => {
  it("contains an example of a mapping that is valid, and a link to the guide", () => {
    const text = configTemplate({ "hooks.enabled": true, "hooks.token": "a-token-of-sixteen" });
    const [, example = ""] = /^ *\/\/ {3}(mappings: \[\n[\s\S]*?^ *\/\/ {3}\],)$/m.exec(text) ?? [];
    const mappings = example.replace(/^ *\/\/ {3}/gm, "");

    const { hooks } = parseConfig(
      `{ hooks: { enabled: true, token: "a-token-of-sixteen", ${mappings} }, channels: { telegram: { botToken: "1:a" } } }`,
      {},
    );

    expect(hooks.mappings[0]).to.include({ name: "CI of {{branch}}", channel: "telegram", to: "12345" });
    expect(text).to.match(/^\/\/ .*\n\/\/ http:\/\/127\.0\.0\.1:3000\/guide\//);
    expect(text.split("\n").filter((line) => line.length > 100 && !/^ *\/\/?\w/.test(line))).to.deep.equal([]);
  });

  it("contains examples of rules and expectations that are valid", () => {
    const text = configTemplate({});
    const exampleOf = (key: string) =>
      new RegExp(`^ *// {3}(${key}: \\[[\\s\\S]*?\\],)\n(?! *// {3})`, "m")
        .exec(text)?.[1]
        ?.replace(/^ *\/\/ {3}/gm, "");

    const { notify, expect: expected } = parseConfig(
      `{ ${exampleOf("notify")} ${exampleOf("expect")} channels: { telegram: { botToken: "1:a" } } }`,
      { NOTIFY_SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" },
    );

    expect(notify.map(({ id }) => id)).to.deep.equal(["ops", "ci"]);
    expect(expected).to.deep.equal([{ id: "backup", name: "Nightly backup", every: "1d", grace: "2h" }]);
  });

  it("gives the defaults if no line is uncommented", () => {
    expect(parseConfig(configTemplate({}), {})).to.deep.equal(parseConfig(undefined, {}));
  });

  it("is usable and has every key if all lines are uncommented", () => {
    const set = {
      "server.apiToken": "the-token-of-the-API",
      "hooks.token": "the-token-of-the-hooks",
      "hooks.presets": ["gmail"],
      "server.publicUrl": "https://jobs.example.com/signalbox",
    };
    const text = configTemplate(set).replace(/^( *)\/\/(?! )/gm, "$1");
    // Only one of two keys may be set, and no agent is listed.
    parseConfig(text.replace(/^ *(mapping: "chat"|agentId: "reviewer"),.*$/gm, ""), {});
    const value = JSON5.parse(text);

    for (const [key] of configKeys()) {
      const found = key.split(".").reduce((part: Record<string, never> | undefined, name) => part?.[name], value);
      expect(found, key).to.not.equal(undefined);
    }
  });
});
