import { statfsSync } from "node:fs";

/** Free space below which MongoDB may stop accepting writes, in MB. */
const MIN_FREE_MB = 500;

/**
 * Returns what to do if the disk of a directory is nearly full.
 * @returns null if there is enough space, or if it cannot be read
 */
export function spaceFault(dir: string): string | null {
  try {
    const { bavail, blocks, bsize } = statfsSync(dir);
    const remedy = "free some, or set SIGNALBOX_DATA_DIR to a directory on another disk";
    return describeSpace(`The disk of ${dir}`, remedy, { free: bavail * bsize, total: blocks * bsize });
  } catch {
    return null; // The directory is created at the first start.
  }
}

/** Returns what to do if a disk is nearly full; null if it is not. @param space in bytes */
export function describeSpace(disk: string, remedy: string, space: { free: number; total: number }): string | null {
  const free = megabytes(space.free);
  if (free >= MIN_FREE_MB) return null;
  const found = `${disk} has ${free} MB free of ${megabytes(space.total)} MB`;
  return `${found}, and MongoDB needs ${MIN_FREE_MB} MB: ${remedy}.`;
}

const megabytes = (bytes: number): number => Math.floor(bytes / 1e6);
