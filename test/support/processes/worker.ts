import { runProcess } from "../../../src/shared/lifecycle.ts";
import { startWorkerProcess } from "../../../src/workers/process.ts";
import { FAULT_TIMINGS } from "../timings.ts";

/** `src/workers/main.ts` with the time constants of the tests. */
await runProcess((lifecycle) => startWorkerProcess(lifecycle, process.env, FAULT_TIMINGS));
