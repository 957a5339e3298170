import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Everything is created in a directory of this process, and moved to its place by one rename when it is complete. */
const PREFIX = "tmp-";
const ours = `${PREFIX}${process.pid}-`;

/**
 * @param {string} tools
 * @returns {string} a new directory, which is removed when this process exits
 */
export function makeScratch(tools) {
  mkdirSync(tools, { recursive: true });
  return mkdtempSync(join(tools, ours));
}

/** @param {string} tools */
export function removeScratch(tools) {
  remove(tools, (name) => name.startsWith(ours));
}

/**
 * Removes the directories of setups that were killed.
 * @param {string} tools
 */
export function removeStaleScratch(tools) {
  remove(tools, (name) => name.startsWith(PREFIX) && !isAlive(Number(name.split("-")[1])));
}

/**
 * @param {string} tools
 * @param {(name: string) => boolean} which
 */
function remove(tools, which) {
  let names;
  try {
    names = readdirSync(tools);
  } catch {
    return; // There is nothing to remove yet.
  }
  for (const name of names.filter(which)) rmSync(join(tools, name), { recursive: true, force: true });
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
