import type { Command } from "commander";
import type { ListOptions } from "../../commands/list.ts";
import type { RunFilter } from "../../commands/runs/runs.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { choicesOption, listCommand, serviceCommand, timeOrAge } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

type RunOptions = ServiceOptions & { readonly json?: boolean };

const STATES = ["queued", "running", "completed", "failed", "dropped"] as const;

/** `runs …` */
export function addRuns(program: Command, environment: Environment): void {
  const runs = program.command("runs").description("List, read, watch, retry, repeat and cancel runs of the agent.");
  withExamples(runs, "signalbox runs list --status failed");

  const list = runs
    .command("list")
    .description("List runs, newest first.")
    .addOption(choicesOption("--status <status>", "only runs in this status", STATES))
    .option("--session <key>", "only runs in this session")
    .option("--mapping <name>", "only runs that this mapping made")
    .option("--search <text>", "only runs with these words in the name, or whose id starts with this text")
    .option(
      "--created-from <time>",
      "only runs accepted at this time or later, such as 2026-03-01, yesterday or 2h",
      timeOrAge,
    )
    .option("--created-before <time>", "only runs accepted before this time", timeOrAge)
    .action(async (options: ServiceOptions & ListOptions & RunFilter) => {
      const { listRuns } = await import("../../commands/runs/runs.ts");
      await listRuns(await environment(), options);
    });
  withExamples(
    listCommand(list),
    "signalbox runs list --status failed",
    "signalbox runs list --session incidents --json",
    "signalbox runs list --mapping github --created-from yesterday",
    "signalbox runs list --search 'pull request 41'",
  );

  const get = runs
    .command("get")
    .argument("<runId>", "id of the run")
    .description("Print one run with its reply and deliveries.")
    .option("--request", "include the webhook request and the prompt")
    .option("--json", "print one line of JSON")
    .action(async (runId: string, options: RunOptions & { request?: boolean }) => {
      const { getRun } = await import("../../commands/runs/runs.ts");
      await getRun(await environment(), runId, options);
    });
  withExamples(serviceCommand(get), "signalbox runs get 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77 --request");

  const watch = runs
    .command("watch")
    .argument("<runId>", "id of the run")
    .description("Wait for the end of a run, print its reply, and exit with 1 unless it is completed.")
    .option("--json", "print the ended run as one line of JSON")
    .action(async (runId: string, options: RunOptions) => {
      const { watchRun } = await import("../../commands/runs/followRun.ts");
      await watchRun(await environment(), runId, options);
    });
  withExamples(serviceCommand(watch), "signalbox runs watch 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77");

  const descriptions = {
    retry: "Restart a failed run.",
    again: "Start a new run with the request of a run that has ended.",
    cancel: "Cancel a queued or running run.",
  } as const;
  for (const act of ["retry", "again", "cancel"] as const) {
    const command = runs
      .command(act)
      .argument("<runId>", "id of the run")
      .description(descriptions[act])
      .option("--json", "print the run as one line of JSON")
      .action(async (runId: string, options: RunOptions) => {
        const { actOnRun } = await import("../../commands/runs/runs.ts");
        await actOnRun(await environment(), runId, act, options);
      });
    withExamples(serviceCommand(command), `signalbox runs ${act} 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77`);
  }
}
