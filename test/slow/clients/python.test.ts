import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { IN_FULL } from "../../support/packages.ts";

const SOURCE = resolve("clients/python");
/** Packages that bootstrap installed: pytest, flit_core and vermin. */
const PACKAGES = resolve(".tools/python");
const TOKENS = {
  apiToken: "an-api-token-of-length",
  hookToken: "a-hook-token-of-length",
  writerToken: "a-token-that-writes-jobs-and-reads-none",
};
const CONFIG = JSON.stringify({
  server: {
    apiToken: TOKENS.apiToken,
    tokens: [{ name: "writer", token: TOKENS.writerToken, scopes: ["jobs:write"] }],
  },
  hooks: { enabled: true, token: TOKENS.hookToken },
});

const MYPY = "mypy==2.4.1";

/** A program whose two mistakes a type checker finds. */
const PROGRAM = `from signalbox_client import Client

with Client("http://127.0.0.1:3000") as client:
    job = client.job("report-8")
    job.create(nmae="Monthly report")
    job.create(name="Monthly report", metadata={"team": "sales"})
    with job.step("collect", name="Collect", start=0, end=100) as step:
        step.progress("half")
        step.progress(client.jobs.get("report-8")["progress"], "half")
        step.output = {"rows": 3}
`;

describe("signalbox-client for Python", function () {
  this.timeout(180_000);
  let room: string;
  let python: string;
  let app: TestApp;
  before(async () => {
    room = mkdtempSync(join(tmpdir(), "signalbox-wheel-"));
    app = await startApp({ config: CONFIG });
    // A copy, because pip may write beside the sources.
    cpSync(SOURCE, join(room, "source"), { recursive: true });
    const offline = ["--no-index", "--no-deps", "--disable-pip-version-check", "--quiet"];
    await run("python3", ["-m", "pip", "wheel", ...offline, "--no-build-isolation", "--wheel-dir", room, "./source"]);
    await run("python3", ["-m", "venv", "--without-pip", join(room, "venv")]);
    python = join(room, "venv", "bin", "python");
    const wheel = join(room, readdirSync(room).find((name) => name.endsWith(".whl")) as string);
    const place = await run(python, ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]);
    await run("python3", ["-m", "pip", "install", ...offline, "--target", place.trim(), wheel]);
  });
  after(async () => {
    await app.close();
    rmSync(room, { recursive: true });
  });

  /** Runs a program to its end. @throws its output if it fails */
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    const child = spawn(program, args, {
      cwd: room,
      env: {
        PATH: process.env.PATH,
        HOME: room,
        LC_ALL: "C.UTF-8",
        PYTHONDONTWRITEBYTECODE: "1",
        no_proxy: "*",
        PYTHONPATH: PACKAGES,
        PYTEST_DISABLE_PLUGIN_AUTOLOAD: "1",
        SIGNALBOX_URL: app.url,
        SIGNALBOX_API_TOKEN: TOKENS.apiToken,
        SIGNALBOX_HOOKS_TOKEN: TOKENS.hookToken,
        SIGNALBOX_WRITER_TOKEN: TOKENS.writerToken,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
    return stdout;
  };

  it("has the version and the license of the service, no dependencies and the types in its wheel", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    const program = `
from importlib.metadata import distribution
wheel = distribution("signalbox-client")
print(wheel.version, wheel.requires, wheel.metadata["Requires-Python"])
print(*sorted(str(file) for file in wheel.files if file.name == "py.typed" or file.name.startswith("LICENSE")))`;

    const [line, files] = (await run(python, ["-c", program])).split("\n");

    expect(line).to.equal(`${version} None >=3.9`);
    expect(readFileSync(join(SOURCE, "LICENSE"), "utf8")).to.equal(readFileSync("LICENSE", "utf8"));
    expect(files).to.include("signalbox_client/py.typed").and.include("LICENSE");
  });

  it("needs no newer Python than 3.9", async () => {
    const vermin = ["-c", "from vermin import main; main()", "--target=3.9-", "--violations", "--no-tips"];

    await run("python3", [...vermin, join(SOURCE, "src")]);
  });

  const checkTypes = async () => {
    const mypy = join(room, "mypy");
    await run("python3", ["-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--target", mypy, MYPY]);
    writeFileSync(join(room, "program.py"), PROGRAM);
    const options = ["--strict", "--no-error-summary", `--cache-dir=${room}/cache`];
    const modules = ["-p", "signalbox_client", "-m", "program"];
    const check = `import sys; sys.path.insert(0, ${JSON.stringify(mypy)}); from mypy.main import main; main()`;

    const printed = await run(python, ["-c", check, ...options, ...modules]).catch((error: Error) => error.message);

    expect(printed.match(/^\S+ error: .*\[[\w-]+\]$/gm)).to.deep.equal([
      'program.py:5: error: Unexpected keyword argument "nmae" for "create" of "Job"  [call-arg]',
      'program.py:8: error: Argument 1 to "progress" of "BaseReporter" has incompatible type "str"; expected "float"  [arg-type]',
    ]);
  };
  if (IN_FULL) it("is typed strictly, so that a type checker finds the mistakes of a program", checkTypes);

  for (const file of readdirSync(join(SOURCE, "tests")).filter((name) => name.startsWith("test_")))
    it(`passes tests/${file} against the service`, async () => {
      const settings = ["-c", join(SOURCE, "pyproject.toml"), "-o", "faulthandler_timeout=60"];

      await run(python, [
        "-m",
        "pytest",
        ...settings,
        "-o",
        "faulthandler_exit_on_timeout=true",
        join(SOURCE, "tests", file),
      ]);
    });
});
