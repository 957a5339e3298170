import { startWebProcess } from "../../../src/api/process.ts";
import { runProcess } from "../../../src/shared/process/lifecycle.ts";
import { FAULT_TIMINGS } from "../timings.ts";

/** `src/api/main.ts` with the time constants of the tests. */
await runProcess((lifecycle) => startWebProcess(lifecycle, process.env, FAULT_TIMINGS));
