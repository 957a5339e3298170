import type { Command } from "commander";
import type { RunStatus } from "../../client/client.ts";
import type { ListOptions } from "../commands/list.ts";
import type { ServiceOptions } from "../service.ts";
import { choicesOption, listCommand, serviceCommand } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

type RunOptions = ServiceOptions & { readonly json?: boolean };

const STATES = ["queued", "running", "completed", "failed", "dropped"] as const;

/** `runs …` */
export function addRuns(program: Command, environment: Environment): void {
  const runs = program.command("runs").description("What became of hooks: the runs of the agent.");

  const list = runs
    .command("list")
    .description("Print runs, newest first.")
    .addOption(choicesOption("--status <status>", "in this status", STATES))
    .option("--session <key>", "of this session")
    .action(async (options: ServiceOptions & ListOptions & { status?: RunStatus[]; session?: string }) => {
      const { listRuns } = await import("../commands/runs.ts");
      await listRuns(await environment(), options);
    });
  withExamples(
    listCommand(list),
    "signalbox runs list --status failed",
    "signalbox runs list --session incidents --json",
  );

  const get = runs
    .command("get <runId>")
    .description("Print one run with its reply and deliveries.")
    .option("--request", "also what came, and what the agent was asked")
    .option("--json", "print JSON, on one line")
    .action(async (runId: string, options: RunOptions & { request?: boolean }) => {
      const { getRun } = await import("../commands/runs.ts");
      await getRun(await environment(), runId, options);
    });
  withExamples(serviceCommand(get), "signalbox runs get 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77 --request");

  const watch = runs
    .command("watch <runId>")
    .description("Wait for a run's end and print its reply; exits with 1 unless it is completed.")
    .option("--json", "print the run that has ended as JSON")
    .action(async (runId: string, options: RunOptions) => {
      const { watchRun } = await import("../commands/followRun.ts");
      await watchRun(await environment(), runId, options);
    });
  withExamples(serviceCommand(watch), "signalbox runs watch 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77");

  const acts = { retry: "Begin a failed run anew.", cancel: "End a run that has not ended." } as const;
  for (const act of ["retry", "cancel"] as const) {
    const command = runs
      .command(`${act} <runId>`)
      .description(acts[act])
      .option("--json", "print the run as JSON")
      .action(async (runId: string, options: RunOptions) => {
        const { actOnRun } = await import("../commands/runs.ts");
        await actOnRun(await environment(), runId, act, options);
      });
    withExamples(serviceCommand(command), `signalbox runs ${act} 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77`);
  }
}
