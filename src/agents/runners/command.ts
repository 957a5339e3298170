import { AppError } from "../../shared/errors.ts";
import { type Ended, isTransientStartError, runProcessGroup } from "../../shared/process/processGroup.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { randomMarkerId } from "../prompt/fence.ts";
import { breakRoleHeadings } from "../prompt/neutralize.ts";
import { fillArguments, selectEnvironment } from "./commandLine.ts";
import { lineReader } from "./lines.ts";
import { ProgramEvents } from "./programEvents.ts";
import { programReply, type ReplySettings, readOutput } from "./programReply.ts";
import type { AgentMessage, AgentRunner } from "./runner.ts";
import { abortError, agentFailed, maskSecrets } from "./turnErrors.ts";
import { programUsage } from "./turnUsage.ts";

/** Maximum output of a program in bytes, so that one that prints without end cannot fill the memory of the worker. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Maximum length of a line of standard error that is shown while the program runs, and how much of it. */
const MAX_LOG_LINE_BYTES = 16 * 1024;
const MAX_LOG_LINE_CHARS = 1_000;

export interface CommandSettings extends ReplySettings {
  /** The program and its arguments, which may contain `{model}` and `{thinking}`. */
  readonly command: readonly string[];
  /** Variables to set in the program's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables of this service's environment to pass on to the program. */
  readonly passEnv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Maximum output of the program in bytes, by default 4 MiB. Only tests set it. */
  readonly maxOutputBytes?: number | undefined;
}

/**
 * Returns a runner that starts a program for each turn. The program gets the prompt on its standard input; its standard
 * output is the reply.
 * @param graceMs time between SIGTERM and SIGKILL
 * @throws AppError agent_failed if no program is configured
 */
export function commandRunner(
  settings: CommandSettings | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  graceMs?: number,
): AgentRunner {
  const [file, ...args] = settings?.command ?? [];
  if (!settings || !file) throw agentFailed("No program is configured: set agents.runners.command.command.");
  return {
    async run(turn, signal) {
      if (signal.aborted) throw abortError(signal);
      const secrets = [...Object.values(settings.env ?? {}), ...Object.values(turn.env)];
      const mask = (text: string) => maskSecrets(text, secrets);
      const events = new ProgramEvents((event) => turn.onEvent?.(event), mask);
      const readLog = lineReader(MAX_LOG_LINE_BYTES, (line) => {
        const text = mask(sanitizeText(line)).slice(0, MAX_LOG_LINE_CHARS).trimEnd();
        if (text !== "") turn.onEvent?.({ type: "log", text: `${text}\n` });
      });
      const program = {
        command: [file, ...fillArguments(args, turn)] as const,
        env: selectEnvironment(environment, settings, turn.env),
        cwd: settings.cwd,
        input: renderPrompt(turn.messages),
        maxOutputBytes: settings.maxOutputBytes ?? MAX_OUTPUT_BYTES,
        graceMs,
        ...(settings.output === "json" && { onOutput: events.read, keepsEnd: () => events.isRecognized }),
        onErrorOutput: readLog,
      };
      const ended = await runProcessGroup(program, signal).catch((error) => {
        throw notStarted(error);
      });
      const stderr = errorText(ended.errorOutput, mask);
      if (stderr !== "") turn.onStderr?.(stderr);
      const output = readOutput(ended.output, settings);
      const usage = (output.answer && programUsage(output.answer)) ?? events.usage;
      if (usage) turn.onUsage?.(usage);
      if (ended.stopped === "signal") throw abortError(signal);
      checkEnd(ended);
      return programReply(output, settings);
    },
  };
}

/**
 * Returns the end of standard error as a text for readers, without a character that was cut at its beginning.
 * @param mask masks the values of the program's variables, which may be secrets
 */
function errorText(bytes: Buffer, mask: (text: string) => string): string {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return mask(sanitizeText(bytes.subarray(Math.max(0, start)).toString())).trim();
}

function checkEnd({ stopped, code, killedBy }: Ended): void {
  if (stopped === "output") throw agentFailed("The program printed more than 4 MiB: let it print only its reply.");
  if (killedBy) throw new AppError("agent_unavailable", { detail: `The program was ended by ${killedBy}.` });
  if (code !== 0) throw agentFailed(`The program ended with exit code ${code}.`);
}

/** Converts an error of the start. The result has no cause, because that contains the arguments. */
function notStarted({ code }: NodeJS.ErrnoException): AppError {
  const detail = `The program of agents.runners.command cannot be started (${code}): check that the program and its directory (cwd) exist.`;
  return isTransientStartError(code) ? new AppError("agent_unavailable", { detail }) : agentFailed(detail);
}

const HEADINGS = { system: "# System", user: "# User", assistant: "# Assistant" } as const;

/**
 * Renders the messages as one text for a program. A single user message has no heading. Several messages follow in order,
 * each below a line with an id and a heading with its role. The id is new for each prompt, so no sender can guess it, and
 * only a heading below such a line begins a message. Lines that read as the heading of a role are still broken up, in
 * messages of every role.
 */
export function renderPrompt(messages: readonly AgentMessage[], randomId: () => string = randomMarkerId): string {
  const [first, second] = messages;
  if (first?.role === "user" && !second) return breakRoleHeadings(first.content);
  const line = `--- ${randomId()} ---`;
  return messages
    .map(({ role, content }) => `${line}\n${HEADINGS[role]}\n\n${breakRoleHeadings(content)}\n`)
    .join("\n");
}
