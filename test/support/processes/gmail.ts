import { runGmail } from "../../../src/cli/commands/gmail.ts";
import { FAST_TIMINGS } from "../timings.ts";

/** `signalbox webhooks gmail run` with the time constants of the tests. */
await runGmail(process.env, FAST_TIMINGS);
