#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { Command } from "commander";
import { StartError } from "../shared/lifecycle.ts";
import type { HookTestOptions } from "./commands/hooks.ts";

// a start is mostly loading code; what is loaded after this line, and in the child processes, is compiled only once
const { directory } = enableCompileCache(join(import.meta.dirname, "..", "..", "node_modules", ".cache", "compiled"));

async function environment(): Promise<NodeJS.ProcessEnv> {
  const { loadDotEnv } = await import("../shared/config.ts");
  loadDotEnv();
  return { ...(directory && { NODE_COMPILE_CACHE: directory }), ...process.env };
}

const program = new Command("signalbox").description("Job tracking and webhook gateway.");

program
  .command("start")
  .description("Run everything on this machine, with an embedded MongoDB and Redis where none is configured.")
  .option("--watch", "restart the API and the worker when a source file changes")
  .action(async (options: { watch?: true }) => {
    const { start } = await import("./commands/start.ts");
    await start(await environment(), { watch: options.watch ?? false });
  });

program
  .command("init")
  .description("Write a configuration file that explains every key, with fresh secrets.")
  .option("--force", "replace the file that is there")
  .action(async (options: { force?: true }) => {
    const { init } = await import("./commands/init.ts");
    init(await environment(), { force: options.force ?? false });
  });

const config = program.command("config").description("Look at the configuration: file and environment together.");

config
  .command("check")
  .description("Say whether it is usable, or name every problem.")
  .action(async () => {
    const { checkConfig } = await import("./commands/config.ts");
    checkConfig(await environment());
  });

config
  .command("show")
  .description("Print it as it takes effect, without its secrets.")
  .action(async () => {
    const { showConfig } = await import("./commands/config.ts");
    showConfig(await environment());
  });

const route = program.command("route").description("Where replies of the main session go.");

route
  .command("show")
  .description("Print the channel and the recipient.")
  .action(async () => {
    const { showRoute } = await import("./commands/route.ts");
    await showRoute(await environment());
  });

route
  .command("set <channel> <to>")
  .description("Send them there from now on, until a delivery goes elsewhere.")
  .action(async (channel: string, to: string) => {
    const { setRoute } = await import("./commands/route.ts");
    await setRoute(await environment(), channel, to);
  });

const hooks = program.command("hooks").description("The webhook gateway.");

hooks
  .command("test <name>")
  .description("Carry out a mapping and its transform here and print what would come of it; nothing is sent.")
  .requiredOption("--body <file>", "the JSON body, - for standard input")
  .option("--header <line...>", 'a header of the request, as "name: value"', [])
  .option("--query <text>", "the query of the request, as a=1&b=2", "")
  .option("--json", "print JSON, one line for each run", false)
  .action(async (name: string, options: HookTestOptions) => {
    const { testHook } = await import("./commands/hooks.ts");
    await testHook(await environment(), name, options);
  });

program
  .command("deliver <channel>")
  .description("Send one message to a channel, from here.")
  .requiredOption("--to <id>", "the recipient, as the channel names it")
  .requiredOption("--text <text>", "what is sent, in Markdown")
  .action(async (channel: string, { to, text }: { to: string; text: string }) => {
    const { deliverText } = await import("./commands/channels.ts");
    await deliverText(await environment(), channel, to, text);
  });

program
  .command("channels")
  .description("Where replies are delivered.")
  .command("check")
  .description("Try each configured channel's credentials; nothing is sent.")
  .action(async () => {
    const { checkChannels } = await import("./commands/channels.ts");
    if (!(await checkChannels(await environment()))) process.exitCode = 1;
  });

program
  .command("release")
  .description("Make the indexes that this version needs in the configured MongoDB.")
  .action(async () => {
    const { release } = await import("./commands/release.ts");
    await release(await environment());
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof StartError ? error.message : ((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
}
