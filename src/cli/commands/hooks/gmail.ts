import type { Config } from "../../../config/config.ts";
import { readConfig } from "../../../config/load.ts";
import { reloadConfig } from "../../../config/reload.ts";
import type { GmailConfig, GoogleAddresses } from "../../../gmail/api/google.ts";
import { isOpenToOthers, readCredentials } from "../../../gmail/auth/credentials.ts";
import { type Listener, startListener } from "../../../gmail/listener/listener.ts";
import { mailboxStatus } from "../../../gmail/listener/mailboxStatus.ts";
import { connectServers } from "../../../models/connectServers.ts";
import { openStores, storeSettings } from "../../../models/stores.ts";
import { systemClock } from "../../../shared/clock.ts";
import { createLogger, LOG_FILE, type Logger } from "../../../shared/logger.ts";
import { type Lifecycle, runProcess, StartError, type Started } from "../../../shared/process/lifecycle.ts";
import { RedisChangeStream } from "../../../shared/queue/changeStream.ts";
import { Queues } from "../../../shared/queue/producer.ts";
import { TIMINGS, type Timings } from "../../../shared/timings.ts";
import type { Mailbox } from "../../../wire/channel.ts";
import { type Define, withExamples } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withStores } from "../../withStores.ts";

/** `webhooks gmail run`: listens to the configured mailbox. If another process does, it waits to take over. */
export const runGmail: Define = (command, environment) =>
  withExamples(command, "signalbox webhooks gmail run").action(async () => listenToGmail(await environment()));

/** Runs the listener until this process is stopped. */
export const listenToGmail = (env: NodeJS.ProcessEnv, timings: Timings = TIMINGS): Promise<void> =>
  runProcess((lifecycle) => startGmailProcess(lifecycle, env, timings));

/** Starts the listener of `webhooks gmail run`. @param google addresses in place of Google's, for tests */
export async function startGmailProcess(
  lifecycle: Lifecycle,
  env: NodeJS.ProcessEnv,
  timings: Timings,
  google?: GoogleAddresses,
): Promise<Started> {
  const config = readConfig(env);
  const { level } = config.log;
  const log = createLogger({ level, name: "gmail", pretty: process.stdout.isTTY, file: env[LOG_FILE] });
  checkCredentials(gmailOf(config), log);
  const { database, clock, redis } = await connectServers(config, lifecycle, { log, timings });
  const queues = new Queues(redis, config.redis.prefix, clock);
  lifecycle.onClose("queues", () => queues.close());

  const changes = new RedisChangeStream(redis, config.redis.prefix);
  lifecycle.onClose("changes", () => changes.flush());

  const listen = (config: Config): Listener | undefined => {
    const { hooks } = config;
    const stores = openStores(database, clock, { ...storeSettings(config), changes, notes: queues });
    return (
      hooks.gmail && startListener(hooks, hooks.gmail, { stores, queues, clock, log, google, lease: timings.lease })
    );
  };
  let current = config;
  let listener = listen(config);
  let stopping = false;
  lifecycle.onClose("listener", async () => {
    stopping = true;
    await listener?.close();
  });
  const reload = async () => {
    const outcome = await reloadConfig(env, current, log, async (changed) => {
      await listener?.close();
      if (stopping) return;
      listener = listen(changed);
      if (!listener) log.info("hooks.gmail is no longer set; the listener waits until it is set again");
    });
    current = outcome.config;
    return outcome.problem;
  };
  log.info("the Gmail listener is ready");
  lifecycle.onClose("log", async () => log.info("the Gmail listener is stopping"));
  return {
    ready: {},
    deadlineMs: config.worker.shutdownSeconds * 1_000,
    reload,
    onError: (name, error) => log.error({ err: error }, `${name} failed to close`),
  };
}

/** `webhooks gmail status`: prints the state of the listener. */
export const gmailStatus: Define = (command, environment) =>
  withExamples(command.option("--json", "print one line of JSON"), "signalbox webhooks gmail status --json").action(
    async ({ json }: { readonly json?: boolean }) => {
      const config = readConfig(await environment());
      const settings = gmailOf(config);
      const found = await withStores(config, ({ gmailMailboxes }) => gmailMailboxes.find(settings.account));
      const status = mailboxStatus(settings, found, systemClock.now());
      console.log(json ? JSON.stringify(status) : describeStatus(settings, status));
      if (!status.ok) process.exitCode = EXIT.failed;
    },
  );

function describeStatus({ topic }: GmailConfig, status: Mailbox): string {
  const { problems, account, listener, lagSeconds, lastMailAt, lastNoticeAt, watchExpiresAt, lastError } = status;
  const rows = [
    ["Mailbox", account],
    ["Listener", listener ?? "none"],
    ["Complete up to", lagSeconds === null ? "the mailbox has not been read yet" : `${lagSeconds} s ago`],
    ["Last mail", lastMailAt ?? "none"],
    ["Last notification", lastNoticeAt ?? "none"],
    ["Watch until", watchExpiresAt ?? (topic === undefined ? "not used, because no topic is set" : "none")],
    ["Last error", lastError ? `${lastError.at} ${lastError.reason}` : "none"],
  ];
  return [
    ...rows.map(([name = "", value]) => `${name.padEnd(19)}${value}`),
    "",
    ...(problems.length > 0 ? problems : ["No problems."]),
  ].join("\n");
}

function gmailOf({ hooks }: Config): GmailConfig {
  if (hooks.gmail) return hooks.gmail;
  throw new StartError("hooks.gmail is not set: run `signalbox webhooks gmail setup`.");
}

/** @throws StartError if they cannot be used */
function checkCredentials({ credentialsFile: file }: GmailConfig, log: Logger): void {
  readCredentials(file);
  if (isOpenToOthers(file))
    log.warn({ file }, "the credentials file is readable by other users; restrict it with `chmod 600`");
}
