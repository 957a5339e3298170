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
import { readSettings } from "../../src/cli/firstUse.ts";
import { summary } from "../../src/cli/summary.ts";
import { ConfigError, parseConfig, readConfig } from "../../src/shared/config.ts";
import { StartError } from "../../src/shared/lifecycle.ts";
import { mongoUri, redisUrl } from "../support/servers.ts";
import { runCli, type Service } from "./service.ts";

let home: string;
let dataDir: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-first-use-"));
  dataDir = join(home, "data");
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

const tokenFile = () => join(dataDir, "hooks-token");

describe("readSettings", () => {
  const read = (env: Record<string, string> = {}) => readSettings({ SIGNALBOX_DATA_DIR: dataDir, ...env });
  const withFile = (text: string) => {
    const path = join(home, "signalbox.json5");
    writeFileSync(path, text);
    return { SIGNALBOX_CONFIG: path };
  };

  it("makes a token once, readable only by its owner, and hands it on", () => {
    const first = read();
    const second = read();

    expect(first.config.hooks).to.include({ enabled: true, token: first.madeToken });
    expect(first.env).to.include({ SIGNALBOX_MADE_HOOKS_TOKEN: first.madeToken });
    expect(readConfig(first.env).hooks).to.include({ enabled: true, token: first.madeToken });
    const { hooks } = readConfig({ ...first.env, ...withFile("{}") });
    expect(hooks).to.include({ enabled: false });
    expect(first.madeToken).to.match(/^[\w-]{32}$/);
    expect(second.madeToken).to.equal(first.madeToken);
    expect(readFileSync(tokenFile(), "utf8")).to.equal(`${first.madeToken}\n`);
    expect(statSync(tokenFile()).mode & 0o777).to.equal(0o600);
    expect(statSync(dataDir).mode & 0o777).to.equal(0o700);
    expect(readdirSync(dataDir)).to.deep.equal(["hooks-token"]);
  });

  it("makes another one for another data directory", () => {
    expect(read().madeToken).to.not.equal(read({ SIGNALBOX_DATA_DIR: join(home, "other") }).madeToken);
  });

  it("takes a token that a variable sets, and makes none", () => {
    const { config, madeToken } = read({ SIGNALBOX_HOOKS_TOKEN: "a-token-of-ones-own" });

    expect(config.hooks).to.include({ enabled: true, token: "a-token-of-ones-own" });
    expect(madeToken).to.equal(undefined);
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
    it(`leaves the hooks off with ${title}`, () => {
      const { config, madeToken } = read(env());

      expect(config.hooks.enabled).to.equal(false);
      expect(madeToken).to.equal(undefined);
      expect(existsSync(dataDir)).to.equal(false);
    });
  }

  const without: [string, () => Record<string, string>][] = [
    ["a file", () => withFile("{ hooks: { enabled: true } }")],
    ["a variable", () => ({ SIGNALBOX_HOOKS_ENABLED: "true" })],
  ];
  for (const [title, env] of without) {
    it(`refuses hooks that ${title} turns on without a token`, () => {
      expect(() => read(env())).to.throw(ConfigError, /hooks\.enabled is true and there is no hooks\.token/);
    });
  }

  for (const text of ["", "short\n", "sixteen letters and spaces"]) {
    it(`refuses a kept token "${text.trim()}", and says what to do`, () => {
      mkdirSync(dataDir);
      writeFileSync(tokenFile(), text);

      expect(() => read()).to.throw(StartError, /hooks-token holds no token.*: remove it/);
    });
  }

  it("says in one sentence that the data directory cannot be used", () => {
    writeFileSync(join(home, "file"), "");

    expect(() => read({ SIGNALBOX_DATA_DIR: join(home, "file", "data") })).to.throw(
      StartError,
      /cannot be used \(ENOTDIR\)/,
    );
  });
});

describe("the start block", () => {
  const block = (file: string, madeToken?: string) =>
    summary({ config: parseConfig(file, {}), madeToken }, "http://127.0.0.1:1", false);
  const hooks = "hooks: { enabled: true, token: 'the-configured-token', path: '/in' }";

  it("tells how to turn hooks on that are off", () => {
    expect(block("{}")).to.match(/^ {2}Hooks {5}off; .*hooks\.enabled and hooks\.token in signalbox\.json5$/m);
  });

  it("shows the hooks' address, and never a token that somebody has configured", () => {
    const text = block(`{ ${hooks} }`);

    expect(text).to.include("\n  Hooks     POST http://127.0.0.1:1/in/agent\n  Token     Authorization: Bearer …");
    expect(text).to.not.include("the-configured-token");
  });

  it("names the runner, and how to have another than echo", () => {
    const agents = "agents: { defaults: { runner: 'openai', model: 'gpt-5' } }";

    expect(block(`{ ${hooks} }`)).to.match(/^ {2}Agent {5}echo, the embedded default.*agents\.defaults\.runner/m);
    expect(block(`{ ${hooks}, ${agents} }`)).to.match(/^ {2}Agent {5}openai, gpt-5$/m);
  });
});

describe("signalbox start for the first time", function () {
  this.timeout(60_000);
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) {
      service.kill("SIGTERM");
      await service.ended;
    }
  });

  const start = async (env: Record<string, string> = {}) => {
    const servers = { MONGODB_URI: await mongoUri("firstUse"), REDIS_URL: await redisUrl() };
    const service = runCli("start", { SIGNALBOX_DATA_DIR: dataDir, ...servers, ...env }, home);
    services.push(service);
    return { service, url: await service.ready() };
  };
  const wake = async (url: string, token: string) => {
    const answer = await fetch(`${url}/hooks/wake`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "Hello" }),
    });
    return answer.status;
  };

  it("shows the hooks and a token that opens them, the same after a restart", async () => {
    const first = await start();
    const shown = first.service.printed().match(/^ {2}Token +Authorization: Bearer (\S+)$/m)?.[1] ?? "";
    const status = await wake(first.url, shown);
    first.service.kill("SIGTERM");
    await first.service.ended;
    const second = await start();

    expect(first.service.printed()).to.include(`  Hooks     POST ${first.url}/hooks/agent\n`);
    expect(first.service.printed()).to.match(/^ {2}Agent +echo, /m);
    expect(status).to.equal(200);
    expect(second.service.printed()).to.include(`  Token     Authorization: Bearer ${shown}\n`);
    expect(await wake(second.url, "another token than that")).to.equal(401);
    expect(statSync(tokenFile()).mode & 0o777).to.equal(0o600);
  });

  it("has the hooks off with a configuration file that says nothing of them", async () => {
    writeFileSync(join(home, "signalbox.json5"), "{}");
    const { service, url } = await start();

    expect(service.printed()).to.match(/^ {2}Hooks +off; /m);
    expect(await wake(url, "any token will do here")).to.equal(404);
    expect(existsSync(dataDir)).to.equal(false);
  });
});
