import type { Command } from "commander";
import type { ListOptions } from "../../commands/list.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { listCommand, serviceCommand, wholeNumber } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `sessions …` */
export function addSessions(program: Command, environment: Environment): void {
  const sessions = program.command("sessions").description("List sessions of the agent and print their messages.");
  withExamples(sessions, "signalbox sessions messages main --limit 10");

  const list = sessions
    .command("list")
    .description("List sessions, most recently used first.")
    .action(async (options: ServiceOptions & ListOptions) => {
      const { listSessions } = await import("../../commands/runs/sessions.ts");
      await listSessions(await environment(), options);
    });
  withExamples(listCommand(list), "signalbox sessions list --limit 20");

  const messages = sessions
    .command("messages")
    .argument("<sessionKey>", "key of the session; main is the main session")
    .description("Print the latest messages of a session, oldest first.")
    .option("--limit <n>", "maximum number of messages", wholeNumber(1, 1_000), 100)
    .option("--json", "print one line of JSON for each message")
    .action(async (sessionKey: string, options: ServiceOptions & { limit: number; json?: boolean }) => {
      const { listMessages } = await import("../../commands/runs/sessions.ts");
      await listMessages(await environment(), sessionKey, options);
    });
  withExamples(serviceCommand(messages), "signalbox sessions messages main --limit 10");
}
