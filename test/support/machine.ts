/**
 * Returns whether tests can run on this machine, to define them only there: mocha refuses skipped tests. Prints what the
 * machine lacks. @throws under CI, so that no test is left out there unnoticed
 */
export function canTest(has: boolean, lack: string): boolean {
  if (has) return true;
  if (process.env.CI) throw new Error(lack);
  console.warn(`Some tests are left out. ${lack}`);
  return false;
}

/** Returns whether tests of what only Linux has can run. */
export const canTestLinux = (): boolean => canTest(process.platform === "linux", "They need Linux.");
