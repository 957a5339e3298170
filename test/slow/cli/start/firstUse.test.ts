import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { FoundAgent } from "../../../../src/cli/start/findAgents.ts";
import { readSettings } from "../../../../src/cli/start/firstUse.ts";
import { summary } from "../../../../src/cli/start/summary.ts";
import { ConfigError, parseConfig, readConfig } from "../../../../src/config/load.ts";
import { StartError } from "../../../../src/shared/process/lifecycle.ts";
import { runCli, type Service } from "../../../cli/service.ts";
import { mongoUri, redisUrl } from "../../../support/servers/servers.ts";

const makeHome = () => mkdtempSync(join(tmpdir(), "signalbox-first-use-"));
const remove = (home: string) => rmSync(home, { recursive: true, force: true });

describe("readSettings", () => {
  let home: string;
  let dataDir: string;
  beforeEach(() => {
    home = makeHome();
    dataDir = join(home, "data");
  });
  afterEach(() => remove(home));

  const tokenFile = () => join(dataDir, "hooks-token");
  const read = (env: Record<string, string> = {}) => readSettings({ SIGNALBOX_DATA_DIR: dataDir, ...env });
  const withFile = (text: string) => {
    const path = join(home, "signalbox.json5");
    writeFileSync(path, text);
    return { SIGNALBOX_CONFIG: path };
  };

  it("generates a token once, readable only by its owner, and passes it on", () => {
    const first = read();
    const second = read();

    expect(first.config.hooks).to.include({ enabled: true, token: first.generatedToken });
    expect(first.env).to.include({ SIGNALBOX_MADE_HOOKS_TOKEN: first.generatedToken });
    expect(readConfig(first.env).hooks).to.include({ enabled: true, token: first.generatedToken });
    const { hooks } = readConfig({ ...first.env, ...withFile("{}") });
    expect(hooks).to.include({ enabled: false });
    expect(first.generatedToken).to.match(/^[\w-]{32}$/);
    expect(second.generatedToken).to.equal(first.generatedToken);
    expect(readFileSync(tokenFile(), "utf8")).to.equal(`${first.generatedToken}\n`);
    expect(statSync(tokenFile()).mode & 0o777).to.equal(0o600);
    expect(statSync(dataDir).mode & 0o777).to.equal(0o700);
    expect(readdirSync(dataDir)).to.deep.equal(["hooks-token"]);
  });

  it("generates another token for another data directory", () => {
    expect(read().generatedToken).to.not.equal(read({ SIGNALBOX_DATA_DIR: join(home, "other") }).generatedToken);
  });

  it("uses the token of a variable and generates none", () => {
    const { config, generatedToken } = read({ SIGNALBOX_HOOKS_TOKEN: "a-token-of-ones-own" });

    expect(config.hooks).to.include({ enabled: true, token: "a-token-of-ones-own" });
    expect(generatedToken).to.equal(undefined);
    expect(existsSync(dataDir)).to.equal(false);
  });

  const off: [string, () => Record<string, string>][] = [
    ["a file that says nothing of them", () => withFile("{ server: { port: 0 } }")],
    [
      "a file that says nothing of them, though a variable has a token",
      () => ({
        ...withFile("{}"),
        SIGNALBOX_HOOKS_TOKEN: "a-token-of-ones-own",
      }),
    ],
    ["a variable that turns them off", () => ({ SIGNALBOX_HOOKS_ENABLED: "false" })],
  ];
  for (const [title, env] of off) {
    it(`leaves hooks disabled with ${title}`, () => {
      const { config, generatedToken } = read(env());

      expect(config.hooks.enabled).to.equal(false);
      expect(generatedToken).to.equal(undefined);
      expect(existsSync(dataDir)).to.equal(false);
    });
  }

  const without: [string, () => Record<string, string>][] = [
    ["a file", () => withFile("{ hooks: { enabled: true } }")],
    ["a variable", () => ({ SIGNALBOX_HOOKS_ENABLED: "true" })],
  ];
  for (const [title, env] of without) {
    it(`rejects hooks that ${title} enables without a token`, () => {
      expect(() => read(env())).to.throw(ConfigError, /hooks\.enabled is true and hooks\.token is not set/);
    });
  }

  for (const text of ["", "short\n", "sixteen letters and spaces"]) {
    it(`rejects the saved token "${text.trim()}" with a remedy`, () => {
      mkdirSync(dataDir);
      writeFileSync(tokenFile(), text);

      expect(() => read()).to.throw(StartError, /hooks-token does not contain a token.*: remove the file/);
    });
  }

  it("explains in one sentence that the data directory cannot be used", () => {
    writeFileSync(join(home, "file"), "");

    expect(() => read({ SIGNALBOX_DATA_DIR: join(home, "file", "data") })).to.throw(
      StartError,
      /cannot be used \(ENOTDIR\)/,
    );
  });
});

describe("The start block", () => {
  const block = (file: string, more: { mongodbVersion?: string; agents?: FoundAgent[] } = {}) =>
    summary(
      { config: parseConfig(file, {}), generatedToken: undefined },
      {
        url: "http://127.0.0.1:1",
        watch: false,
        reload: "npx signalbox reload",
        hasLogFile: true,
        mongodbVersion: "8.0.4",
        agents: [],
        ...more,
      },
    );
  const hooks = "hooks: { enabled: true, token: 'the-configured-token', path: '/in' }";

  it("explains how to enable hooks", () => {
    expect(block("{}")).to.match(/^ {2}Hooks {5}off .*hooks\.enabled and hooks\.token in signalbox\.json5\)$/m);
  });

  it("shows the address of the hooks, and never a configured token", () => {
    const text = block(`{ ${hooks} }`);

    expect(text).to.include("\n  Hooks     POST /in/agent\n  Token     Authorization: Bearer …");
    expect(text).to.not.include("the-configured-token");
    const below = block(`{ ${hooks}, server: { basePath: '/signalbox' } }`);
    expect(below).to.include("\n  Hooks     POST /signalbox/in/agent\n");
  });

  it("shows the runner, and how to replace echo", () => {
    const agents = "agents: { defaults: { runner: 'openai', model: 'gpt-5' } }";

    expect(block(`{ ${hooks} }`)).to.match(/^ {2}Agent {5}echo, .*agents\.defaults\.runner/m);
    expect(block(`{ ${hooks}, ${agents} }`)).to.match(/^ {2}Agent {5}openai, gpt-5$/m);
  });

  it("offers the first agent that it finds with its settings, and names the others", () => {
    const agents = [
      { name: "claude", settings: "agents: {\n  a: 1 }," },
      { name: "codex", settings: "agents: {}," },
    ];

    expect(block(`{ ${hooks} }`, { agents })).to.include(
      `
  Found     claude, codex (not used yet)
            For claude, add to signalbox.json5 (npx signalbox init):
    agents: {
      a: 1 },
            More: http://127.0.0.1:1/guide/how-to/set-up-an-agent
`,
    );
  });

  it("warns of a MongoDB past its end of life, and explains how to use a newer one", () => {
    const text = block("{}", { mongodbVersion: "6.0.5" });

    expect(text).to.include("\n  Warning   MongoDB 6.0.5 is past its end of life");
    expect(text).to.include("version 7.0 or later in MONGODB_URI.\n");
    expect(block("{}", { mongodbVersion: "7.0.1" })).to.not.include("Warning");
  });
});

describe("signalbox start for the first time with configured servers", () => {
  let home: string;
  let dataDir: string;
  let servers: { MONGODB_URI: string; REDIS_URL: string };
  let current: Service | undefined;

  before(async () => {
    home = makeHome();
    dataDir = join(home, "data");
    const redis = (await redisUrl()).replace("//", "//default:@");
    servers = { MONGODB_URI: await mongoUri(`test-${randomUUID()}`), REDIS_URL: redis };
  });

  after(async () => {
    await stop();
    remove(home);
  });

  const stop = async () => {
    current?.kill("SIGTERM");
    await current?.ended;
    current = undefined;
  };
  /** Returns the running instance without a configuration file, or a new one. */
  const running = async () => {
    current ??= runCli("start", { SIGNALBOX_DATA_DIR: dataDir, ...servers }, home);
    const url = await current.ready();
    const token = current.printed().match(/^ {2}Token +Authorization: Bearer (\S+)$/m)?.[1] ?? "";
    return { service: current, url, token };
  };
  const wake = async (url: string, token: string) => {
    const answer = await fetch(`${url}/hooks/wake`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "Hello" }),
    });
    return answer.status;
  };

  it("prints the servers' hosts without credentials, and stores only the hook token", async () => {
    const { service } = await running();

    expect(service.printed()).to.include(`Data      MongoDB at ${new URL(servers.MONGODB_URI).host}`);
    expect(service.printed()).to.include(`Redis     ${new URL(servers.REDIS_URL).host}\n`);
    expect(service.printed()).to.include(`\n  Reload    kill -HUP ${service.pid} `);
    expect(readdirSync(dataDir)).to.deep.equal(["hooks-token"]);
  });

  it("prints the hooks and a valid token, the same after a restart", async () => {
    const first = await running();
    const status = await wake(first.url, first.token);
    await stop();
    const second = await running();

    expect(first.service.printed()).to.include("  Hooks     POST /hooks/agent\n");
    expect(first.service.printed()).to.match(/^ {2}Agent +echo, /m);
    expect(status).to.equal(200);
    expect(second.token).to.equal(first.token);
    expect(await wake(second.url, "another token than that")).to.equal(401);
    expect(statSync(join(dataDir, "hooks-token")).mode & 0o777).to.equal(0o600);
  });

  it("leaves hooks disabled with a configuration file that does not mention them", async () => {
    await stop();
    const place = makeHome();
    writeFileSync(join(place, "signalbox.json5"), "{}");
    const service = runCli("start", { SIGNALBOX_DATA_DIR: join(place, "data"), ...servers }, place);
    try {
      const url = await service.ready();

      expect(service.printed()).to.match(/^ {2}Hooks +off /m);
      expect(await wake(url, "any token will do here")).to.equal(404);
      expect(existsSync(join(place, "data"))).to.equal(false);
    } finally {
      service.kill("SIGTERM");
      await service.ended;
      remove(place);
    }
  });
});
