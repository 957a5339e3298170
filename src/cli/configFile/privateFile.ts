import { randomUUID } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeTarget } from "./writeTarget.ts";

/**
 * Writes a file that only this user can read, atomically. With `replace` the target of a symbolic link is replaced, and a pipe or
 * a device is written to.
 * @returns false if the file exists and `replace` is false
 */
export function writePrivateFile(path: string, text: string, { replace }: { replace: boolean }): boolean {
  const target = replace ? writeTarget(path) : { path, temporary: `${path}.${randomUUID()}.tmp` };
  const { temporary } = target;
  if (temporary === undefined) {
    writeFileSync(target.path, text);
    return true;
  }
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    if (replace) renameSync(temporary, target.path);
    else linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The mode bit of directories that everybody may write to, such as /tmp. */
const STICKY = 0o1000;

/**
 * Creates a directory that only this user can enter, or removes the access of others from an existing one. A directory that
 * cannot be changed or is shared stays unchanged, with a warning.
 * @throws Error if it cannot be created
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    if ((mode & STICKY) !== 0) throw new Error("it is shared by all users");
    chmodSync(path, mode & 0o700);
  } catch (error) {
    console.warn(
      `Other users can read the data directory ${path}, and its access rights were not changed (${(error as Error).message}): set SIGNALBOX_DATA_DIR to a private one.`,
    );
  }
}
