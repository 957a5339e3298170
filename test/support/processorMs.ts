/** Returns the user processor time of a function in milliseconds, which excludes other load of the machine. */
export function processorMs(act: () => void): number {
  const start = process.cpuUsage();
  act();
  return process.cpuUsage(start).user / 1_000;
}
