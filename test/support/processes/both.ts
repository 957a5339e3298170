import { startWebProcess } from "../../../src/api/process.ts";
import { runProcess } from "../../../src/shared/process/lifecycle.ts";
import { startWorkerProcess } from "../../../src/workers/process.ts";
import { FAULT_TIMINGS } from "../timings.ts";

/**
 * `src/api/main.ts` and `src/workers/main.ts` in one process, which saves a start, with the time constants of the
 * tests.
 */
await runProcess(async (lifecycle) => {
  await startWorkerProcess(lifecycle, process.env, FAULT_TIMINGS);
  return startWebProcess(lifecycle, process.env, FAULT_TIMINGS);
});
