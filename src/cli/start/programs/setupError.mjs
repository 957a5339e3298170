/** @type {Readonly<Record<string, string>>} */
const FILE_SYSTEM = {
  EACCES: "it cannot be written; change its owner or its permissions",
  EPERM: "it cannot be written; change its owner or its permissions",
  EROFS: "its file system is read-only; use a directory on one that can be written",
  ENOSPC: "the disk is full; free some space (about 500 MB are needed)",
  EDQUOT: "the disk quota is used up; free some space (about 500 MB are needed)",
  ENOTDIR: "a file stands where a directory is needed; remove it",
  EEXIST: "a file stands where a directory is needed; remove it",
};

/** An error that stops the setup. The message is one sentence with the problem and the fix. */
export class SetupError extends Error {
  /** @override */
  name = "SetupError";

  /**
   * Converts an error of the file system; returns undefined for a bug in this program.
   * @param {unknown} error
   * @returns {SetupError | undefined}
   */
  static from(error) {
    if (error instanceof SetupError) return error;
    if (!(error instanceof Error)) return undefined;
    const { code, path } = /** @type {NodeJS.ErrnoException} */ (error);
    const reason = code && FILE_SYSTEM[code];
    return reason ? new SetupError(`${path ?? "The project's directory"} cannot be used: ${reason}.`) : undefined;
  }
}
