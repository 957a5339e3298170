import { type Command, InvalidArgumentError } from "commander";
import type { GmailSetupOptions } from "../commands/gmailSetup.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `webhooks …`: senders to which this service itself listens. */
export function addWebhooks(program: Command, environment: Environment): void {
  const gmail = program
    .command("webhooks")
    .description("Senders that are listened to.")
    .command("gmail")
    .description("New mails of a Gmail mailbox.");

  const setup = gmail
    .command("setup")
    .description("See to all that listening to a mailbox needs, and write hooks.gmail; safe to run again.")
    .option("--account <address>", "the mailbox")
    .option("--client <file>", "the JSON of an OAuth client (type Desktop app), for the first consent")
    .option("--credentials <file>", "the key of a service account with domain-wide delegation, instead of a consent")
    .option("--project <id>", "the Google Cloud project; by default the one of the client or the service account")
    .option("--topic <name>", "where Gmail publishes its notices")
    .option("--subscription <name>", "where they are pulled from")
    .option("--label <id>", "the label whose new mails count")
    .option("--include-body", "mails come with their text")
    .option("--no-include-body", "mails come with their snippet alone")
    .option("--poll-only", "no notices: the mailbox is looked into every few minutes")
    .option("--again", "consent anew")
    .option("--port <number>", "the port that the browser comes back to; by default a free one", readPort, 0)
    .option("--no-browser", "open none; the address that it ends at may be pasted here")
    .option("--dry-run", "say what would be done, and change nothing")
    .action(async (options: GmailSetupOptions) => {
      const { setupGmail } = await import("../commands/gmailSetup.ts");
      await setupGmail(await environment(), options);
    });
  withExamples(
    setup,
    "signalbox webhooks gmail setup --account me@example.com --client client.json",
    "signalbox webhooks gmail setup --account me@example.com --poll-only --dry-run",
  );

  const run = gmail
    .command("run")
    .description("Listen to the mailbox of hooks.gmail: each new mail becomes a run.")
    .action(async () => {
      const { runGmail } = await import("../commands/gmail.ts");
      await runGmail(await environment());
    });
  withExamples(run, "signalbox webhooks gmail run");

  const status = gmail
    .command("status")
    .description("Say how listening goes; exits with 1 when something is wrong.")
    .option("--json", "print JSON", false)
    .action(async (options: { json: boolean }) => {
      const { gmailStatus } = await import("../commands/gmail.ts");
      if (!(await gmailStatus(await environment(), options))) process.exitCode = 1;
    });
  withExamples(status, "signalbox webhooks gmail status --json");
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a number up to 65535.");
}
