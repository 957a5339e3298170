import { loadDotEnv } from "../config/dotEnv.ts";
import { runProcess } from "../shared/process/lifecycle.ts";
import { TIMINGS } from "../shared/timings.ts";
import { startWorkerProcess } from "./process.ts";

await runProcess((lifecycle) => {
  loadDotEnv(process.env);
  return startWorkerProcess(lifecycle, process.env, TIMINGS);
});
