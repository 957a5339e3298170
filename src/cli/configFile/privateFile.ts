import { randomUUID } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";

/**
 * Writes a file that only this user can read: whole, or not at all.
 * @returns false when it is there already and is not to be replaced
 */
export function writePrivateFile(path: string, text: string, { replace }: { replace: boolean }): boolean {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Set on directories such as /tmp, which belong to everybody. */
const STICKY = 0o1000;

/**
 * Makes a directory that only this user can enter, or takes the access of others away where it is there. A directory that
 * cannot be changed, or is everybody's, stays as it is, with a warning.
 * @throws Error where it cannot be made
 */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  try {
    if ((mode & STICKY) !== 0) throw new Error("it is a directory for everybody");
    chmodSync(path, mode & 0o700);
  } catch (error) {
    console.warn(
      `Others can read the data directory ${path}, and it stays so (${(error as Error).message}): name one of your own in SIGNALBOX_DATA_DIR.`,
    );
  }
}
