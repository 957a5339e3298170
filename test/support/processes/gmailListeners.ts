import { startGmailProcess } from "../../../src/cli/commands/gmail.ts";
import { runProcess, type Started } from "../../../src/shared/lifecycle.ts";
import { TIMINGS } from "../../../src/shared/timings.ts";

/**
 * As many listeners as configuration files are named, each of them as `signalbox webhooks gmail run` starts it: a listener
 * costs a twentieth of a process. One starts after the other, so that none has to wait long for its servers.
 */
await runProcess(async (lifecycle) => {
  let started: Started | undefined;
  for (const SIGNALBOX_CONFIG of process.argv.slice(2)) {
    started = await startGmailProcess(lifecycle, { ...process.env, SIGNALBOX_CONFIG }, TIMINGS);
  }
  if (!started) throw new Error("no configuration file is named");
  return started;
});
