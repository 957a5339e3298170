import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "./run.mjs";
import { makeScratch } from "./scratch.mjs";
import { SetupError } from "./setupError.mjs";

/**
 * @typedef {object} Workplace
 * @property {string} tools the directory for programs, which may be missing
 * @property {import("./progress.mjs").Progress} progress
 * @property {Promise<void>} [installed] resolves when the packages of a clone are installed
 *
 * @typedef {object} Program
 * @property {string} name the file name in the directory `bin` of the tools
 * @property {string} title
 * @property {readonly [number, number]} minimum major and minor version
 */

/**
 * Tries the sources until one provides a program that runs on this machine and is new enough, and installs that in the
 * directory `bin` of the tools.
 * @param {Workplace} context
 * @param {Program} program
 * @param {readonly ((context: Workplace) => Promise<string | undefined>)[]} sources return a path, or undefined if they
 *   have none, or throw a SetupError with the reason as a clause
 * @returns {Promise<readonly string[] | undefined>} why each source failed; undefined when one succeeded
 */
export async function placeFirst(context, program, sources) {
  /** @type {string[]} */
  const refusals = [];
  for (const source of sources) {
    try {
      const path = await source(context);
      if (path === undefined) continue;
      const version = await prove(path, program.minimum);
      place(context.tools, program.name, path);
      context.progress.end(`${program.title} ${version} is ready.`);
      return undefined;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      refusals.push(error.message);
    }
  }
  return refusals;
}

/**
 * @param {string} path
 * @param {Program["minimum"]} minimum
 * @returns {Promise<string>} the version
 * @throws {SetupError} when it does not run on this machine, or is too old
 */
async function prove(path, [major, minor]) {
  const { code, stdout } = await run(path, ["--version"], { timeoutMs: 20_000 });
  const found = stdout.match(/(?:^|\s)(?:v=?)?((\d+)\.(\d+)[.\d]*)/);
  if (code !== 0 || !found) throw new SetupError(`${path} does not run on this machine`);
  const [, version = "", itsMajor = 0, itsMinor = 0] = found;
  if (Number(itsMajor) > major || (Number(itsMajor) === major && Number(itsMinor) >= minor)) return version;
  throw new SetupError(`${path} is too old (${version})`);
}

/**
 * Installs a program with one rename: a downloaded file itself, or a link to an installed one.
 * @param {string} tools
 * @param {string} name
 * @param {string} path
 */
function place(tools, name, path) {
  const bin = join(tools, "bin");
  mkdirSync(bin, { recursive: true });
  let made = path;
  if (!path.startsWith(tools)) {
    made = join(makeScratch(tools), name);
    symlinkSync(resolve(path), made);
  }
  renameSync(made, join(bin, name));
}
