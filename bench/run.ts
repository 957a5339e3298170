/**
 * `npm run bench [-- SECONDS]`: ours beside a naive service, in one run on one machine. SECONDS (or BENCH_SECONDS) is the
 * length of a turn. Ends with 1 when anything but 2xx is answered.
 */
import { Lifecycle } from "../src/shared/lifecycle.ts";
import { startChild } from "./child.ts";
import { measureHanging } from "./hang.ts";
import { fill } from "./jobs.ts";
import { measure, TURNS, warmUp } from "./measure.ts";
import { facts, hanging, head, MEASURED_ELSEWHERE, row, starts, streams } from "./print.ts";
import { startServices } from "./services.ts";
import { measureStarts } from "./start.ts";
import { measureStreams } from "./streams.ts";

const DEFAULT_SECONDS = 1.25;
const RUNS = 200;
const lifecycle = new Lifecycle();
let stopping = false;

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, async () => {
    stopping = true;
    await lifecycle.close();
    process.exit(code);
  });
}

try {
  await bench(turnSeconds(process.argv[2] ?? process.env.BENCH_SECONDS));
} catch (error) {
  if (!stopping) console.error(`The bench failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
await lifecycle.close((name, error) => console.error(`${name} did not close well`, error));

function turnSeconds(given: string | undefined): number {
  const seconds = Number(given ?? DEFAULT_SECONDS);
  if (seconds > 0 && seconds <= 60) return seconds;
  throw new Error(`a turn takes more than 0 and at most 60 seconds, not ${given}`);
}

async function bench(seconds: number): Promise<void> {
  console.log(`${facts(TURNS, seconds)}\n`);
  const services = await startServices(lifecycle, 2 + 2 * seconds);
  const load = await startChild<true>(new URL("./load.ts", import.meta.url));
  lifecycle.onClose("load", load.stop);
  await Promise.all(services.map(fill));
  await warmUp(load, services, seconds);
  console.log(head(services));
  for await (const measured of measure(load, services, seconds)) console.log(row(measured));
  console.log(`\n${streams(await measureStreams(load, services[0], seconds))}`);
  const runs = Math.ceil(RUNS * Math.min(1, seconds)); // fewer in a short form
  console.log(`\n${starts(await measureStarts(services[0], runs))}`);
  console.log(`\n${hanging(await measureHanging(load, services[0], seconds))}`);
  console.log(`\n${MEASURED_ELSEWHERE}`);
}
