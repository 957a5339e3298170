import { Argument, type Command, Option } from "commander";
import type { AgentHook, HookOptions, WakeMode } from "../../../client/client.ts";
import { given, header, hookName, seconds } from "../../arguments.ts";
import { type Define, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { type Service, withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { readInput, readJsonBody } from "../../terminal/readInput.ts";
import { print, printRecord, rowLines } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { followRun } from "../runs/followRun.ts";

interface SendOptions extends JsonOptions {
  readonly idempotencyKey?: string;
}

type WakeOptions = SendOptions & { readonly text: string; readonly mode?: WakeMode };

type AgentOptions = SendOptions & AgentHook & { readonly timeout?: number; readonly wait?: boolean };

interface MappedOptions extends SendOptions {
  /** The path of a file, or `-` for standard input. */
  readonly body?: string;
  readonly header?: Readonly<Record<string, string>>;
}

const optionsOf = ({ idempotencyKey }: SendOptions): HookOptions => ({ ...(idempotencyKey && { idempotencyKey }) });

/** `hooks send wake` */
export const sendWake: Define = (command, environment) =>
  withExamples(
    sendCommand(
      command
        .requiredOption("--text <text>", "text of the event, or - for standard input")
        .addOption(wakeModeOption("--mode <mode>")),
    ),
    "signalbox hooks send wake --text 'The nightly backup failed'",
  ).action(async (options: WakeOptions) => {
    const env = await environment();
    const text = textOf(options.text, "The text");
    return send(env, options, async (service) => {
      needHookToken(service);
      const { mode } = options;
      const answer = await service.client.hooks.send("wake", { text, ...(mode && { mode }) }, optionsOf(options));
      printRecord(options, answer, rowLines(Object.entries({ Event: answer.eventId, Mode: answer.mode })));
    });
  });

/** `hooks send agent`: starts a run. With `wait` it then follows the run as `runs watch` does. */
export const sendAgent: Define = (command, environment) =>
  withExamples(
    sendCommand(
      command
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
        .addOption(wakeModeOption("--wake-mode <mode>"))
        .option("--wait", "wait for the end of the run and print the reply; exits with 1 unless the run is completed"),
    ),
    "signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait",
    "signalbox hooks send agent --message - --session-key incidents --name Incident",
  ).action(async (options: AgentOptions) => {
    const env = await environment();
    const { name, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeout: timeoutSeconds } = options;
    const fields = { name, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeoutSeconds };
    const message = textOf(options.message, "The message");
    return send(env, options, async (service) => {
      needHookToken(service);
      const answer = await service.client.hooks.send("agent", { message, ...given(fields) }, optionsOf(options));
      if (options.wait) {
        printNote(`run ${cleanLine(answer.runId)}`);
        return followRun(service, answer.runId, options);
      }
      printRecord(options, answer, rowLines(Object.entries({ Run: answer.runId, Session: answer.sessionKey })));
    });
  });

/** `hooks send NAME`: sends the bytes of the file unchanged, so that a signature of them in a header stays valid. */
export const sendMapped: Define = (command, environment) =>
  withExamples(
    sendCommand(
      command
        .addArgument(new Argument("<name>", "path of the hook below hooks.path").argParser(hookName))
        .helpCommand(false) // a mapping may be named help
        .option("--body <file>", "file with the JSON body, sent unchanged, or - for standard input (required)")
        .option("--header <line>", 'header such as a signature, as "name: value" (repeatable)', header),
    ),
    "signalbox hooks send ci/build --body body.json",
    "signalbox hooks send github --body push.json --header 'X-Hub-Signature-256: sha256=2fd4e1c6'",
  ).action(async (name: string, options: MappedOptions) => {
    const env = await environment();
    // The option is not required in commander, because `hooks send agent` would then require it too.
    if (options.body === undefined) throw new CommandError(EXIT.usage, BODY_MISSING);
    const { bytes, value } = readJsonBody(options.body);
    const headers = options.header ?? {};
    const sendUnchanged: typeof globalThis.fetch = (url, init) => fetch(url, { ...init, body: bytes });
    const act = async (service: Service) => {
      if (Object.keys(headers).length === 0) needHookToken(service); // a header may authenticate the sender instead
      const answer = await service.client.hooks.send(name, value, { ...optionsOf(options), headers });
      if (options.json) return print([cleanJson(answer)]);
      const { runIds = [answer.runId] } = answer;
      const runs = (runIds as unknown[]).filter((runId) => runId !== undefined);
      if (runs.length === 0) printNote("The webhook starts no run.");
      print(rowLines(runs.map((runId) => ["Run", String(runId)] as const)));
    };
    return withService(env, { ...options, fetch: sendUnchanged }, act, "mapped");
  });

const wakeModeOption = (flags: string) =>
  new Option(flags, "when the main session processes the event").choices(["now", "next-heartbeat"]);

const sendCommand = (command: Command): Command =>
  serviceCommand(
    command
      .option("--idempotency-key <key>", "repeated calls with the same key within 24 hours have one effect")
      .option("--json", "print one line of JSON")
      .option("--hooks-path <path>", "hooks.path of the service (default: the configured one, else /hooks)"),
  );

const BODY_MISSING = "--body is required: name a file with the JSON body, or - for standard input.";

const send = (env: NodeJS.ProcessEnv, options: ServiceOptions, act: (service: Service) => Promise<void>) =>
  withService(env, options, act, "hooks");

/** Checks for a hook token before anything is sent. @throws CommandError */
function needHookToken({ url, hookToken, settingNames }: Service): void {
  if (hookToken !== undefined) return;
  const where = settingNames("SIGNALBOX_HOOKS_TOKEN", "hooks.token");
  throw new CommandError(EXIT.failed, `The service at ${url} requires its hook token: set ${where}.`);
}

/** Returns the text, or standard input for `-`. */
const textOf = (text: string, what: string): string => (text === "-" ? readInput("-", what) : text);
