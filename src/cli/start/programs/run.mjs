import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/** Kills all running programs, because this process is about to exit. */
export function endChildren() {
  for (const child of running) child.kill("SIGTERM");
}

/**
 * Runs a program to its end and collects its output.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, watch?: (stop: () => void) => void }} [options]
 *   `watch` is called twice a second and may stop it
 * @returns {Promise<{ code: number, stdout: string, stderr: string }>} code 127 if there is no such program
 */
export function run(command, args, { cwd, env, timeoutMs, watch } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    const stop = () => child.kill("SIGKILL");
    const timer = timeoutMs && setTimeout(stop, timeoutMs);
    const watcher = watch && setInterval(() => watch(stop), 500);
    /** @param {number} code */
    const finish = (code) => {
      running.delete(child);
      clearTimeout(timer);
      clearInterval(watcher);
      resolve({ code, stdout, stderr });
    };
    child.on("error", () => finish(127));
    child.on("close", (code) => finish(code ?? 1));
  });
}

/**
 * @param {string} name
 * @returns {string | undefined} the first such program on PATH, without npm's directories
 */
export function findOnPath(name) {
  return systemPath()
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

/** PATH without the directories that npm prepends for a script. */
export function systemPath() {
  const directories = (process.env.PATH ?? "").split(delimiter);
  return directories.filter((name) => name && !/node_modules|node-gyp-bin/.test(name)).join(delimiter);
}

/**
 * @param {string} path
 * @returns {boolean} whether it is a program or a link to one
 */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
