/**
 * `npm run bench`: ours beside a naive service, in one run on one machine. See options.ts for the command line. Ends with 1
 * when anything but 2xx is answered.
 */
import { Lifecycle } from "../src/shared/lifecycle.ts";
import { stopServers } from "../test/support/servers.ts";
import { startChild } from "./child.ts";
import { measureEcho } from "./echo.ts";
import { measureFootprints } from "./footprint.ts";
import { measureHanging } from "./hang.ts";
import { measureHeavy } from "./heavy.ts";
import { fill } from "./jobs.ts";
import { measureLarge } from "./large.ts";
import { measure, warmUp } from "./measure.ts";
import { type BenchOptions, benchOptions, USAGE } from "./options.ts";
import * as print from "./print.ts";
import { measureProcesses } from "./processes.ts";
import { startServices } from "./services.ts";
import { measureStarts } from "./start.ts";
import { measureStreams } from "./streams.ts";

const lifecycle = new Lifecycle();
/** They look every ten seconds whether there is something to do. */
const IDLE_MS = 25_000;
process.stderr.setMaxListeners(50); // every program of the bench writes to it
lifecycle.onClose("servers", stopServers);
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
  const options = benchOptions(process.argv.slice(2), process.env);
  if (options.large > 0) await compareLarge(options.large);
  else await bench(options);
} catch (error) {
  if (!stopping) console.error(`The bench failed: ${(error as Error).message}\n\n${USAGE}`);
  process.exitCode = 1;
}
await lifecycle.close((name, error) => console.error(`${name} did not close well`, error));

async function bench({ seconds, turns, quick }: BenchOptions): Promise<void> {
  console.log(`${print.facts(turns, seconds)}\n`);
  const services = await startServices(lifecycle, 2 + 2 * seconds);
  const [ours] = services;
  const load = await startChild<true>(new URL("./load.ts", import.meta.url));
  lifecycle.onClose("load", load.stop);
  await Promise.all(services.map(fill));
  await warmUp(load, services, seconds);
  console.log(print.head(services));
  for await (const measured of measure(load, services, { turns, seconds })) console.log(print.row(measured));
  console.log(`\n${print.processes(await measureProcesses(load, ours, { turns, seconds }))}`);
  const { figures, worker } = await measureEcho(
    ours,
    quick ? { turns: 1, waiting: 100 } : { turns: 3, waiting: 1_000 },
  );
  console.log(`\n${print.echo(figures)}`);
  const processes = { "web process": ours.web, "worker process": worker };
  console.log(`\n${print.footprints(await measureFootprints(processes, quick ? 0 : IDLE_MS))}`);
  console.log(`\n${print.starts(await measureStarts(ours, quick ? 20 : 200))}`);
  console.log(`\n${print.streams(await measureStreams(load, ours, seconds))}`);
  console.log(`\n${print.hanging(await measureHanging(load, ours, seconds))}`);
  console.log(`\n${print.heavyHead}`);
  const sizes = quick ? { steps: 200, outputs: 2, times: 10 } : { steps: 10_000, outputs: 20, times: 200 };
  for await (const call of measureHeavy(lifecycle, sizes)) console.log(print.call(call));
  console.log(`\n${print.MEASURED_ELSEWHERE}`);
}

async function compareLarge(jobs: number): Promise<void> {
  console.log(print.largeHead(jobs));
  for await (const call of measureLarge(lifecycle, jobs)) console.log(print.call(call));
}
