import { accessSync, chmodSync, chownSync, constants, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { writeTarget } from "./writeTarget.ts";

/**
 * Replaces an existing file atomically. It keeps its mode and owner. For a symbolic link the target is replaced.
 * @throws the error of the file system, or an error for a pipe or a device, which keep no text
 */
export function replaceFile(path: string, text: string): void {
  const { path: target, temporary } = writeTarget(path);
  if (temporary === undefined) throw Object.assign(new Error(`${path} is not a file`), { code: "not a file" });
  accessSync(target, constants.W_OK); // a rename would also replace a read-only file
  const { mode, uid, gid } = statSync(target);
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o600, flush: true });
    const made = statSync(temporary);
    if (made.uid !== uid || made.gid !== gid) chownSync(temporary, uid, gid);
    chmodSync(temporary, mode & 0o7777);
    renameSync(temporary, target);
  } finally {
    rmSync(temporary, { force: true });
  }
}
