/** How much of the processor an act takes, in milliseconds: what else the machine does counts for nothing. */
export function processorMs(act: () => void): number {
  const start = process.cpuUsage();
  act();
  return process.cpuUsage(start).user / 1_000;
}
