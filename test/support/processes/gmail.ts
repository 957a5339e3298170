import { listenToGmail } from "../../../src/cli/commands/hooks/gmail.ts";
import { FAULT_TIMINGS } from "../timings.ts";

/** `signalbox webhooks gmail run` with the time constants of the tests. */
await listenToGmail(process.env, FAULT_TIMINGS);
