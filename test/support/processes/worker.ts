import { runProcess } from "../../../src/shared/process/lifecycle.ts";
import { startWorkerProcess } from "../../../src/workers/process.ts";
import { FAST_TIMINGS, FAULT_TIMINGS } from "../timings.ts";

/** `src/workers/main.ts` with the time constants of the tests; `long-leases` is for tests that wait for no lease. */
const timings = process.argv.includes("long-leases") ? FAST_TIMINGS : FAULT_TIMINGS;
await runProcess((lifecycle) => startWorkerProcess(lifecycle, process.env, timings));
