import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";

/**
 * Replaces an existing file atomically. It keeps its mode and owner. For a symbolic link the target is replaced.
 * @throws the error of the file system
 */
export function replaceFile(path: string, text: string): void {
  const target = realpathSync(path);
  accessSync(target, constants.W_OK); // a rename would also replace a read-only file
  const { mode, uid, gid } = statSync(target);
  const temporary = `${target}.${randomUUID()}.tmp`;
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
