import { Argument, type Command, Option } from "commander";
import type { HookTestOptions } from "../commands/hooks.ts";
import type { AgentOptions, MappedOptions, WakeOptions } from "../commands/sendHook.ts";
import { header, hookName, seconds, serviceCommand } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `hooks …` */
export function addHooks(program: Command, environment: Environment): void {
  const hooks = program.command("hooks").description("The webhook gateway.");

  const test = hooks
    .command("test <name>")
    .description("Carry out a mapping and its transform here and print what would come of it; nothing is sent.")
    .requiredOption("--body <file>", "the JSON body, - for standard input")
    .option("--header <line>", 'a header of the request, as "name: value"; may be repeated', header)
    .option("--query <text>", "the query of the request, as a=1&b=2", "")
    .option("--json", "print JSON, one line for each run", false)
    .action(async (name: string, options: HookTestOptions) => {
      const { testHook } = await import("../commands/hooks.ts");
      await testHook(await environment(), name, options);
    });
  withExamples(test, "signalbox hooks test ci/build --body body.json");

  addSend(hooks, environment);
}

/** `hooks send …`: the two built-in hooks, and any hook with a mapping. */
function addSend(hooks: Command, environment: Environment): void {
  const send = hooks
    .command("send")
    .addArgument(new Argument("<name>").argParser(hookName))
    .helpCommand(false) // a mapping may be named help
    .description("Send a hook of a name that hooks.mappings or hooks.presets take, or one of the built-in ones.")
    .option("--body <file>", "the JSON body, sent as it stands; - for standard input (needed)")
    .option("--header <line>", 'a header such as a signature, as "name: value"; may be repeated', header)
    .action(async (name: string, options: MappedOptions) => {
      const { sendMapped } = await import("../commands/sendHook.ts");
      await sendMapped(await environment(), name, options);
    });
  withExamples(
    ofSend(send),
    "signalbox hooks send ci/build --body body.json",
    "signalbox hooks send github --body push.json --header 'X-Hub-Signature-256: sha256=2fd4e1c6'",
  );

  const wake = send
    .command("wake")
    .description("Tell the main session something.")
    .requiredOption("--text <text>", "what happened; - for standard input")
    .addOption(wakeMode("--mode <mode>"))
    .action(async (options: WakeOptions) => {
      const { sendWake } = await import("../commands/sendHook.ts");
      await sendWake(await environment(), options);
    });
  withExamples(ofSend(wake), "signalbox hooks send wake --text 'The nightly backup failed'");

  const agent = send
    .command("agent")
    .description("Set the agent to work, in a session of its own.")
    .requiredOption("--message <text>", "what it is told; - for standard input")
    .option("--name <name>", "what the run is called")
    .option("--session-key <key>", "the session; a constant key goes on with its conversation")
    .option("--model <model>", "a model of the allow-list, or its alias")
    .option("--thinking <level>", "how hard the model thinks")
    .option("--timeout <seconds>", "how long it may take", seconds)
    .option("--deliver", "send the reply to a channel, as it is by default")
    .option("--no-deliver", "send the reply to no channel")
    .option("--channel <channel>", "the channel; by default the main session's last one")
    .option("--to <id>", "the recipient, as the channel names it")
    .addOption(wakeMode("--wake-mode <mode>"))
    .option("--wait", "wait for the end and print the reply; exits with 1 unless the run is completed")
    .action(async (options: AgentOptions) => {
      const { sendAgent } = await import("../commands/sendHook.ts");
      await sendAgent(await environment(), options);
    });
  withExamples(
    ofSend(agent),
    "signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait",
    "signalbox hooks send agent --message - --session-key incidents --name Incident",
  );
}

const wakeMode = (flags: string) =>
  new Option(flags, "when the main session takes it up").choices(["now", "next-heartbeat"]);

const ofSend = (command: Command): Command =>
  serviceCommand(
    command
      .option("--idempotency-key <key>", "the same key and body within 24 hours have one effect")
      .option("--json", "print JSON, on one line")
      .option("--hooks-path <path>", "what the hooks' paths begin with there; by default as configured, or /hooks"),
  );
