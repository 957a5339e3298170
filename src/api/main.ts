import { loadDotEnv } from "../config/dotEnv.ts";
import { runProcess } from "../shared/process/lifecycle.ts";
import { TIMINGS } from "../shared/timings.ts";
import { startWebProcess } from "./process.ts";

await runProcess((lifecycle) => {
  loadDotEnv(process.env);
  return startWebProcess(lifecycle, process.env, TIMINGS);
});
