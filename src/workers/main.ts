import { loadDotEnv } from "../shared/config/load.ts";
import { runProcess } from "../shared/lifecycle.ts";
import { TIMINGS } from "../shared/timings.ts";
import { startWorkerProcess } from "./process.ts";

await runProcess((lifecycle) => {
  loadDotEnv();
  return startWorkerProcess(lifecycle, process.env, TIMINGS);
});
