import { resolve } from "node:path";
import { Option } from "commander";
import type { Json } from "../../../config/fill.ts";
import { readConfig } from "../../../config/load.ts";
import type { GmailConfig } from "../../../gmail/api/google.ts";
import { createPubSubSetup } from "../../../gmail/setup/pubsubSetup.ts";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { ownCommand } from "../../../shared/process/ownCommands.ts";
import { wholeNumber } from "../../arguments.ts";
import { type Define, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { type AccessOptions, findInitialCredentials, obtainAccess } from "../../gmail/access.ts";
import {
  credentialsPath,
  type DesiredGmailConfig,
  gmailBlock,
  planConfig,
  readConfigText,
  savedGmail,
  writeConfig,
} from "../../gmail/config.ts";
import { ensurePubSub, inStep, printStep, startWatch } from "../../gmail/steps.ts";
import { findRunningInstance } from "../../start/dataDirectoryLock.ts";

interface GmailSetupOptions extends AccessOptions {
  readonly account?: string;
  readonly project?: string;
  readonly topic?: string;
  readonly subscription?: string;
  readonly label?: string;
  readonly includeBody?: boolean;
  readonly pollOnly?: boolean;
}

const NAME = "signalbox-gmail";

/**
 * `webhooks gmail setup`: sets up everything for listening to a mailbox, step by step, and writes `hooks.gmail`. Completed
 * steps are skipped, so that the command can run again after a failed step.
 */
export const setupGmail: Define = (command, environment) =>
  withExamples(
    command
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
          .argParser(wholeNumber(0, 65_535))
          .default(0, "a free one"),
      )
      .option("--no-browser", "do not open a browser; paste the final address of one on another machine")
      .option("--dry-run", "print the steps without changing anything"),
    "signalbox webhooks gmail setup --account me@example.com --client client.json",
    "signalbox webhooks gmail setup --account me@example.com --poll-only --dry-run",
  ).action(async (options: GmailSetupOptions) => {
    const env = await environment();
    const { dryRun = false } = options;
    const file = readConfigText(env);
    const saved = savedGmail(file, env);
    if (options.account === undefined && saved.account === undefined) {
      throw new CommandError(EXIT.usage, "--account is required: pass the address of the mailbox.");
    }
    const given = findInitialCredentials(credentialsPath(file, saved), options);
    const ownProject = given.known?.project ?? given.client?.project;
    const desired = desiredConfig(options, saved, ownProject);
    const { gmail: settings } = planConfig(file, env, desired);
    const project = projectOf(settings.topic) ?? options.project ?? ownProject;
    if (settings.topic && ownProject && ownProject !== project) {
      throw new StartError(
        `The topic is in the project ${project}, but Gmail publishes only to topics in ${ownProject}, the project of the OAuth client or the service account: omit --project, or pass a client of ${project}.`,
      );
    }

    const access = await obtainAccess({ given, settings, project, options, env });
    if (access) await setUpNotices(access, settings, saved, dryRun);
    else if (settings.topic) printUnseen(settings);
    const names = access?.names ?? { account: settings.account, project, serviceAccount: undefined };
    if (dryRun) return printPlan(file, planConfig(file, env, desired).text, desired);
    const isWritten = await inStep("configuration", names, () => writeConfig(file, env, desired));
    const what = file.isNew ? "created, with hooks enabled" : isWritten ? "hooks.gmail written" : "unchanged";
    printStep("did", "configuration", `${file.path} (${what})`);
    console.log(`\n${nextStep(env)}`);
  });

/** Returns advice on how to reload the service that runs here, or how to start one. */
function nextStep(env: NodeJS.ProcessEnv): string {
  const running = findRunningInstance(resolve(readConfig(env).dataDir));
  return running
    ? "Next: run `npx signalbox reload`, so that the instance that runs here listens to the mailbox."
    : `Next: run \`${ownCommand("start")}\`. If web and worker run separately, run \`npx signalbox webhooks gmail run\` beside them,\nand send SIGHUP to those that run already.`;
}

async function setUpNotices(
  { gmail, pubsubAuth, names }: NonNullable<Awaited<ReturnType<typeof obtainAccess>>>,
  { topic, subscription, label, pollEveryMinutes }: GmailConfig,
  saved: Json,
  dryRun: boolean,
): Promise<void> {
  if (topic === undefined || subscription === undefined) {
    // Without a watch, which would report a missing label, this call checks the label.
    const { signal } = new AbortController();
    await inStep("label", names, () => gmail.listMessages({ labelIds: [label], max: 1 }, signal));
    if (saved.topic !== undefined && !dryRun) await inStep("watch", names, () => gmail.stop(signal));
    const stopped = saved.topic === undefined ? "" : dryRun ? "; the watch would be stopped" : "; the watch is stopped";
    return printStep("did", "watch", `none; the mailbox is read every ${pollEveryMinutes} minutes${stopped}`);
  }
  const setup = createPubSubSetup(pubsubAuth, { dryRun });
  const isGrantNew = await ensurePubSub({ topic, subscription }, setup, names, dryRun);
  if (dryRun) return printStep("would", "watch", `${label} (would be started or renewed)`);
  await startWatch({ topic, label }, gmail, names, isGrantNew);
}

/** Prints the remaining steps of a dry run that has no credentials to check them. */
function printUnseen({ topic = "", subscription = "", label }: GmailConfig): void {
  printStep("would", "topic", `${topic} (created if missing)`);
  printStep("would", "publisher", "Gmail (granted if missing)");
  printStep("would", "subscription", `${subscription} (created if missing)`);
  printStep("would", "watch", `${label} (started or renewed)`);
}

function printPlan(file: ReturnType<typeof readConfigText>, text: string, desired: DesiredGmailConfig): void {
  if (text === file.text && !file.isNew) {
    printStep("did", "configuration", `${file.path} (unchanged)`);
    return;
  }
  printStep("would", "configuration", `${file.path} (would be ${file.isNew ? "created" : "changed"}) with\n`);
  console.log(gmailBlock(desired));
}

/** Returns the desired `hooks.gmail`: values from options, else the saved values, else default names. */
function desiredConfig(options: GmailSetupOptions, saved: Json, ownProject: string | undefined): DesiredGmailConfig {
  const { account = saved.account as string, label, includeBody, pollOnly, project } = options;
  const isPolled = pollOnly ?? (saved.account !== undefined && saved.topic === undefined);
  const named = options.topic ?? options.subscription ?? project;
  const settings = { account, label, includeBody };
  if (pollOnly && named !== undefined) {
    throw new StartError("--poll-only cannot be used with --project, --topic or --subscription.");
  }
  if (isPolled && named === undefined) return { ...settings, topic: null, subscription: null };

  const savedTopic = textOf(saved.topic);
  const p = project ?? projectOf(options.topic) ?? projectOf(savedTopic) ?? ownProject;
  const complete = (kind: "topics" | "subscriptions", option: string | undefined, before: string | undefined) => {
    if (option?.includes("/")) return option;
    if (option === undefined && before !== undefined && project === undefined) return before;
    const name = option ?? before?.split("/").at(-1) ?? NAME;
    if (p) return `projects/${p}/${kind}/${name}`;
    throw new StartError("--project is required: pass the Google Cloud project of the topic.");
  };
  return {
    ...settings,
    topic: complete("topics", options.topic, savedTopic),
    subscription: complete("subscriptions", options.subscription, textOf(saved.subscription)),
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

const projectOf = (resource: string | undefined): string | undefined =>
  /^projects\/([^/]+)\//.exec(resource ?? "")?.[1];
