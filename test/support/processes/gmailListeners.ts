import { startGmailProcess } from "../../../src/cli/commands/hooks/gmail.ts";
import { runProcess, type Started } from "../../../src/shared/process/lifecycle.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";

/**
 * Starts a listener for each configuration file and address of Google in the arguments (JSON), as `signalbox webhooks gmail run` does: a listener
 * costs a twentieth of a process. They start in sequence, so that none waits long for its servers.
 */
await runProcess(async (lifecycle) => {
  let started: Started | undefined;
  for (const argument of process.argv.slice(2)) {
    const { configFile, addresses } = JSON.parse(argument);
    const env = { ...process.env, SIGNALBOX_CONFIG: configFile };
    started = await startGmailProcess(lifecycle, env, TIMINGS, addresses);
  }
  if (!started) throw new Error("no configuration file is named");
  return started;
});
