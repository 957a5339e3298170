import { startGmailProcess } from "../../../src/cli/commands/hooks/gmail.ts";
import { runProcess, type Started } from "../../../src/shared/process/lifecycle.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";

/**
 * Starts a listener for each configuration file in the arguments, as `signalbox webhooks gmail run` does: a listener
 * costs a twentieth of a process. They start in sequence, so that none waits long for its servers.
 */
await runProcess(async (lifecycle) => {
  let started: Started | undefined;
  for (const SIGNALBOX_CONFIG of process.argv.slice(2)) {
    started = await startGmailProcess(lifecycle, { ...process.env, SIGNALBOX_CONFIG }, TIMINGS);
  }
  if (!started) throw new Error("no configuration file is named");
  return started;
});
