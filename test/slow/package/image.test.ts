import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { type Service, startShell } from "../../cli/service.ts";

const run = promisify(execFile);

/** Programs that script/bootstrap.mjs installs. */
const PYTHON = resolve(".tools/python");

const TOKEN = "a-token-that-the-operator-gives";

/** Runs a program and returns its exit code and output. */
const check = (program: string, args: readonly string[]) =>
  run(join(PYTHON, "bin", program), args, { env: { ...process.env, PYTHONPATH: PYTHON } })
    .then(({ stdout }) => ({ code: 0, stdout }))
    .catch(({ code, stdout }) => ({ code, stdout }));

/** Returns the instructions of each stage of the Dockerfile by its name. */
function stages(): Readonly<Record<string, readonly string[]>> {
  const text = readFileSync("Dockerfile", "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll("\\\n", "");
  const all = text.split(/^FROM /m).slice(1);
  return Object.fromEntries(all.map((stage) => [/^\S+ AS (\S+)/.exec(stage)?.[1] ?? "", stage.trim().split("\n")]));
}

describe("the files that other programs run", () => {
  it("Dockerfile passes hadolint", async () => {
    expect(await check("hadolint", ["Dockerfile"])).to.deep.equal({ code: 0, stdout: "" });
  });

  const schemas = {
    "github-workflows": globSync(".github/workflows/*.yml"),
    "github-actions": ["action/action.yml"],
    "compose-spec": ["compose.yaml"],
  };
  for (const [schema, files] of Object.entries(schemas)) {
    it(`${files.join(", ")}: follow the schema ${schema}`, async () => {
      const { code, stdout } = await check("check-jsonschema", ["--builtin-schema", `vendor.${schema}`, ...files]);

      expect(code, stdout).to.equal(0);
    });
  }
});

describe("the image all-in-one", function () {
  this.timeout(120_000);
  let room: string;
  let service: Service | undefined;
  const { service: ofService = [], "all-in-one": ofAll = [], "": last = [] } = stages();

  before(() => {
    room = mkdtempSync(join(tmpdir(), "signalbox-image-"));
    mkdirSync(join(room, "app/.tools"), { recursive: true });
    // The files that the stages copy, with the packages and the programs of this machine.
    for (const line of [...ofService, ...ofAll]) {
      const [, from, paths = ""] = /^COPY (--from=\S+ )?(.+)$/.exec(line) ?? [];
      const [target = "", ...sources] = paths.split(" ").reverse();
      for (const source of sources.filter((path) => !from || /^\/app\/./.test(path))) {
        const path = source.replace(/^\/app\//, "");
        const copy = join(
          room,
          "app",
          target.endsWith("/") && statSync(path).isFile() ? join(target, basename(path)) : target,
        );
        if (path === "node_modules") symlinkSync(resolve(path), copy);
        else cpSync(path, copy, { recursive: true });
      }
    }
    symlinkSync(resolve(".tools/bin"), join(room, "app/.tools/bin"));
  });
  afterEach(stop);
  after(() => rmSync(room, { recursive: true, force: true }));

  async function stop() {
    service?.kill("SIGTERM");
    await service?.ended;
    service = undefined;
  }

  /** Runs the command of the image with its environment, but for the address. Returns the address of the API. */
  const start = async (data: string, env: Readonly<Record<string, string>> = {}) => {
    const assignments = ofAll.filter((line) => line.startsWith("ENV ")).flatMap((line) => line.slice(4).split(" "));
    const [command = ""] = ofAll.flatMap((line) => /^CMD (\[.+\])$/.exec(line)?.[1] ?? []);
    const ofImage = Object.fromEntries(assignments.map((one) => one.split("=")));
    const settings = { PORT: "0", NODE_COMPILE_CACHE: "", SIGNALBOX_DATA_DIR: join(room, data), ...env };
    mkdirSync(join(room, data), { recursive: true });
    service = startShell(JSON.parse(command).join(" "), { ...ofImage, ...settings }, join(room, "app"));
    return service.ready();
  };
  const statusWith = async (url: string, token?: string) =>
    (await fetch(`${url}/api/jobs`, { headers: token ? { Authorization: `Bearer ${token}` } : {} })).status;

  it("is not what `docker build` makes without a target", () => {
    expect(last).to.deep.equal(["service"]);
  });

  it("runs everything at a port of all interfaces, with a token that its first start makes and each start prints", async () => {
    const tokens: string[] = [];
    for (let round = 0; round < 2; round++) {
      const url = await start("data");
      const [, token = ""] = /^Log in with the API token (\S+)$/m.exec(service?.printed() ?? "") ?? [];
      expect([await statusWith(url), await statusWith(url, token)]).to.deep.equal([401, 200]);
      expect((await fetch(url)).headers.get("content-type")).to.include("text/html");
      tokens.push(token);
      await stop();
    }

    expect(tokens[0])
      .to.match(/^[\w-]{32}$/)
      .and.equal(tokens[1]);
    expect(statSync(join(room, "data/api-token")).mode & 0o077).to.equal(0);
  });

  it("takes the token of the operator, and makes none then", async () => {
    const url = await start("given", { SIGNALBOX_API_TOKEN: TOKEN });

    expect([await statusWith(url), await statusWith(url, TOKEN)]).to.deep.equal([401, 200]);
    expect(service?.printed()).to.not.include("Log in with");
    expect(existsSync(join(room, "given/api-token"))).to.equal(false);
  });

  it("ends with 0 at SIGTERM", async () => {
    await start("data", { SIGNALBOX_API_TOKEN: TOKEN });
    service?.kill("SIGTERM");

    expect((await service?.ended)?.code).to.equal(0);
  });
});
