import { runProcess } from "../../../src/shared/lifecycle.ts";
import { startWorkerProcess } from "../../../src/workers/process.ts";
import { FAST_TIMINGS } from "../timings.ts";

/** `src/workers/main.ts` with the time constants of the tests. */
await runProcess((lifecycle) => startWorkerProcess(lifecycle, process.env, FAST_TIMINGS));
