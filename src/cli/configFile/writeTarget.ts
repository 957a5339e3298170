import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

export interface WriteTarget {
  /** The file that a path names: for a symbolic link the file at its end, even if that does not exist yet. */
  readonly path: string;
  /**
   * A new name beside the file, for its content until it is complete. Undefined for a pipe or a device, which are written to
   * as they are: a rename would replace them.
   */
  readonly temporary: string | undefined;
}

/** @throws the error of the file system */
export function writeTarget(path: string): WriteTarget {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats && !stats.isFile()) return { path, temporary: undefined };
  const target = endOfLinks(path);
  return { path: target, temporary: `${target}.${randomUUID()}.tmp` };
}

function endOfLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
    return isLink ? endOfLinks(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
  }
}
