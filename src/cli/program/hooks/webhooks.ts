import { type Command, InvalidArgumentError, Option } from "commander";
import type { GmailSetupOptions } from "../../commands/hooks/gmailSetup.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `webhooks …`: senders to which this service itself listens. */
export function addWebhooks(program: Command, environment: Environment): void {
  const webhooks = program.command("webhooks").description("Set up and run listeners that start runs.");
  withExamples(webhooks, "signalbox webhooks gmail status");
  const gmail = webhooks.command("gmail").description("Start a run for each new mail of a Gmail mailbox.");
  withExamples(gmail, "signalbox webhooks gmail setup --account me@example.com --client client.json");

  const setup = gmail
    .command("setup")
    .description("Set up a Gmail mailbox and write hooks.gmail. Safe to repeat.")
    .option("--account <address>", "address of the mailbox")
    .option("--client <file>", "JSON file of an OAuth client (type Desktop app), for the first consent")
    .option("--credentials <file>", "key file of a service account with domain-wide delegation, instead of a consent")
    .option("--project <id>", "Google Cloud project (default: that of the client or the service account)")
    .option("--topic <name>", "Pub/Sub topic that Gmail publishes to")
    .option("--subscription <name>", "Pub/Sub subscription that the listener reads")
    .option("--label <id>", "only mails with this label")
    .option("--include-body", "pass the text of a mail to the agent")
    .option("--no-include-body", "pass only the snippet of a mail to the agent")
    .option("--poll-only", "read the mailbox every few minutes, without Pub/Sub")
    .option("--again", "ask for a new consent")
    .addOption(
      new Option("--port <number>", "local port that the browser returns to")
        .argParser(readPort)
        .default(0, "a free one"),
    )
    .option("--no-browser", "do not open a browser; paste the final address of one on another machine")
    .option("--dry-run", "print the steps without changing anything")
    .action(async (options: GmailSetupOptions) => {
      const { setupGmail } = await import("../../commands/hooks/gmailSetup.ts");
      await setupGmail(await environment(), options);
    });
  withExamples(
    setup,
    "signalbox webhooks gmail setup --account me@example.com --client client.json",
    "signalbox webhooks gmail setup --account me@example.com --poll-only --dry-run",
  );

  const run = gmail
    .command("run")
    .description("Listen to the mailbox in hooks.gmail and start a run for each new mail.")
    .action(async () => {
      const { runGmail } = await import("../../commands/hooks/gmail.ts");
      await runGmail(await environment());
    });
  withExamples(run, "signalbox webhooks gmail run");

  const status = gmail
    .command("status")
    .description("Print the state of the listener and exit with 1 if there is a problem.")
    .option("--json", "print one line of JSON")
    .action(async (options: { json: boolean }) => {
      const { gmailStatus } = await import("../../commands/hooks/gmail.ts");
      if (!(await gmailStatus(await environment(), options))) process.exitCode = 1;
    });
  withExamples(status, "signalbox webhooks gmail status --json");
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}
