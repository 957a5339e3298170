import { Argument, type Command, Option } from "commander";
import type { HookTestOptions } from "../../commands/hooks/hooks.ts";
import type { HookListOptions } from "../../commands/hooks/listHooks.ts";
import type { AgentOptions, MappedOptions, WakeOptions } from "../../commands/hooks/sendHook.ts";
import { header, hookName, seconds, serviceCommand, withUrl } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";
import { addRequests } from "./requests.ts";

/** `hooks …` */
export function addHooks(program: Command, environment: Environment): void {
  const hooks = program.command("hooks").description("List, test and send webhooks, and show received requests.");
  withExamples(
    hooks,
    "signalbox hooks list",
    "signalbox hooks test ci/build --body body.json",
    "signalbox hooks send wake --text 'The nightly backup failed'",
    "signalbox hooks requests list --outcome refused",
  );

  const list = hooks
    .command("list")
    .description("List the mappings of the service with their last kept request. Needs a token with the scope admin.")
    .option("--wide", "do not truncate any column of the table")
    .option("--json", "print one line of JSON for each row")
    .action(async (options: HookListOptions) => {
      const { listHooks } = await import("../../commands/hooks/listHooks.ts");
      await listHooks(await environment(), options);
    });
  withExamples(serviceCommand(list), "signalbox hooks list");

  const test = hooks
    .command("test")
    .argument("<name>", "path of the hook below hooks.path")
    .description("Apply a mapping and its transform on this machine and print the resulting run. Nothing is sent.")
    .option("--body <file>", "file with the JSON body, or - for standard input")
    .option("--request <requestId>", "kept request of the service, in place of a body")
    .option("--header <line>", 'header of the request as "name: value" (repeatable)', header)
    .option("--query <text>", "query string of the request, such as a=1&b=2", "")
    .option("--json", "print one line of JSON for each run")
    .action(async (name: string, options: HookTestOptions) => {
      const { testHook } = await import("../../commands/hooks/hooks.ts");
      await testHook(await environment(), name, options);
    });
  withExamples(
    withUrl(test),
    "signalbox hooks test ci/build --body body.json",
    "signalbox hooks test github --request b4a0c1de-5a7e-4d63-9a45-3f1f1c0e7a21",
  );

  addRequests(hooks, environment);
  addSend(hooks, environment);
}

/** `hooks send …`: the two built-in hooks, and any hook with a mapping. */
function addSend(hooks: Command, environment: Environment): void {
  const send = hooks
    .command("send")
    .addArgument(new Argument("<name>", "path of the hook below hooks.path").argParser(hookName))
    .helpCommand(false) // a mapping may be named help
    .description("Send a webhook to a mapping or preset, or use one of the built-in hooks below.")
    .option("--body <file>", "file with the JSON body, sent unchanged, or - for standard input (required)")
    .option("--header <line>", 'header such as a signature, as "name: value" (repeatable)', header)
    .action(async (name: string, options: MappedOptions) => {
      const { sendMapped } = await import("../../commands/hooks/sendHook.ts");
      await sendMapped(await environment(), name, options);
    });
  withExamples(
    withSendOptions(send),
    "signalbox hooks send ci/build --body body.json",
    "signalbox hooks send github --body push.json --header 'X-Hub-Signature-256: sha256=2fd4e1c6'",
  );

  const wake = send
    .command("wake")
    .description("Send an event to the main session of the agent.")
    .requiredOption("--text <text>", "text of the event, or - for standard input")
    .addOption(wakeMode("--mode <mode>"))
    .action(async (options: WakeOptions) => {
      const { sendWake } = await import("../../commands/hooks/sendHook.ts");
      await sendWake(await environment(), options);
    });
  withExamples(withSendOptions(wake), "signalbox hooks send wake --text 'The nightly backup failed'");

  const agent = send
    .command("agent")
    .description("Start a run of the agent in a separate session.")
    .requiredOption("--message <text>", "message to the agent, or - for standard input")
    .option("--name <name>", "name of the run")
    .option("--session-key <key>", "session of the run; a constant key continues one conversation")
    .option("--model <model>", "model of agents.defaults.models, or its alias")
    .option("--thinking <level>", "thinking level of the model")
    .option("--timeout <seconds>", "time limit of the run", seconds)
    .option("--deliver", "send the reply to a channel (the default)")
    .option("--no-deliver", "do not send the reply to a channel")
    .option("--channel <channel>", "channel of the reply (default: the last one of the main session)")
    .option("--to <id>", "recipient of the reply, in the form that the channel uses")
    .addOption(wakeMode("--wake-mode <mode>"))
    .option("--wait", "wait for the end of the run and print the reply; exits with 1 unless the run is completed")
    .action(async (options: AgentOptions) => {
      const { sendAgent } = await import("../../commands/hooks/sendHook.ts");
      await sendAgent(await environment(), options);
    });
  withExamples(
    withSendOptions(agent),
    "signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait",
    "signalbox hooks send agent --message - --session-key incidents --name Incident",
  );
}

const wakeMode = (flags: string) =>
  new Option(flags, "when the main session processes the event").choices(["now", "next-heartbeat"]);

const withSendOptions = (command: Command): Command =>
  serviceCommand(
    command
      .option("--idempotency-key <key>", "repeated calls with the same key within 24 hours have one effect")
      .option("--json", "print one line of JSON")
      .option("--hooks-path <path>", "hooks.path of the service (default: the configured one, else /hooks)"),
  );
